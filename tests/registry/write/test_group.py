from __future__ import annotations

from typing import Any

import pytest

from postroom.registry.problems import RegistryProblem


@pytest.mark.feature("REG-047", "REG-048", "REG-049", "REG-050")
def test_epochs_count_updates_and_guard_them(registry: Any) -> None:
    assert registry.put("/messagegroups/ovens", {"epoch": 99})["epoch"] == 1
    assert registry.put("/messagegroups/ovens", {"epoch": 1})["epoch"] == 2
    assert registry.put("/messagegroups/ovens", {"epoch": None})["epoch"] == 3
    with pytest.raises(RegistryProblem) as refused:
        registry.put("/messagegroups/ovens", {"epoch": 2})
    assert (refused.value.name, refused.value.args_map) == ("mismatched_epoch", {"bad_epoch": "2", "epoch": "3"})


@pytest.mark.feature("REG-051", "REG-054", "REG-055")
def test_a_new_child_moves_its_parent_and_an_edited_one_does_not(registry: Any) -> None:
    registry.put("/messagegroups/ovens/messages/heated", {})
    before = registry.show("/messagegroups/ovens")
    registry.put("/messagegroups/ovens/messages/heated", {"description": "hot"})
    assert registry.show("/messagegroups/ovens") == before
    registry.put("/messagegroups/ovens/messages/cooled", {})
    after = registry.show("/messagegroups/ovens")
    assert after["epoch"] == before["epoch"] + 1
    assert after["modifiedat"] == registry.show("/messagegroups/ovens/messages/cooled")["createdat"]


@pytest.mark.feature("REG-052", "REG-053", "REG-010", "REG-011")
def test_timestamps_can_be_given(registry: Any) -> None:
    given = {"createdat": "2020-01-01T02:00:00+02:00", "modifiedat": "2021-01-01T00:00:00Z"}
    made = registry.put("/messagegroups/ovens", given)
    assert (made["createdat"], made["modifiedat"]) == ("2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z")
    again = registry.put("/messagegroups/ovens", {"modifiedat": "2021-01-01T00:00:00Z"})
    assert again["createdat"] == made["createdat"]
    assert again["modifiedat"] > made["modifiedat"]


@pytest.mark.feature("REG-034", "REG-035", "REG-037", "REG-028", "REG-030", "REG-056", "REG-060", "REG-062", "REG-081")
@pytest.mark.parametrize(
    ("xid", "body", "problem"),
    [
        ("/messagegroups/ovens", {"messagegroupid": "grills"}, "mismatched_id"),
        ("/messagegroups/OVENS", {}, "bad_request"),
        ("/messagegroups/ovens", [], "parsing_data"),
        ("/messagegroups/ovens", {"icon": ""}, "invalid_attribute"),
        ("/messagegroups/ovens", {"labels": {"Upper": "x"}}, "invalid_attribute"),
        ("/messagegroups/ovens", {"createdat": "yesterday"}, "invalid_attribute"),
        ("/messagegroups/ovens", {"epoch": "one"}, "invalid_attribute"),
        ("/messagegroups/ovens", {"messages": {"m": None}}, "invalid_attribute"),
        ("/messagegroups/ovens", {"messages": []}, "invalid_attribute"),
        ("/messagegroups/ovens", {"messages": {"a/b": {}}}, "malformed_id"),
        ("/messagegroups/ovens", {"messages": {"": {}}}, "malformed_id"),
        ("/messagegroups/ovens", {"messages": {"x" * 129: {}}}, "malformed_id"),
        (
            "/messagegroups/ovens",
            {"deprecated": {"effective": "2030-01-01T00:00:00Z", "removal": "2029-01-01T00:00:00Z"}},
            "invalid_attribute",
        ),
        ("/", {"colour": "red"}, "unknown_attribute"),
        ("/", {"registryid": "other"}, "mismatched_id"),
        ("/endpoints/door", {}, "required_attribute_missing"),
        ("/endpoints/door", {"usage": ["baker"]}, "invalid_attribute"),
    ],
)
def test_bad_groups_are_refused_and_nothing_is_written(registry: Any, xid: str, body: Any, problem: str) -> None:
    registry.put("/messagegroups/ovens", {"description": "as it was"})
    before = registry.show("/", "*")
    with pytest.raises(RegistryProblem) as refused:
        registry.put(xid, body)
    assert refused.value.name == problem
    assert registry.show("/", "*") == before


@pytest.mark.feature("HTTP-008", "HTTP-009", "HTTP-010")
def test_put_replaces_and_patch_merges(registry: Any) -> None:
    registry.put("/messagegroups/ovens", {"name": "Ovens", "labels": {"a": "1", "b": "2"}, "floor": 3})
    patched = registry.patch("/messagegroups/ovens", {"labels": {"c": "3"}, "floor": None})
    assert (patched["name"], patched["labels"], "floor" in patched) == ("Ovens", {"c": "3"}, False)
    replaced = registry.put("/messagegroups/ovens", {"description": "new"})
    assert not {"name", "labels"} & replaced.keys()


@pytest.mark.feature("REG-036", "GRP-004", "FLAG-017", "HTTP-041")
def test_deleting_a_group_deletes_what_is_in_it(registry: Any) -> None:
    registry.put("/messagegroups/ovens/messages/heated", {})
    with pytest.raises(RegistryProblem) as wrong_epoch:
        registry.delete("/messagegroups/ovens", epoch=7)
    assert wrong_epoch.value.name == "mismatched_epoch"
    with pytest.raises(RegistryProblem) as wrong_case:
        registry.delete("/messagegroups/Ovens")
    assert wrong_case.value.name == "not_found"
    registry.delete("/messagegroups/ovens", epoch=1)
    assert registry.show("/", "messagegroups")["messagegroups"] == {}
    assert registry.put("/messagegroups/ovens", {})["messagescount"] == 0


@pytest.mark.feature("GRP-009", "GRP-010", "HTTP-042")
def test_delete_maps_name_members(registry: Any) -> None:
    for name in ("ovens", "grills", "pans"):
        registry.put(f"/messagegroups/{name}", {})
    registry.delete("/messagegroups", members={})
    assert len(registry.show("/messagegroups")) == 3
    registry.delete("/messagegroups", members={"ovens": {"epoch": 1}, "unknown": {}})
    with pytest.raises(RegistryProblem):
        registry.delete("/messagegroups", members={"grills": {}, "pans": {"epoch": 9}})
    assert set(registry.show("/messagegroups")) == {"grills", "pans"}
    registry.delete("/messagegroups")
    assert registry.show("/messagegroups") == {}


def test_older_endpoint_words_are_read(registry: Any) -> None:
    made = registry.put("/endpoints/door", {"usage": "producer", "deprecated": {"docs": "https://doors.example"}})
    assert made["usage"] == ["producer"]
    assert made["deprecated"] == {"documentation": "https://doors.example"}
