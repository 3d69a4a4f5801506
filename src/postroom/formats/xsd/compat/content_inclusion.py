"""Whether one content model allows all that another allows, by walking both together."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from postroom.formats.work_budget import spend
from postroom.formats.xsd import content_model
from postroom.formats.xsd.content_model import AllGroup, ChoiceGroup, ElementWildcard, Leaf, Model, SequenceGroup
from postroom.formats.xsd.content_model_builder import undeclared_names

MOST_PAIRS = 3_000
MOST_STEPS = 60_000
MOST_LEAVES = 300
_STRICTNESS = {"skip": 0, "lax": 1, "strict": 2}


class Inclusion(msgspec.Struct, frozen=True):
    """Included (`holds`), not included because of the children `word`, or open with a reason."""

    holds: bool = False
    word: tuple[Leaf, ...] | None = None
    reason: str = ""


def included(writer: Model, reader: Model) -> Inclusion:
    """Whether a reader's model allows all children that the writer's does."""
    if covers(reader, writer):
        return Inclusion(holds=True)
    if sum(1 for _ in content_model.leaves(writer)) > MOST_LEAVES:
        return Inclusion(reason="the content models are too large to be compared child by child")
    if isinstance(writer, AllGroup):
        # There are as many states as sets of parts; a few words show most differences.
        for word in _words(writer):
            if not content_model.allows(reader, (leaf.tag for leaf in word)):
                return Inclusion(word=word)
    return _walked(writer, reader)


def _walked(writer: Model, reader: Model) -> Inclusion:
    """The answer of a walk over the states of both models together."""
    wild = any(isinstance(leaf, ElementWildcard) for leaf in content_model.leaves(writer))
    start = (writer, reader)
    seen = {start}
    waiting: deque[tuple[Model, Model, tuple[Leaf, ...]]] = deque([(*start, ())])
    tags = [leaf.tag for leaf in content_model.leaves(reader) if isinstance(leaf, Leaf)]
    steps = 0
    while waiting:
        ours, theirs, word = waiting.popleft()
        if content_model.nullable(ours) and not content_model.nullable(theirs):
            return Inclusion(word=word)
        next_of_ours, next_of_theirs = _stepper(ours), _stepper(theirs)
        for leaf in _possible(ours, tags):
            after, then = next_of_ours(leaf.tag), next_of_theirs(leaf.tag)
            if then == content_model.NOTHING:
                return _completed(after, (*word, leaf))
            steps += 1
            spend(1 + len(word) // 10)
            if (after, then) not in seen:
                seen.add((after, then))
                waiting.append((after, then, (*word, leaf)))
        if len(seen) > MOST_PAIRS or steps > MOST_STEPS:
            return Inclusion(reason="the content models have too many states to be compared child by child")
    return Inclusion(holds=not wild, reason="the writer allows any elements there" if wild else "")


def _stepper(model: Model) -> Callable[[str], Model]:
    """`step` for one model and many names."""
    if any(isinstance(first, ElementWildcard) for first in content_model.firsts(model)):
        return lambda tag: content_model.step(model, tag)
    found = content_model.successors(model)
    return lambda tag: found.get(tag, content_model.NOTHING)


def _words(model: Model) -> Iterator[tuple[Leaf, ...]]:
    """The shortest children that a model allows, and the shortest with each of its elements."""
    found = [content_model.cheapest(model, lambda _: 1)[1]]
    found += [
        content_model.having(model, leaf.tag, lambda _: 1) or []
        for leaf in content_model.leaves(model)
        if isinstance(leaf, Leaf)
    ]
    for word in found:
        if sum(count for _, count in word) <= MOST_LEAVES:
            yield tuple(leaf for leaf, count in word for _ in range(count))


def _completed(rest: Model, word: tuple[Leaf, ...]) -> Inclusion:
    price, cheap = content_model.cheapest(rest, lambda _: 1)
    if price > 5_000:
        return Inclusion(reason="the content models differ only in very long content")
    return Inclusion(word=(*word, *(leaf for leaf, count in cheap for _ in range(count))))


def _possible(model: Model, others: list[str]) -> list[Leaf]:
    """The elements that may come next; for a wildcard some names that it takes."""
    found: dict[str, Leaf] = {}
    for first in content_model.firsts(model):
        if isinstance(first, Leaf):
            found.setdefault(first.tag, first)
            continue
        known = first.rule.schema.maps.elements
        for tag in [*undeclared_names(first.rule), *others]:
            if first.rule.is_matching(tag):
                if tag in known and first.rule.process_contents != "skip":
                    found.setdefault(tag, Leaf(tag, known[tag], known[tag]))
                elif first.rule.process_contents != "strict":
                    found.setdefault(tag, Leaf(tag, None))
    return list(found.values())


def covers(reader: Model, writer: Model) -> bool:
    """Whether the models have the same shape, and the reader's is as wide everywhere; quick and often enough."""
    spend()
    if isinstance(reader, content_model.Repeat) or isinstance(writer, content_model.Repeat):
        outer = reader if isinstance(reader, content_model.Repeat) else content_model.Repeat(reader, 1, 1)
        inner = writer if isinstance(writer, content_model.Repeat) else content_model.Repeat(writer, 1, 1)
        fits = outer.least <= inner.least and _at_most(inner.most, outer.most)
        return fits and covers(outer.part, inner.part)
    if isinstance(writer, Leaf):
        if isinstance(reader, ChoiceGroup):
            return any(covers(option, writer) for option in reader.parts)
        return isinstance(reader, Leaf) and reader.tag == writer.tag
    if isinstance(writer, ElementWildcard):
        return isinstance(reader, ElementWildcard) and wider(reader.rule, writer.rule)
    if isinstance(writer, ChoiceGroup):
        options = reader.parts if isinstance(reader, ChoiceGroup) else (reader,)
        named = {option.tag for option in options if isinstance(option, Leaf)}
        others = [option for option in options if not isinstance(option, Leaf)]
        return all(
            (isinstance(ours, Leaf) and ours.tag in named)
            or any(covers(option, ours) for option in (others if isinstance(ours, Leaf) else options))
            for ours in writer.parts
        )
    if isinstance(writer, SequenceGroup | AllGroup) and type(reader) is type(writer):
        same = len(reader.parts) == len(writer.parts)
        if same and all(map(covers, reader.parts, writer.parts)):
            return True
    return isinstance(writer, AllGroup) and isinstance(reader, AllGroup) and _covers_in_any_order(reader, writer)


def _covers_in_any_order(reader: AllGroup, writer: AllGroup) -> bool:
    """Whether each part has one of the reader's own, by its name, and what the reader has besides may be absent."""
    theirs = {_only_tag(part): part for part in reader.parts}
    ours = {_only_tag(part): part for part in writer.parts}
    if "" in theirs or "" in ours or len(theirs) < len(reader.parts) or len(ours) < len(writer.parts):
        return False
    return all(tag in theirs and covers(theirs[tag], part) for tag, part in ours.items()) and all(
        content_model.nullable(part) for tag, part in theirs.items() if tag not in ours
    )


def _only_tag(model: Model) -> str:
    """The name of the one element that a model has; "" where it has more or other things."""
    part = model.part if isinstance(model, content_model.Repeat) else model
    return part.tag if isinstance(part, Leaf) else ""


def _at_most(inner: int | None, outer: int | None) -> bool:
    return outer is None or (inner is not None and inner <= outer)


def wider(reader: Any, writer: Any) -> bool:
    """Whether a wildcard takes every name that another takes."""
    if reader.not_namespace or writer.not_namespace or getattr(reader, "not_qname", ()):
        return False
    theirs, ours = set(reader.namespace), set(writer.namespace)
    same_home = reader.target_namespace == writer.target_namespace
    return "##any" in theirs or ("##any" not in ours and ours <= theirs and same_home)


def no_stricter(reader: Any, writer: Any) -> bool:
    """Whether a wildcard asks no more of elements than another."""
    return _STRICTNESS[reader.process_contents] <= _STRICTNESS[writer.process_contents]
