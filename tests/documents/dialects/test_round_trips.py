"""There and back again, between all dialects: nothing is lost unreported, nothing is reported without a reason."""

import copy
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postroom.documents.dialects.convert import read_tree, write_tree
from postroom.documents.dialects.dialect import Tree
from postroom.documents.dialects.dialect_table import DIALECTS
from postroom.model.json_pointers import pointer
from tests.documents.dialects.there_and_back import at, check_there_and_back, is_reported, is_same, leaves
from tests.documents.dialects.trees import TREES

OLDER = [name for name in DIALECTS if name != "1.0-rc4"]
UNKNOWN = st.dictionaries(
    st.sampled_from(["createdBy", "Odd-Name", "hue"]), st.none() | st.integers() | st.text(max_size=3)
)


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
            assert is_same(steps, at(back, steps), value), place


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
    for target in DIALECTS:
        check_there_and_back(document, source, target)


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
