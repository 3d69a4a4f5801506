"""One HTTP request as a plain value, its flags, and the answer to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl

import msgspec

from postroom.model.core import SPECVERSION
from postroom.registry.capabilities import CAPABILITIES
from postroom.registry.problems import RegistryProblem


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A request: nothing in it depends on the server that took it."""

    method: str
    path: str
    base: str
    query: tuple[tuple[str, str], ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""

    def header(self, name: str) -> str | None:
        """The first header of that (lower-case) name."""
        return next((value for key, value in self.headers if key == name), None)

    def flag(self, name: str) -> str | None:
        """The first value of a query parameter; None when it is absent."""
        return next((value for key, value in self.query if key == name), None)

    def flags(self, name: str) -> list[str]:
        """All values of a query parameter."""
        return [value for key, value in self.query if key == name]

    def has(self, name: str) -> bool:
        """Whether a query parameter is there."""
        return self.flag(name) is not None


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What goes back: a JSON value, or bytes."""

    status: int = 200
    headers: dict[str, str] = {}
    json: Any = msgspec.UNSET
    content: bytes = b""
    cacheable: bool = True
    """Whether the answer to a GET depends on nothing but the store's state."""
    after: Callable[[Answer], Answer] | None = None
    """What completes the answer once the transaction is over: fetching from elsewhere must not hold it."""


def parse_query(text: str) -> tuple[tuple[str, str], ...]:
    """The parameters of a query string, in order."""
    return tuple(parse_qsl(text, keep_blank_values=True))


def check_specversion(call: Call) -> None:
    """Refuse a version of the specification that is not spoken (FLAG-068)."""
    wanted = call.flag("specversion")
    if wanted and wanted.lower() != SPECVERSION:
        raise RegistryProblem("unsupported_specversion", call.path, specversion=wanted, list=SPECVERSION)


def ignores_epochs(call: Call) -> bool:
    """Whether `ignore` switches epoch checks off; values that are not offered are refused."""
    if not call.has("ignore"):
        return False
    offered = CAPABILITIES["ignores"]
    values = [part.strip() for value in call.flags("ignore") for part in value.split(",") if part.strip()]
    wrong = next((value for value in values if value not in offered and value != "*"), None)
    if wrong is not None:
        raise RegistryProblem("bad_ignore", call.path, value=wrong, error_detail=f"these can be: {', '.join(offered)}")
    return not values or "*" in values or "epoch" in values


def wanted_epoch(call: Call) -> int | None:
    """The `epoch` flag of a DELETE."""
    text = call.flag("epoch")
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 30:
        raise RegistryProblem("invalid_attribute", call.path, name="epoch", error_detail="must be a whole number")
    return int(text)


def wanted_default(call: Call) -> str | None:
    """The `setdefaultversionid` flag: empty when absent, None for `null`."""
    text = call.flag("setdefaultversionid")
    if text is None:
        return ""
    if not text:
        raise RegistryProblem("bad_defaultversionid", call.path, value="", error_detail="it must not be empty")
    return None if text == "null" else text
