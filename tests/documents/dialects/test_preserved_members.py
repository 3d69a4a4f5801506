"""Extras that resources keep themselves, as a service writes them: a file has them beside the group."""

from __future__ import annotations

from typing import Any

from postroom.documents.dialects.convert import read_tree, write_tree


def extra(dialect: str, at: str, value: str) -> dict[str, Any]:
    return {"dialect": dialect, "at": at, "value": value}


TREE: dict[str, Any] = {
    "messagegroups": {
        "ovens": {
            "envelope": "CloudEvents/1.0",
            "dialectextras": [extra("0.5-service", "/createdBy", "the baker")],
            "messages": {
                "hot": {
                    "envelope": "CloudEvents/1.0",
                    "dialectextras": [
                        extra("0.5-service", "/createdBy", "her son"),
                        extra("catalog", "/colour", "red"),
                    ],
                }
            },
        }
    },
    "schemagroups": {
        "s": {
            "schemas": {
                "note": {
                    "versions": {
                        "1": {"format": "Free/1", "schema": "a", "dialectextras": [extra("0.5-service", "/type", "x")]},
                        "2": {"format": "Free/1", "schema": "b"},
                    }
                }
            }
        }
    },
}


def test_they_come_back_in_their_dialect() -> None:
    document = write_tree(TREE, "0.5-service").document
    group = document["definitionGroups"]["ovens"]
    assert (group["createdBy"], group["definitions"]["hot"]["createdBy"]) == ("the baker", "her son")
    assert group["definitions"]["hot"]["dialectextras"] == [extra("catalog", "/colour", "red")]
    versions = document["schemaGroups"]["s"]["schemas"]["note"]["versions"]
    assert (versions["1"]["type"], "type" in versions["2"]) == ("x", False)
    assert "dialectextras" not in versions["1"]


def test_they_stay_in_1_0_and_can_be_left_out() -> None:
    assert write_tree(TREE, "1.0-rc4").document["messagegroups"] == TREE["messagegroups"]
    assert "dialectextras" not in str(write_tree(TREE, "1.0-rc4", extras=False).document)
    assert "createdBy" not in str(write_tree(TREE, "0.5-service", extras=False).document)


def test_nothing_is_changed_on_the_way() -> None:
    before = str(TREE)
    write_tree(TREE, "0.5-service")
    write_tree(TREE, "catalog", extras=False)
    reading = read_tree(TREE)
    assert reading is not None
    assert str(TREE) == before
