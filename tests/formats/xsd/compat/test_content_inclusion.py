"""Content models that are walked, and compared with each other, in few steps."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postroom.formats.xsd import content_model
from postroom.formats.xsd.compat import content_inclusion
from postroom.formats.xsd.compat.content_inclusion import included
from postroom.formats.xsd.content_model import (
    EMPTY,
    NOTHING,
    AllGroup,
    Leaf,
    Model,
    Repeat,
    allows,
    choice,
    leaves,
    repeat,
    sequence,
    step,
    successors,
)

TAGS = "abcd"
leaf = st.sampled_from([Leaf(tag, None) for tag in TAGS])
bounds = st.sampled_from([(0, 1), (0, None), (1, 2), (2, 3), (1, None), (0, 2)])
models: st.SearchStrategy[Model] = st.recursive(
    leaf,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(sequence),
        st.lists(inner, min_size=1, max_size=4).map(choice),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: AllGroup(tuple(parts))),
        st.tuples(inner, bounds).map(lambda found: repeat(found[0], *found[1])),
    ),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(models)
def test_successors_are_the_steps(model: Model) -> None:
    found = successors(model)
    assert found == {tag: after for tag in TAGS if (after := step(model, tag)) != NOTHING}


def one(tag: str, least: int = 1, most: int | None = 1) -> Model:
    return repeat(Leaf(tag, None), least, most)


@settings(max_examples=150, deadline=None)
@given(writer=models, reader=models, words=st.lists(st.text(TAGS, max_size=5), max_size=30))
def test_no_answer_is_wrong(writer: Model, reader: Model, words: list[str]) -> None:
    answer = included(writer, reader)
    if answer.word is not None:
        shown = [leaf.tag for leaf in answer.word]
        assert allows(writer, shown)
        assert not allows(reader, shown)
    if answer.holds:
        assert not any(allows(writer, word) and not allows(reader, word) for word in words)


@pytest.mark.parametrize("most", [1, 3])
def test_all_elements_in_any_order_have_no_order(most: int) -> None:
    for parts in permutations([one("a", 1, most), one("b", 0, most), one("c", 0, 1)]):
        assert included(AllGroup(tuple(parts)), AllGroup((one("a", 1, most), one("b", 0, most), one("c", 0, 1)))).holds


@pytest.mark.parametrize(
    ("writer", "reader", "word"),
    [
        ([one("a", 0)], [one("a")], ""),
        ([one("a"), one("b")], [one("a")], "ab"),
        ([one("a")], [one("a"), one("b")], "a"),
        ([one("a"), one("b", 0)], [one("a")], "ab"),
    ],
)
def test_what_all_groups_do_not_have_in_common_is_shown(writer: list[Model], reader: list[Model], word: str) -> None:
    many = [one(f"x{number}") for number in range(40)]
    answer = included(AllGroup((*writer, *many)), AllGroup((*many, *reader)))
    assert answer.word is not None
    assert [leaf.tag for leaf in answer.word if leaf.tag in TAGS] == list(word)
    assert included(AllGroup((*writer, *many)), AllGroup((*many, *reader, one("z", 0)))).word is not None


def test_what_an_all_group_need_not_have_does_not_count() -> None:
    many = [one(f"x{number}") for number in range(40)]
    assert included(AllGroup((*many,)), AllGroup((one("a", 0), *reversed(many)))).holds


def steps_of(monkeypatch: pytest.MonkeyPatch, writer: Model, reader: Model) -> int:
    """How often a model is looked into while two are compared."""
    count = 0

    def counting(function: Any) -> Any:
        def counted(*given: Any) -> Any:
            nonlocal count
            count += 1
            return function(*given)

        return counted

    with monkeypatch.context() as patched:
        for name in ("successors", "step", "nullable", "sequence"):
            counted = counting(getattr(content_model, name))
            patched.setattr(content_model, name, counted)
            if hasattr(content_inclusion, name):
                patched.setattr(content_inclusion, name, counted)
        assert included(writer, reader).holds
    return count


def test_the_steps_grow_with_the_square_of_the_elements_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    def steps(count: int) -> int:
        named = [one(f"x{number}", 0) for number in range(count)]
        anything = Repeat(choice(list(leaves(sequence(named)))), 0, None)
        return steps_of(monkeypatch, sequence(named), anything)

    assert steps(80) <= 4.5 * steps(40)


def test_many_elements_in_any_order_take_as_many_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    many = [one(f"x{number}", number % 2) for number in range(300)]
    assert steps_of(monkeypatch, AllGroup(tuple(many)), AllGroup(tuple(reversed(many)))) < 1_000


def test_walks_over_too_many_states_end() -> None:
    # The same, but in a form that no rule knows: there are as many states as sets of elements.
    named = [one(f"x{number}") for number in range(30)]
    wide = AllGroup(tuple(sequence([part, one("a", 0)]) for part in named))
    answer = included(wide, AllGroup(tuple(sequence([part, one("a", 0, 2)]) for part in reversed(named))))
    assert (answer.holds, answer.word) == (False, None)
    assert "too many states" in answer.reason
    assert included(EMPTY, EMPTY).holds
