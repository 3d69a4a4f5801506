"""Filters with many alternatives: they select what each of them selects alone, for hardly more than one costs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from postroom.registry.query.filter import Expression, Filter

NAMES = st.sampled_from(["a", "b"])
VALUES = st.sampled_from(["x", "X", "x*", "*", "\\*", "true", "1", "1.0", "2026-01-01T00:00:00Z"])
SCALARS = st.sampled_from(["x", "xY", "*", "", True, 1, 1.0, "2026-01-01T01:00:00+01:00", {"c": 1}])
DOCUMENTS = st.dictionaries(NAMES, SCALARS)


@st.composite
def expressions(draw: st.DrawFn) -> Expression:
    collections = draw(st.sampled_from([(), (), ("messages",), ("messages", "versions"), ("schemas",)]))
    sign = draw(st.sampled_from(["=", "=", "!=", "<", ""]))
    return Expression(collections, (draw(NAMES),), sign, draw(VALUES) if sign else None)


ALTERNATIVES = st.lists(st.lists(expressions(), min_size=1, max_size=3).map(tuple), max_size=5).map(tuple)


@given(ALTERNATIVES, DOCUMENTS)
def test_alternatives_select_what_each_of_them_selects(
    alternatives: tuple[tuple[Expression, ...], ...], document: dict[str, Any]
) -> None:
    alone = [Filter((alternative,)).evaluate(document) for alternative in alternatives]
    together = Filter(alternatives).evaluate(document)
    assert together.everything == any(one.everything for one in alone)
    if not together.everything:
        names = {name for one in alone for name in one.below}
        assert {name: found.alternatives for name, found in together.below.items()} == {
            name: tuple(rest for one in alone if name in one.below for rest in one.below[name].alternatives)
            for name in names
        }


def test_a_filter_is_evaluated_again_for_every_entity() -> None:
    wanted = Filter(((Expression((), ("a",), "=", "x"), Expression(("messages",), ("b",), "=", "1")),))
    found = [wanted.evaluate({"a": value}).below.keys() for value in ("x", "y", "X", "z")]
    assert found == [{"messages"}, set(), {"messages"}, set()]


def test_hundreds_of_comparisons_with_one_attribute_are_one_lookup() -> None:
    one = Filter(((Expression((), ("name",), "=", "No message 0"),),))
    many = Filter(tuple((Expression((), ("name",), "=", f"No message {n}"),) for n in range(256)))
    document = {"name": "A message"}
    for each in (one, many):
        each.evaluate(document)
    assert _calls(lambda: many.evaluate(document)) < 2 * _calls(lambda: one.evaluate(document))


def _calls(work: Callable[[], object]) -> int:
    """How many functions are called meanwhile."""
    calls = 0

    def count(_: object, event: str, __: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls
