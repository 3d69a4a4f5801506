"""Forms: a function that is written for the messages of a route, and fills in what differs from one to the next.

Metadata and events have marks in them. The function names each value in the order of the marks, in which the exact way
asks chance as well, and then writes everything down at once:

    def fill(given, rng):
     values, plain = given.values, given.plain
     v0 = c6 % c7(values) if plain else c8(values)
     v1 = c9(rng)
     return {c0: {c1: c2}}, f"{c3}{v0}{c4}{v1}{c5}".encode()
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from postroom.codegen import GeneratedCode
from postroom.messages.definitions.templates import Expander
from postroom.messages.making.placeholder_marks import Marks, Source, Write
from postroom.messages.making.template_inputs import Given

Fill = Callable[[Given, random.Random], tuple[dict[str, Any], bytes | None]]
"""It gives the metadata of a message and, in structured mode, the JSON of its event up to the data."""

DATA = b',"data":'
_DEEPEST = 3  # what is deeper is no header, and the same in all messages
_MOST_NAMES = 2_000


def filler(metadata: dict[str, Any], event: dict[str, Any] | None, marks: Marks, write: Write) -> Fill | None:
    """The function; None when marks do not come out one by one. `write` says how attributes are written in metadata."""
    writer = _Writer(marks)
    result = f"{writer.value(metadata)}, {'None' if event is None else writer.event(event)}"
    if writer.found != Counter(marks.keys()) or len(writer.code.names) > _MOST_NAMES:
        return None
    steps = writer.steps(write if event is None else None)
    lines = ("def fill(given, rng):", " values, plain = given.values, given.plain", *steps, f" return {result}")
    fill: Fill = writer.code.define("fill", lines)
    return fill


class _Writer:
    """Writes expressions; what they need of a definition are constants of `code`."""

    def __init__(self, marks: Marks) -> None:
        self.code = GeneratedCode("message template")
        self._constant = self.code.constant
        self.found: Counter[str] = Counter()
        self._marks = marks
        self._variables = {mark: f"v{number}" for number, mark in enumerate(marks)}

    def value(self, value: Any, depth: int = 0) -> str:
        """What gives a value with marks in it, new every time."""
        if isinstance(value, str) and value in self._marks:
            self.found[value] += 1
            return self._variables[value]
        if isinstance(value, dict) and depth < _DEEPEST:
            pairs = (f"{self._constant(name)}: {self.value(member, depth + 1)}" for name, member in value.items())
            return f"{{{', '.join(pairs)}}}"
        if isinstance(value, list) and depth < _DEEPEST:
            return f"[{', '.join(self.value(member, depth + 1) for member in value)}]"
        return self._constant(value)

    def event(self, attributes: dict[str, Any]) -> str:
        """What gives the JSON of an event up to its data."""
        text = json_text(attributes).removesuffix("}") + DATA.decode()
        for mark, meaning in self._marks.items():
            if not meaning.is_text:  # its quotes are not sure
                text = text.replace(f'"{mark}"', mark)
        pieces = re.split(f"({'|'.join(self._marks)})", text) if self._marks else [text]
        return f'f"{"".join(f"{{{self.value(piece)}}}" for piece in pieces)}".encode()'

    def steps(self, write: Write | None) -> Iterator[str]:
        """The lines that name the values; without `write` attributes are in JSON."""
        for text, mark in self._marks.items():
            source = mark.written(write or (inner_json if mark.is_text else json_text))
            yield f" {self._variables[text]} = {self._call(source, 'rng' if mark.kind == 'inventions' else 'given')}"

    def _call(self, source: Expander | Source, argument: str) -> str:
        if not isinstance(source, Expander):
            return f"{self._constant(source)}({argument})"
        exactly = f"{self._constant(source.exact)}(values)"
        if source.form is None:
            return exactly
        return f"{self._constant(source.form)} % {self._constant(source.texts)}(values) if plain else {exactly}"


def json_text(value: Any) -> str:
    """A value in JSON."""
    return msgspec.json.encode(value).decode()


def inner_json(text: str) -> str:
    """A text in JSON, without its quotes."""
    return json_text(text)[1:-1]
