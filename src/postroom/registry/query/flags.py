"""Flags of a request (query parameters): parsed and checked; those that the capabilities leave out are ignored."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from postroom.registry.configuration.capabilities import Capabilities
from postroom.registry.paths import COLLECTIONS, Kind
from postroom.registry.problems import RegistryProblem

Query = Sequence[tuple[str, str]]

SINGLE = ("cursor", "epoch", "limit", "setdefaultversionid", "sort", "specversion")
PAGING = ("cursor", "limit")
RC2_FLAGS = {
    "noepoch": "epoch",
    "nodefaultversionid": "defaultversionid",
    "nodefaultversionsticky": "defaultversionsticky",
    "noreadonly": "readonly",
}
"""Flags of 1.0-rc2 and the `ignore` value that took their place (FLAG-065)."""
OLDER_SPECVERSIONS = ("1.0-rc2", "1.0-rc3")
"""Versions of the specification that HTTP requests and responses are translated from and to.

Capabilities do not list them; a client of an older version finds its own in the list that it is shown.
"""
ONE_RESOURCE: tuple[Kind, ...] = ("resource", "meta", "versions", "version")
WITH_COLLECTIONS: tuple[Kind, ...] = ("registry", "group")
MAX_LIMIT = 2**64 - 1

_SPECVERSION = re.compile(r"v?(\d+)\.(\d+)(?:\.\d+)?(-.*)?\Z", re.ASCII)


class Flags(msgspec.Struct, frozen=True, kw_only=True):
    """What a request asks for beside its body."""

    binary: bool = False
    collections: bool = False
    doc: bool = False
    epoch: int | None = None
    filters: tuple[str, ...] = ()
    ignores: frozenset[str] = frozenset()
    inline: tuple[str, ...] = ()
    default: str | None = ""
    """`setdefaultversionid`: empty when absent, None for `null`."""
    sort: str | None = None
    limit: int | None = None
    cursor: str = ""


def parse_flags(query: Query, capabilities: Capabilities, subject: str) -> Flags:
    """Parse the supported flags of a query; anything else in it is ignored (FLAG-002)."""
    known = {*capabilities.flags, *(PAGING if capabilities.pagination else ())}
    given: dict[str, list[str]] = {}
    for name, value in query:
        if name in known:
            given.setdefault(name, []).append(value)
    repeated = next((name for name in SINGLE if len(given.get(name, ())) > 1), None)
    if repeated is not None:
        raise RegistryProblem("bad_flag", subject, flag=repeated, detail=f"{repeated} can be given once only.")
    single = {name: given[name][0] for name in SINGLE if name in given}
    _check_specversion(single.get("specversion"), capabilities, subject)
    return Flags(
        binary="binary" in given,
        collections="collections" in given,
        doc="doc" in given,
        epoch=_epoch(single.get("epoch"), subject),
        filters=tuple(given.get("filter", ())),
        ignores=_ignores(given.get("ignore"), query, capabilities, subject),
        inline=tuple(given.get("inline", ())),
        default=_default(single.get("setdefaultversionid"), subject),
        sort=single.get("sort"),
        limit=_limit(single.get("limit"), subject),
        cursor=single.get("cursor", ""),
    )


def check_flags(flags: Flags, kind: Kind, method: str, subject: str) -> None:
    """Refuse flags that have no meaning for a kind of path."""
    if flags.collections and kind not in WITH_COLLECTIONS:
        raise RegistryProblem("bad_flag", subject, flag="collections")
    if flags.epoch is not None and method == "DELETE" and kind in COLLECTIONS:
        raise RegistryProblem("bad_flag", subject, flag="epoch", detail="Each member has an epoch of its own.")
    if method == "GET" or flags.default == "":
        return
    is_request = flags.default == "request"
    if kind not in ONE_RESOURCE or (is_request and (method == "DELETE" or kind == "meta")):
        raise RegistryProblem("bad_flag", subject, flag="setdefaultversionid")


def _ignores(values: list[str] | None, query: Query, capabilities: Capabilities, subject: str) -> frozenset[str]:
    supported = frozenset(capabilities.ignores)
    old = {RC2_FLAGS[name] for name, _ in query if name in RC2_FLAGS and "ignore" in capabilities.flags}
    if values is None:
        return supported & old
    wanted = {part.strip().lower() for value in values for part in (value or "*").split(",")} - {""}
    if "*" in wanted:
        wanted = (wanted - {"*"}) | supported
    wrong = sorted(wanted - supported)
    if wrong:
        detail = f"these can be: {', '.join(capabilities.ignores)}"
        raise RegistryProblem("bad_ignore", subject, value=wrong[0], error_detail=detail)
    return frozenset(wanted | (supported & old))


def _epoch(text: str | None, subject: str) -> int | None:
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 30:
        raise RegistryProblem("invalid_attribute", subject, name="epoch", error_detail="must be a whole number")
    return int(text)


def _default(text: str | None, subject: str) -> str | None:
    if text is None:
        return ""
    if not text:
        raise RegistryProblem("bad_defaultversionid", subject, value="", error_detail="it must not be empty")
    return None if text == "null" else text


def _limit(text: str | None, subject: str) -> int | None:
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 20 or not 0 < int(text) <= MAX_LIMIT:
        detail = f"limit must be a whole number from 1 to {MAX_LIMIT}"
        raise RegistryProblem("bad_request", subject, error_detail=detail)
    return int(text)


def _check_specversion(text: str | None, capabilities: Capabilities, subject: str) -> None:
    known = (*capabilities.specversions, *OLDER_SPECVERSIONS)
    if text is None or comparable_version(text) in map(comparable_version, known):
        return
    listed, detail = ", ".join(capabilities.specversions), f"Older: {', '.join(OLDER_SPECVERSIONS)}."
    raise RegistryProblem("unsupported_specversion", subject, specversion=text, list=listed, detail=detail)


def comparable_version(text: str) -> str:
    """A `specversion` without patch number, in lower case (FLAG-068)."""
    found = _SPECVERSION.match(text.lower())
    return f"{found[1]}.{found[2]}{found[3] or ''}" if found else text.lower()
