"""Content models: which child elements may stand in which order.

A model is a value; `step` says what may still come after an element, so that models can be walked, compared and filled
without being written out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set
from typing import Any

import msgspec

from postroom.formats.work_budget import spend

# Longer children are never written out, so that what follows them need not be known.
_LONGEST_WORD = 10_000

Cost = Callable[["Leaf"], float]
Word = list[tuple["Leaf", int]]


class Nothing(msgspec.Struct, frozen=True):
    """Fits no children at all, not even none."""


class Leaf(msgspec.Struct, frozen=True, eq=False):
    """One element: its name and its declaration; `mentioned` is the one that it substitutes, if it does."""

    tag: str
    declaration: Any
    mentioned: Any = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Leaf) and other.tag == self.tag and other.declaration is self.declaration

    def __hash__(self) -> int:
        return hash(self.tag)


class ElementWildcard(msgspec.Struct, frozen=True, eq=False):
    """Any element of some namespaces; `stand_in` is one that fits, where one could be found."""

    rule: Any
    stand_in: Leaf | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ElementWildcard) and other.rule is self.rule

    def __hash__(self) -> int:
        return id(self.rule)


class SequenceGroup(msgspec.Struct, frozen=True, cache_hash=True):
    """Parts in this order; without parts, no children."""

    parts: tuple[Model, ...]


class ChoiceGroup(msgspec.Struct, frozen=True, cache_hash=True):
    """One of the parts."""

    parts: tuple[Model, ...]


class AllGroup(msgspec.Struct, frozen=True, cache_hash=True):
    """All parts in any order."""

    parts: tuple[Model, ...]


class Repeat(msgspec.Struct, frozen=True, cache_hash=True):
    """A part several times; without `most`, without end."""

    part: Model
    least: int
    most: int | None


Model = Nothing | Leaf | ElementWildcard | SequenceGroup | ChoiceGroup | AllGroup | Repeat

NOTHING = Nothing()
EMPTY = SequenceGroup(())


def sequence(parts: list[Model]) -> Model:
    """Parts in order, as one flat model."""
    spend(1 + len(parts) // 10)
    flat: list[Model] = []
    for part in parts:
        if isinstance(part, Nothing):
            return NOTHING
        flat.extend(part.parts if isinstance(part, SequenceGroup) else (part,))
    return flat[0] if len(flat) == 1 else SequenceGroup(tuple(flat))


def choice(parts: list[Model]) -> Model:
    """One of the parts, without those that are the same or impossible."""
    spend(1 + len(parts) // 10)
    flat: dict[Model, None] = {}
    for part in parts:
        for option in part.parts if isinstance(part, ChoiceGroup) else (part,):
            if not isinstance(option, Nothing):
                flat[option] = None
    options = list(flat)
    return NOTHING if not options else options[0] if len(options) == 1 else ChoiceGroup(tuple(options))


def repeat(part: Model, least: int, most: int | None) -> Model:
    """A part several times."""
    if most == 0 or part == EMPTY:
        return EMPTY
    if isinstance(part, Nothing):
        return EMPTY if least == 0 else NOTHING
    return part if (least, most) == (1, 1) else Repeat(part, least, most)


def nullable(model: Model) -> bool:
    """Whether no children fit."""
    if isinstance(model, SequenceGroup | AllGroup):
        return all(nullable(part) for part in model.parts)
    if isinstance(model, ChoiceGroup):
        return any(nullable(part) for part in model.parts)
    return isinstance(model, Repeat) and (model.least == 0 or nullable(model.part))


def step(model: Model, tag: str) -> Model:
    """What may come after a first element of this name."""
    spend()
    if isinstance(model, Leaf):
        return EMPTY if model.tag == tag else NOTHING
    if isinstance(model, ElementWildcard):
        return EMPTY if model.rule.is_matching(tag) else NOTHING
    if isinstance(model, ChoiceGroup):
        return choice([step(part, tag) for part in model.parts])
    if isinstance(model, Repeat):
        after = step(model.part, tag)
        most = None if model.most is None else model.most - 1
        return sequence([after, repeat(model.part, max(model.least - 1, 0), most)])
    if isinstance(model, SequenceGroup):
        options: list[Model] = []
        for index, part in enumerate(model.parts):
            after = step(part, tag)
            if after is not NOTHING:
                options.append(sequence([after, *model.parts[index + 1 :]]))
            if not nullable(part):
                break
        return choice(options)
    if isinstance(model, AllGroup):
        found = ((index, step(part, tag)) for index, part in enumerate(model.parts))
        return choice(
            [
                sequence([after, AllGroup(model.parts[:index] + model.parts[index + 1 :])])
                for index, after in found
                if after is not NOTHING
            ]
        )
    return NOTHING


def successors(model: Model) -> dict[str, Model]:
    """What `step` says of every element that may come first, all at once; wildcards are left out."""
    spend()
    if isinstance(model, Leaf):
        return {model.tag: EMPTY}
    if isinstance(model, Repeat):
        most = None if model.most is None else model.most - 1
        rest = repeat(model.part, max(model.least - 1, 0), most)
        return {tag: sequence([after, rest]) for tag, after in successors(model.part).items()}
    options: dict[str, list[Model]] = {}
    if isinstance(model, SequenceGroup | ChoiceGroup | AllGroup):
        for index, part in enumerate(model.parts):
            for tag, after in successors(part).items():
                options.setdefault(tag, []).append(_followed(after, model, index))
            if isinstance(model, SequenceGroup) and not nullable(part):
                break
    return {tag: choice(found) for tag, found in options.items()}


def _followed(after: Model, model: SequenceGroup | ChoiceGroup | AllGroup, index: int) -> Model:
    """What is left of a part, and what of a model comes after that part."""
    if isinstance(model, ChoiceGroup):
        return after
    rest = model.parts[index + 1 :]
    if isinstance(model, AllGroup):
        rest = (AllGroup(model.parts[:index] + rest),)
    parts = (*(after.parts if isinstance(after, SequenceGroup) else (after,)), *rest)
    spend(len(parts) // 10)
    return parts[0] if len(parts) == 1 else SequenceGroup(parts)


def allows(model: Model, tags: Iterable[str]) -> bool:
    """Whether a model allows exactly these children."""
    for tag in tags:
        model = step(model, tag)
        if model is NOTHING:
            return False
    return nullable(model)


def firsts(model: Model) -> Iterator[Leaf | ElementWildcard]:
    """What a first element may be."""
    if isinstance(model, Leaf | ElementWildcard):
        yield model
    elif isinstance(model, Repeat):
        yield from firsts(model.part)
    elif isinstance(model, ChoiceGroup | AllGroup):
        for part in model.parts:
            yield from firsts(part)
    elif isinstance(model, SequenceGroup):
        for part in model.parts:
            yield from firsts(part)
            if not nullable(part):
                return


def leaves(model: Model) -> Iterator[Leaf | ElementWildcard]:
    """All elements of a model, in its order."""
    if isinstance(model, Leaf | ElementWildcard):
        yield model
    elif isinstance(model, Repeat):
        yield from leaves(model.part)
    elif isinstance(model, SequenceGroup | ChoiceGroup | AllGroup):
        for part in model.parts:
            yield from leaves(part)


def most_times(model: Model, tags: Set[str]) -> float:
    """How often elements of these names can occur together."""
    if isinstance(model, Leaf):
        return 1 if model.tag in tags else 0
    if isinstance(model, Repeat):
        inside = most_times(model.part, tags)
        return 0 if not inside else float("inf") if model.most is None else inside * model.most
    if isinstance(model, SequenceGroup | AllGroup):
        return sum(most_times(part, tags) for part in model.parts)
    return max((most_times(part, tags) for part in model.parts), default=0) if isinstance(model, ChoiceGroup) else 0


def cheapest(model: Model, cost: Cost) -> tuple[float, Word]:
    """The children that cost least, as elements and how often, and what they cost; only the first of very many."""
    spend()
    if isinstance(model, Leaf):
        return cost(model), [(model, 1)]
    if isinstance(model, Repeat):
        if model.least == 0:
            return 0, []
        price, word = cheapest(model.part, cost)
        if len(word) == 1:
            return price * model.least, [(word[0][0], word[0][1] * model.least)]
        return price * model.least, _repeated(word, model.least)
    if isinstance(model, SequenceGroup | AllGroup):
        found = [cheapest(part, cost) for part in model.parts]
        return sum(price for price, _ in found), _joined(word for _, word in found)
    if isinstance(model, ChoiceGroup):
        return min((cheapest(part, cost) for part in model.parts), key=lambda option: option[0])
    if isinstance(model, ElementWildcard) and model.stand_in is not None:
        return cost(model.stand_in), [(model.stand_in, 1)]
    return float("inf"), []


def having(model: Model, tag: str, cost: Cost) -> Word | None:
    """Cheap children that have a certain element among them; None when there are none."""
    spend()
    if isinstance(model, Leaf):
        return [(model, 1)] if model.tag == tag else None
    if isinstance(model, Repeat):
        word = None if model.most == 0 else having(model.part, tag, cost)
        rest = cheapest(model.part, cost)[1] if model.least > 1 else []
        return None if word is None else word + _repeated(rest, max(model.least - 1, 0))
    if isinstance(model, ChoiceGroup):
        options = [option for part in model.parts if (option := having(part, tag, cost)) is not None]
        return min(options, key=lambda option: sum(cost(leaf) * count for leaf, count in option), default=None)
    if isinstance(model, SequenceGroup | AllGroup):
        for index, part in enumerate(model.parts):
            word = having(part, tag, cost)
            if word is not None:
                before = _joined(cheapest(other, cost)[1] for other in model.parts[:index])
                after = _joined(cheapest(other, cost)[1] for other in model.parts[index + 1 :])
                return before + word + after
    return None


def _repeated(word: Word, times: int) -> Word:
    return word * min(times, _LONGEST_WORD // len(word) + 1) if word else []


def _joined(words: Iterable[Word]) -> Word:
    joined: Word = []
    for word in words:
        spend(1 + len(word) // 10)
        joined += word
        if len(joined) > _LONGEST_WORD:
            break
    return joined
