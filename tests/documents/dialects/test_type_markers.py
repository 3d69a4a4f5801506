"""Members of 0.5 that say what an entity is, and those that are called so and say something else."""

from __future__ import annotations

from typing import Any

import pytest

from postroom.documents.dialects.convert import read_tree, write_tree


@pytest.mark.feature("D5R-047")
@pytest.mark.parametrize("marker", ["definitionGroup", "something else", 7, [], {"a": 1}])
def test_markers_of_any_kind_are_read_and_come_back(marker: Any) -> None:
    reading = read_tree({"definitionGroups": {"ovens": {"type": marker, "definitions": {"hot": {"type": marker}}}}})
    assert reading is not None
    assert ("type" in reading.tree["messagegroups"]["ovens"]) == (marker != "definitionGroup")
    back = write_tree(reading.tree, "0.5-service").document["definitionGroups"]["ovens"]
    assert (back["type"], back["definitions"]["hot"]["type"]) == (marker, marker)
