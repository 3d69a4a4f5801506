"""References between entities: xids of 1.0-rc4, JSON pointers of the older dialects."""

from __future__ import annotations

from collections.abc import Container
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

from postroom.documents.dialects.name_tables import SERVICE_COLLECTIONS

# C-70: examples also write them in lower case, and in the singular.
_TO_OURS = {
    **SERVICE_COLLECTIONS,
    "definitiongroups": "messagegroups",
    "definitionGroup": "messagegroups",
    "schemaGroup": "schemagroups",
}
_TO_SERVICE = {"messagegroups": "definitionGroups", "schemagroups": "schemaGroups", "messages": "definitions"}


def as_xid(reference: Any) -> Any:
    """A pointer into the same document as an xid in the names of 1.0-rc4; anything else as it is."""
    return _xid_of(reference) if isinstance(reference, str) and reference.startswith(("#/", "/")) else reference


@lru_cache(maxsize=10_000)  # many messages refer to few schemas and bases
def _xid_of(reference: str) -> str:
    steps = list(pointer_steps(reference[1:])) if reference.startswith("#") else reference[1:].split("/")
    steps[0] = _TO_OURS.get(steps[0], steps[0])
    if len(steps) > 2:
        steps[2] = {"definitions": "messages", "schema": "schemas"}.get(steps[2], steps[2])
    return "/" + "/".join(steps)


def pointer_steps(fragment: str) -> tuple[str, ...]:
    """The steps of a JSON pointer in the fragment of a URL: percent-decoded, then `~1` and `~0`."""
    return tuple(unquote(step).replace("~1", "/").replace("~0", "~") for step in fragment.split("/")[1:])


def as_pointer(reference: Any, *, service: bool = False) -> Any:
    """An xid (or a pointer) of this registry as a JSON pointer; anything else as it is."""
    if not isinstance(reference, str) or not reference.startswith(("#/", "/")):
        return reference
    return _pointer_of(reference, service)


@lru_cache(maxsize=10_000)
def _pointer_of(reference: str, service: bool) -> str:
    whole, _, picked = as_xid(reference)[1:].partition("#")
    if picked and "/" in picked:  # a pointer into the document: there is no room for two
        whole, picked = f"{whole}#{picked}", ""
    steps = whole.split("/")
    if service:
        steps[0] = _TO_SERVICE.get(steps[0], steps[0])
        if len(steps) > 2:
            steps[2] = _TO_SERVICE.get(steps[2], steps[2])
    written = "#/" + "/".join(step.replace("~", "~0").replace("%", "%25") for step in steps)
    return f"{written}:{picked}" if picked else written


def with_picked_type(xid: Any, known: Container[str]) -> Any:
    """A reference whose type is picked by a colon, as pointers write it, with a fragment instead, as xids have it.

    Ids may have colons as well: only where what is before the colon is known, and the whole is not, is it a type.
    """
    if not isinstance(xid, str) or "#" in xid or ":" not in xid.rpartition("/")[2]:
        return xid
    entity, _, picked = xid.rpartition(":")
    return f"{entity}#{picked}" if picked and entity in known and xid not in known else xid


def is_local(reference: Any) -> bool:
    """Whether a reference leads into the same registry."""
    return isinstance(reference, str) and reference.startswith(("#/", "/"))
