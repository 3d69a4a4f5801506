"""Marks: texts that stand for values to come. They look the same in a header of any protocol, and in JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal
from uuid import uuid4

import msgspec

from postroom.messages.definitions.templates import Expander, Template
from postroom.messages.making.metadata_placement import Placement
from postroom.messages.making.sample_values import Invent, identity, now
from postroom.protocols.cloudevents import header_text
from postroom.protocols.protocol import Wire

Kind = Literal["templates", "inventions", "given"]
Source = Callable[[Any], Any]
"""What makes a value of chance, or takes it from what the caller gave."""

Write = Callable[[Any], Any]

_PLAIN = (identity, now)
"""What these invent is written the same everywhere."""


class Mark(msgspec.Struct, frozen=True):
    """What a mark stands for: a template, or what gives a value. Placements are written as they are, attributes not."""

    kind: Kind
    source: Template | Source
    is_attribute: bool = True

    @property
    def is_text(self) -> bool:
        """Whether the value is a text whatever happens."""
        return self.kind == "templates" or self.source in _PLAIN

    def written(self, write: Write) -> Expander | Source:
        """What gives the value in writing."""
        source = self.source
        if isinstance(source, Template):
            return source.expander(write if self.is_attribute else str)
        if not self.is_attribute or source in _PLAIN:
            return source
        take = source
        return lambda given: write(take(given))


class Marks(dict[str, Mark]):
    """The marks of one route."""

    def template(self, template: Template) -> str:
        """A mark for an attribute with placeholders."""
        return self._new(Mark("templates", template))

    def invention(self, invent: Invent) -> str:
        """A mark for an attribute that is invented."""
        return self._new(Mark("inventions", invent))

    def given(self, name: str) -> str:
        """A mark for an attribute that the caller gives."""
        return self._new(Mark("given", lambda given: given.attributes[name]))

    def placement(self, placement: Placement, wire: Wire, is_given: bool) -> str | None:
        """A mark for a value of the metadata; None where it is always the same."""
        if placement.constant is not None:
            return None
        if placement.template is not None:
            return self._new(Mark("templates", placement.template, is_attribute=False))
        name, invent = placement.name, placement.invent
        kind: Kind
        if is_given:
            kind, source = "given", _option(name)
        elif invent is not None:
            kind, source = "inventions", invent
        else:
            return None
        made = (lambda given: header_text(source(given))) if placement.is_text(wire) else source
        return self._new(Mark(kind, made, is_attribute=False))

    def _new(self, mark: Mark) -> str:
        text = uuid4().hex
        self[text] = mark
        return text


def _option(name: str) -> Source:
    return lambda given: given.options[name]
