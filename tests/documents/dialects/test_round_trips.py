"""There and back again, between all dialects: nothing is lost unreported, nothing is reported without a reason."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postroom.documents.dialects.convert import read_tree, write_tree
from postroom.documents.dialects.dialect import Tree
from postroom.documents.dialects.dialect_table import DIALECTS
from postroom.documents.dialects.preserved_members import EXTRAS, collect_extras
from postroom.model.json_pointers import pointer
from tests.documents.dialects.trees import TREES

OLDER = [name for name in DIALECTS if name != "1.0-rc4"]
UNKNOWN = st.dictionaries(
    st.sampled_from(["createdBy", "Odd-Name", "hue"]), st.none() | st.integers() | st.text(max_size=3)
)


def leaves(value: Any, steps: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(value, dict) and value:
        for name, below in value.items():
            yield from leaves(below, (*steps, name))
    elif isinstance(value, list) and value:
        for position, below in enumerate(value):
            yield from leaves(below, (*steps, position))
    else:
        yield steps, value


def at(value: Any, steps: tuple[Any, ...]) -> Any:
    for step in steps:
        if isinstance(value, dict):
            value = value.get(step, ...)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return ...
    return value


def is_reported(place: str, places: set[str]) -> bool:
    return any(place == one or place.startswith(one + "/") for one in places)


@pytest.mark.parametrize("name", OLDER)
@given(tree=TREES)
@settings(deadline=None, max_examples=60)
def test_what_is_not_reported_lost_comes_back(name: str, tree: Tree) -> None:
    before = copy.deepcopy(tree)
    written = write_tree(tree, name)
    assert tree == before
    back = DIALECTS[name].to_rc4(written.document)[0]
    places = {loss.place for loss in written.losses}
    for steps, value in leaves(tree):
        place = pointer(steps)
        if not is_reported(place, places) and value not in ({}, []):
            assert at(back, steps) == value, place


@pytest.mark.parametrize("name", OLDER)
@given(tree=TREES)
@settings(deadline=None, max_examples=40)
def test_every_loss_has_a_reason_of_its_own(name: str, tree: Tree) -> None:
    for loss in write_tree(tree, name).losses:
        assert not loss.why.endswith("has no place for it"), loss


@pytest.mark.parametrize("name", ["0.5-message", "0.5-service", "catalog"])
@given(tree=TREES, unknown=UNKNOWN)
@settings(deadline=None, max_examples=60)
def test_a_document_comes_back_with_all_its_members(name: str, tree: Tree, unknown: Tree) -> None:
    document = write_tree(tree, name).document
    for collection in ("messagegroups", "definitionGroups", "messagecatalog"):
        for group in document.get(collection, {}).values():
            group.update(unknown)
            for resources in ("messages", "definitions", "messagedefinitions"):
                for resource in group.get(resources, {}).values():
                    resource.update(unknown)
    reading = read_tree(document)
    assert reading is not None
    if reading.dialect == name:
        assert write_tree(reading.tree, name).document == document


@pytest.mark.parametrize("source", DIALECTS)
@given(tree=TREES)
@settings(deadline=None, max_examples=5)
def test_there_and_back_between_any_two_dialects(source: str, tree: Tree) -> None:
    """A document of one dialect, converted to another and back, is the same but for what was reported lost."""
    document = write_tree(tree, source).document
    start = _as_read(document, source)
    for target in DIALECTS:
        there = write_tree(start, target)
        back = write_tree(_as_read(there.document, target), source)
        # Members may come along that a dialect demands (formats, versions, `deployed`, what a base says); none is lost.
        for steps, value in leaves(document) if not there.losses and not back.losses else ():
            if steps != ("specversion",) and value not in ({}, []):
                assert at(back.document, steps) == value, (target, steps)
        end = _as_read(back.document, source)
        places = {loss.place for loss in (*there.losses, *back.losses)}
        for steps, value in leaves(start):
            place = pointer(steps)
            if EXTRAS not in steps and not is_reported(place, places) and value not in ({}, []):
                assert at(end, steps) == value, (target, place)


def _as_read(document: Tree, name: str) -> Tree:
    """The tree of a document in a dialect that is known, with what it keeps for the way back."""
    dialect = DIALECTS[name]
    tree = dialect.to_rc4(document)[0]
    return tree if name == "1.0-rc4" else collect_extras(tree, dialect.canonical(document), dialect)


def test_a_change_of_the_tree_is_never_undone() -> None:
    document = {"definitionGroups": {"g": {"definitions": {"m": {"metadata": {}, "docs": "old", "createdBy": "me"}}}}}
    reading = read_tree(document)
    assert reading is not None
    reading.tree["messagegroups"]["g"]["messages"]["m"]["documentation"] = "new"
    again = write_tree(reading.tree, "0.5-service").document
    assert again["definitionGroups"]["g"]["definitions"]["m"]["docs"] == "new"
    assert again["definitionGroups"]["g"]["definitions"]["m"]["createdBy"] == "me"


def test_real_catalogs_convert_to_every_dialect_and_back(shared: Path) -> None:
    files = [file for file in (shared / "catalogs").rglob("*") if file.suffix in (".json", ".cereg")]
    assert len(files) == 100
    for file in files:
        document = json.loads(file.read_text("utf-8-sig"))
        reading = read_tree(document)
        assert reading is not None, file
        if reading.dialect != "1.0-rc4":
            assert write_tree(reading.tree, reading.dialect).document == document, file
        for name in DIALECTS:
            written = write_tree(reading.tree, name)
            assert read_tree(written.document) is not None, (file, name)
            unnamed = [loss for loss in written.losses if loss.why.endswith("has no place for it")]
            assert not unnamed, (file, name)
