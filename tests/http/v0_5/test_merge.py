"""What changes when 0.5 writes, and what stays."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.http.v0_5.merge import attribute_patch, merge_entity, storable_extras
from postroom.http.v0_5.translate import PLAIN_TRANSLATION
from postroom.model.types import Attribute
from postroom.registry.problems import RegistryProblem

NAMES = st.sampled_from(["name", "docs", "tags", "colour", "size", "createdBy"])
VALUES = st.recursive(
    st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.dictionaries(st.sampled_from(["a", "b", "c"]), inner, max_size=3) | st.lists(inner, max_size=2),
    max_leaves=5,
)
ENTITIES = st.dictionaries(NAMES, VALUES, max_size=4)
HIDDEN = st.dictionaries(st.sampled_from(["ancestorid", "formatvalidated"]), VALUES, max_size=2)


@given(entity=ENTITIES, hidden=HIDDEN)
def test_what_is_said_again_changes_nothing(entity: dict[str, Any], hidden: dict[str, Any]) -> None:
    stored = {**PLAIN_TRANSLATION.read(entity), **hidden}
    assert (
        attribute_patch(
            stored,
            merge_entity(PLAIN_TRANSLATION, stored, PLAIN_TRANSLATION.write(stored), PLAIN_TRANSLATION.write(stored)),
        )
        == {}
    )


@given(before=ENTITIES, after=ENTITIES, hidden=HIDDEN)
def test_what_is_said_is_what_is_seen(before: dict[str, Any], after: dict[str, Any], hidden: dict[str, Any]) -> None:
    stored = {**PLAIN_TRANSLATION.read(before), **hidden}
    result = merge_entity(PLAIN_TRANSLATION, stored, PLAIN_TRANSLATION.write(stored), after)
    assert {name: result[name] for name in hidden} == hidden
    extras = {"dialectextras": PLAIN_TRANSLATION.extras(after)}
    assert PLAIN_TRANSLATION.write({**result, **extras}) == after


@given(stored=ENTITIES, result=ENTITIES)
def test_a_patch_leads_from_one_to_the_other(stored: dict[str, Any], result: dict[str, Any]) -> None:
    patched = {**stored, **attribute_patch(stored, result)}
    assert {name: value for name, value in patched.items() if value is not None} == result


def test_members_that_are_not_shown_stay_at_any_depth() -> None:
    stored = {"options": {"shown": {"a": 1, "hidden": 2}, "hidden": 3}}
    shown = {"options": {"shown": {"a": 1}}}
    assert merge_entity(PLAIN_TRANSLATION, stored, shown, {"options": {"shown": {"a": 9}}}) == {
        "options": {"shown": {"a": 9, "hidden": 2}, "hidden": 3}
    }
    assert merge_entity(PLAIN_TRANSLATION, stored, shown, {"options": {}}) == {"options": {"hidden": 3}}


def test_extras_need_room() -> None:
    extras: list[Any] = [
        {"at": "/format", "value": "Kafka/0.11", "instead": "Kafka"},
        {"at": "/type", "value": "schema"},
    ]
    assert storable_extras(extras, {"*": Attribute(name="*", type="any")}, "/") == extras
    assert storable_extras(extras, {}, "/") == []
    with pytest.raises(RegistryProblem, match="createdBy"):
        storable_extras([*extras, {"at": "/createdBy", "value": "me"}], {}, "/")
