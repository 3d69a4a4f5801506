"""Types that are nothing but themselves: no value could ever be checked against them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from postroom.errors import SchemaRefused
from postroom.formats.jsonstructure.types import Conditional, Named, Shape, Union


def refuse(types: Iterable[Shape]) -> None:
    """Raise SchemaRefused for a type that leads back to itself without a member, item or value in between."""
    done: set[int] = set()
    for start in types:
        if id(start) not in done:
            _visit(start, done)


def _visit(start: Shape, done: set[int]) -> None:
    open_: set[int] = {id(start)}
    stack = [(start, _parts(start))]
    while stack:
        shape, parts = stack[-1]
        part = next(parts, None)
        if part is None:
            stack.pop()
            open_.discard(id(shape))
            done.add(id(shape))
        elif id(part) in open_:
            raise SchemaRefused("the type refers to itself and to nothing else.", place=part.at)
        elif id(part) not in done:
            open_.add(id(part))
            stack.append((part, _parts(part)))


def _parts(shape: Shape) -> Iterator[Shape]:
    if isinstance(shape, Named) and shape.target is not None:
        yield shape.target
    elif isinstance(shape, Union):
        yield from shape.alternatives
    elif isinstance(shape, Conditional):
        single = (shape.base, shape.forbidden, shape.test, shape.then, shape.otherwise)
        yield from (part for part in single if part is not None)
        yield from (*shape.all_of, *shape.any_of, *shape.one_of)
