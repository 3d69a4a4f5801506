"""Base messages in dialects that merge less than 1.0-rc4, or not at all."""

from typing import Any

import msgspec
import pytest

from postroom.catalog.catalog import Catalog
from postroom.documents.dialects.convert import read_tree, write_tree

TREE: dict[str, Any] = {
    "messagegroups": {
        "ovens": {
            "messages": {
                "base": {
                    "envelope": "CloudEvents/1.0",
                    "envelopemetadata": {"source": {"value": "/ovens/{oven}"}, "type": {"required": True}},
                    "description": "of all ovens",
                },
                "hot": {
                    "basemessage": "/messagegroups/ovens/messages/base",
                    "envelope": "CloudEvents/1.0",
                    "envelopemetadata": {"type": {"value": "oven.hot"}},
                },
                "plain": {"basemessage": "/messagegroups/ovens/messages/base", "envelope": "CloudEvents/1.0"},
                "far": {"basemessage": "https://a.example/base", "envelope": "CloudEvents/1.0"},
                "circle": {"basemessage": "/messagegroups/ovens/messages/circle", "envelopemetadata": {"id": {}}},
            }
        }
    }
}


def test_rc2_has_objects_whole_because_there_they_override() -> None:
    written = write_tree(TREE, "1.0-rc2").document["messagegroups"]["ovens"]["messages"]
    assert written["hot"]["basemessageurl"] == "#/messagegroups/ovens/messages/base"
    assert written["hot"]["envelopemetadata"] == {
        "source": {"value": "/ovens/{oven}"},
        "type": {"required": True, "value": "oven.hot"},
    }
    assert "envelopemetadata" not in written["plain"]
    assert written["far"]["basemessageurl"] == "https://a.example/base"
    assert written["circle"]["envelopemetadata"] == {"id": {}}


def constraints(tree: dict[str, Any]) -> dict[str, list[Any]]:
    """What the messages demand, wherever it is said."""
    return {
        definition.id: [msgspec.structs.replace(one, origin="") for one in definition.envelope_constraints]
        for definition in Catalog(tree).definitions
    }


@pytest.mark.parametrize("dialect", ["1.0-rc4", "1.0-rc3", "2026-05", "2025-09", "1.0-rc2", "0.5-message"])
def test_messages_work_the_same_in_every_dialect_with_bases(dialect: str) -> None:
    reading = read_tree(write_tree(TREE, dialect).document)
    assert reading is not None
    assert constraints(reading.tree) == constraints(TREE)


def test_2025_09_writes_out_bases_that_are_elsewhere() -> None:
    made = write_tree(TREE, "2025-09")
    assert "basemessage" not in made.document["messagegroups"]["ovens"]["messages"]["far"]
    assert [loss.place for loss in made.losses] == ["/messagegroups/ovens/messages/far/basemessage"]
