"""Documents converted to another dialect and back: what is missing then, and was not reported lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from postroom.documents.dialects.convert import write_tree
from postroom.documents.dialects.dialect import Tree
from postroom.documents.dialects.dialect_table import DIALECTS
from postroom.documents.dialects.preserved_members import EXTRAS, collect_extras
from postroom.model.json_pointers import pointer
from postroom.protocols.protocol_table import canonical_protocol


def leaves(value: Any, steps: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """The paths to all values that hold no others, with the values."""
    if isinstance(value, dict) and value:
        for name, below in value.items():
            yield from leaves(below, (*steps, name))
    elif isinstance(value, list) and value:
        for position, below in enumerate(value):
            yield from leaves(below, (*steps, position))
    else:
        yield steps, value


def at(value: Any, steps: tuple[Any, ...]) -> Any:
    """What is at a path; `...` where there is nothing."""
    for step in steps:
        if isinstance(value, dict):
            value = value.get(step, ...)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return ...
    return value


def is_same(steps: tuple[Any, ...], one: Any, other: Any) -> bool:
    """Whether two values say the same; a protocol has several spellings, such as HTTP and HTTP/1.1."""
    if steps[-1] in ("protocol", "format", "binding") and isinstance(one, str) and isinstance(other, str):
        return canonical_protocol(one) == canonical_protocol(other)
    return bool(one == other)


def is_reported(place: str, places: set[str]) -> bool:
    """Whether a place, or something that holds it, was reported lost."""
    return any(place == one or place.startswith(one + "/") for one in places)


def as_read(document: Tree, name: str) -> Tree:
    """The tree of a document in a dialect that is known, with what it keeps for the way back."""
    dialect = DIALECTS[name]
    tree = dialect.to_rc4(document)[0]
    return tree if name == "1.0-rc4" else collect_extras(tree, dialect.canonical(document), dialect)


def check_there_and_back(document: Tree, source: str, target: str) -> None:
    """A document of one dialect, converted to another and back, is the same but for what was reported lost."""
    start = as_read(document, source)
    there = write_tree(start, target)
    back = write_tree(as_read(there.document, target), source)
    # Members may come along that a dialect demands (formats, versions, `deployed`, what a base says); none is lost.
    for steps, value in leaves(document) if not there.losses and not back.losses else ():
        if steps != ("specversion",) and value not in ({}, []):
            assert is_same(steps, at(back.document, steps), value), (target, steps)
    end = as_read(back.document, source)
    places = {loss.place for loss in (*there.losses, *back.losses)}
    for steps, value in leaves(start):
        place = pointer(steps)
        is_marker = steps == ("specversion",) or EXTRAS in steps
        if not is_marker and not is_reported(place, places) and value not in ({}, []):
            assert is_same(steps, at(end, steps), value), (target, place)
