"""Forms: what the messages of a route share, with gaps for what differs from one to the next.

A form is made of something with marks in it, and gives a function that fills in the gaps. The order of gaps is that of
the marks, in which the exact way asks chance: a seed gives the same message.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from postroom.messages.giving import Given
from postroom.messages.marks import Kind, Mark, Marks, Source, Write

DATA = b',"data":'
Fill = Callable[[Given, random.Random], Any]


class MetadataForm:
    """The metadata of records: itself and its parts, which are maps in it, or in lists in it."""

    def __init__(self, metadata: dict[str, Any], marks: Marks) -> None:
        self._metadata = metadata
        self._maps = [(name, value) for name, value in metadata.items() if isinstance(value, dict)]
        self._lists = [(name, value) for name, value in metadata.items() if _is_list_of_maps(value)]
        self._marks = marks

    def _sheets(self) -> Iterator[dict[str, Any]]:
        yield self._metadata
        yield from (part for _, part in self._maps)
        yield from (part for _, parts in self._lists for part in parts)

    def _places(self) -> Iterator[tuple[str, int, str]]:
        """Marks, and the number of the sheet and the member that each one is."""
        for number, sheet in enumerate(self._sheets()):
            yield from ((mark, number, name) for name, mark in sheet.items() if _is_in(self._marks, mark))

    def found(self) -> Counter[str]:
        """How often each mark came out."""
        return Counter(mark for mark, _, _ in self._places())

    def filler(self, write: Write) -> Fill:
        """What gives the metadata of a message; `write` says how attributes are written."""
        places = {mark: (number, name) for mark, number, name in self._places()}

        def gaps(kind: Kind) -> list[tuple[int, str, Source]]:
            return [(*places[text], mark.written(write)) for text, mark in _of(kind, self._marks, places)]

        templates, inventions, given_ones = gaps("templates"), gaps("inventions"), gaps("given")
        original, maps, lists = self._metadata, self._maps, self._lists

        def fill(given: Given, rng: random.Random) -> dict[str, Any]:
            metadata = original.copy()
            sheets = [metadata]
            for name, part in maps:
                metadata[name] = copy = part.copy()
                sheets.append(copy)
            for name, parts in lists:
                metadata[name] = copies = list(map(dict.copy, parts))
                sheets += copies
            if not places:
                return metadata
            values, plain = given.values, given.plain
            for sheet, name, expand in templates:
                sheets[sheet][name] = expand(values, plain)
            for sheet, name, invent in inventions:
                sheets[sheet][name] = invent(rng)
            for sheet, name, take in given_ones:
                sheets[sheet][name] = take(given)
            return metadata

        is_settled = not (maps or lists or places)
        return (lambda _given, _rng: original.copy()) if is_settled else fill


class EventForm:
    """The JSON of events, up to where their data follows."""

    def __init__(self, attributes: dict[str, Any], marks: Marks) -> None:
        text = json_text(attributes).removesuffix("}") + DATA.decode()
        for mark, meaning in marks.items():
            if not meaning.is_text:  # its quotes are not sure
                text = text.replace(f'"{mark}"', mark)
        self._pieces = re.split(f"({'|'.join(marks)})", text) if marks else [text]
        self._marks = marks

    def found(self) -> Counter[str]:
        """How often each mark came out."""
        return Counter(piece for piece in self._pieces if piece in self._marks)

    def filler(self) -> Fill:
        """What gives the text of an event."""
        places = {piece: place for place, piece in enumerate(self._pieces) if piece in self._marks}

        def gaps(kind: Kind) -> list[tuple[int, Source]]:
            return [(places[text], _in_json(mark)) for text, mark in _of(kind, self._marks, places)]

        templates, inventions, given_ones = gaps("templates"), gaps("inventions"), gaps("given")
        original = self._pieces

        def fill(given: Given, rng: random.Random) -> bytes:
            pieces = original.copy()
            values, plain = given.values, given.plain
            for place, expand in templates:
                pieces[place] = expand(values, plain)
            for place, invent in inventions:
                pieces[place] = invent(rng)
            for place, take in given_ones:
                pieces[place] = take(given)
            return "".join(pieces).encode()

        return fill


def _of(kind: Kind, marks: Marks, places: Iterable[str]) -> Iterator[tuple[str, Mark]]:
    return ((text, mark) for text, mark in marks.items() if mark.kind == kind and text in places)


def _is_in(marks: Marks, value: Any) -> bool:
    return isinstance(value, str) and value in marks


def _is_list_of_maps(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(part, dict) for part in value)


def _in_json(mark: Mark) -> Source:
    return mark.written(inner_json if mark.is_text else json_text)


def json_text(value: Any) -> str:
    """A value in JSON."""
    return msgspec.json.encode(value).decode()


def inner_json(text: str) -> str:
    """A text in JSON, without its quotes."""
    return json_text(text)[1:-1]
