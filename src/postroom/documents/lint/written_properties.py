"""The properties that the author of a message wrote: envelope attributes and protocol options, with their places."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from postroom.documents.lint.members import section, text
from postroom.messages.definitions.catalog_tree import Tree
from postroom.protocols.protocol import Option

if TYPE_CHECKING:
    from postroom.documents.lint.subjects import LintedMessage

EVENT_TYPES = {"source": "uritemplate", "time": "timestamp", "dataschema": "uritemplate"}
_PLAIN_MEMBERS = frozenset({"name", "type", "value"})
_PLAIN = re.compile(r"(?:[^{}]|\{[A-Za-z0-9_]+\})*\Z")
TYPE_VARIANTS = {"datetime": "timestamp", "var": "any"}


class Property(msgspec.Struct, frozen=True, kw_only=True):
    """One property: where it stands, what it is called, and what was written about it.

    `steps` lead to it from the message, whose `at` makes pointers. `area` is the member of the message that holds it;
    `option` what the protocol says about it, where it is known. `bare` tells that only a value was written.
    """

    at: Callable[..., str]
    steps: tuple[object, ...]
    name: str
    area: str
    written: Tree
    bare: bool
    default: str
    option: Option | None = None

    @property
    def pointer(self) -> str:
        """Where it stands."""
        return self.at(*self.steps)

    @property
    def is_plain(self) -> bool:
        """Whether it is a text or a template as most are, of which surely nothing is to be said."""
        value, stated = self.value, self.written.get("type", self.default)
        return (
            stated in ("string", "uritemplate")
            and (value is None or (isinstance(value, str) and value != "None" and _PLAIN.match(value) is not None))
            and (self.area == "protocoloptions" if self.bare else self.written.keys() <= _PLAIN_MEMBERS)
        )

    @property
    def value(self) -> Any:
        """The value that was written; None where there is none."""
        return self.written.get("value")

    @property
    def value_pointer(self) -> str:
        """Where the value stands."""
        return self.pointer if self.bare else f"{self.pointer}/value"

    @property
    def type(self) -> str:
        """The type in its present spelling, or the one that the attribute has by itself."""
        stated = text(self.written, "type").lower() or self.default
        return TYPE_VARIANTS.get(stated, stated)


def envelope_properties(message: LintedMessage) -> Iterator[Property]:
    """The attributes of the envelope, found also where older texts put them."""
    attributes = section(message.written, "envelopemetadata")
    home = _home(message, attributes)
    for name, value in attributes.items():
        kind = EVENT_TYPES.get(name, "string") if message.is_event else "any"
        yield _property(message, (*home, name), name, value, kind)


def option_properties(message: LintedMessage) -> Iterator[Property]:
    """The protocol options of a protocol we know: plain values, and the members of headers and sections."""
    for name, given in section(message.own, "protocoloptions").items():
        option = message.wire.option(name)
        if option is None:
            continue
        if option.shape == "value":
            yield _property(message, ("protocoloptions", name), name, given, option.type, option)
            continue
        for step, member in _members(given):
            label = text(member, "name") or str(step)
            kind = option.members.get(label, option.type)
            yield _property(message, ("protocoloptions", name, step), label, member, kind, option)


def _members(given: Any) -> Iterator[tuple[object, Any]]:
    if isinstance(given, dict):
        yield from given.items()
    elif isinstance(given, list):
        yield from enumerate(given)


def _property(
    message: LintedMessage, steps: tuple[object, ...], name: str, value: Any, kind: str, option: Option | None = None
) -> Property:
    bare = not isinstance(value, dict)
    return Property(
        at=message.at,
        steps=steps,
        name=name,
        area="envelopemetadata" if option is None else "protocoloptions",
        written={"value": value} if bare else value,
        bare=bare,
        default=kind,
        option=option,
    )


def _home(message: LintedMessage, attributes: Tree) -> tuple[str, ...]:
    written = section(message.own, "envelopemetadata")
    if written is attributes or written == attributes:
        return ("envelopemetadata",)
    return ("envelopemetadata", "attributes") if written else ("envelopeoptions",)
