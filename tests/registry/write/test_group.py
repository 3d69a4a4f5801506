from __future__ import annotations

from typing import Any

import pytest

from postroom.registry.problems import RegistryProblem


@pytest.mark.feature("REG-047", "REG-048", "REG-049", "REG-050")
def test_epochs_count_updates_and_guard_them(desk: Any) -> None:
    assert desk.put("/messagegroups/ovens", {"epoch": 99})["epoch"] == 1
    assert desk.put("/messagegroups/ovens", {"epoch": 1})["epoch"] == 2
    assert desk.put("/messagegroups/ovens", {"epoch": None})["epoch"] == 3
    with pytest.raises(RegistryProblem) as refused:
        desk.put("/messagegroups/ovens", {"epoch": 2})
    assert (refused.value.name, refused.value.args_map) == ("mismatched_epoch", {"bad_epoch": "2", "epoch": "3"})


@pytest.mark.feature("REG-051", "REG-054", "REG-055")
def test_a_new_child_moves_its_parent_and_an_edited_one_does_not(desk: Any) -> None:
    desk.put("/messagegroups/ovens/messages/heated", {})
    before = desk.show("/messagegroups/ovens")
    desk.put("/messagegroups/ovens/messages/heated", {"description": "hot"})
    assert desk.show("/messagegroups/ovens") == before
    desk.put("/messagegroups/ovens/messages/cooled", {})
    after = desk.show("/messagegroups/ovens")
    assert after["epoch"] == before["epoch"] + 1
    assert after["modifiedat"] == desk.show("/messagegroups/ovens/messages/cooled")["createdat"]


@pytest.mark.feature("REG-052", "REG-053", "REG-010", "REG-011")
def test_timestamps_can_be_given(desk: Any) -> None:
    given = {"createdat": "2020-01-01T02:00:00+02:00", "modifiedat": "2021-01-01T00:00:00Z"}
    made = desk.put("/messagegroups/ovens", given)
    assert (made["createdat"], made["modifiedat"]) == ("2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z")
    again = desk.put("/messagegroups/ovens", {"modifiedat": "2021-01-01T00:00:00Z"})
    assert again["createdat"] == made["createdat"]
    assert again["modifiedat"] > made["modifiedat"]


@pytest.mark.feature("REG-034", "REG-035", "REG-037", "REG-028", "REG-030", "REG-056", "REG-060", "REG-062", "REG-081")
@pytest.mark.parametrize(
    ("xid", "body", "problem"),
    [
        ("/messagegroups/ovens", {"messagegroupid": "grills"}, "mismatched_id"),
        ("/messagegroups/OVENS", {}, "bad_request"),
        ("/messagegroups/ovens", [], "bad_request"),
        ("/messagegroups/ovens", {"icon": ""}, "invalid_attribute"),
        ("/messagegroups/ovens", {"labels": {"Upper": "x"}}, "invalid_attribute"),
        ("/messagegroups/ovens", {"createdat": "yesterday"}, "invalid_attribute"),
        ("/messagegroups/ovens", {"epoch": "one"}, "invalid_attribute"),
        ("/messagegroups/ovens", {"messages": {"m": None}}, "bad_request"),
        ("/messagegroups/ovens", {"messages": []}, "bad_request"),
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
def test_bad_groups_are_refused_and_nothing_is_written(desk: Any, xid: str, body: Any, problem: str) -> None:
    desk.put("/messagegroups/ovens", {"description": "as it was"})
    before = desk.show("/", "*")
    with pytest.raises(RegistryProblem) as refused:
        desk.put(xid, body)
    assert refused.value.name == problem
    assert desk.show("/", "*") == before


@pytest.mark.feature("HTTP-008", "HTTP-009", "HTTP-010")
def test_put_replaces_and_patch_merges(desk: Any) -> None:
    desk.put("/messagegroups/ovens", {"name": "Ovens", "labels": {"a": "1", "b": "2"}, "floor": 3})
    patched = desk.patch("/messagegroups/ovens", {"labels": {"c": "3"}, "floor": None})
    assert (patched["name"], patched["labels"], "floor" in patched) == ("Ovens", {"c": "3"}, False)
    replaced = desk.put("/messagegroups/ovens", {"description": "new"})
    assert not {"name", "labels"} & replaced.keys()


@pytest.mark.feature("REG-036", "GRP-004", "FLAG-017", "HTTP-041")
def test_deleting_a_group_deletes_what_is_in_it(desk: Any) -> None:
    desk.put("/messagegroups/ovens/messages/heated", {})
    with pytest.raises(RegistryProblem) as wrong_epoch:
        desk.delete("/messagegroups/ovens", epoch=7)
    assert wrong_epoch.value.name == "mismatched_epoch"
    with pytest.raises(RegistryProblem) as wrong_case:
        desk.delete("/messagegroups/Ovens")
    assert wrong_case.value.name == "not_found"
    desk.delete("/messagegroups/ovens", epoch=1)
    assert desk.show("/", "messagegroups")["messagegroups"] == {}
    assert desk.put("/messagegroups/ovens", {})["messagescount"] == 0


@pytest.mark.feature("GRP-009", "GRP-010", "HTTP-042")
def test_delete_maps_name_members(desk: Any) -> None:
    for name in ("ovens", "grills", "pans"):
        desk.put(f"/messagegroups/{name}", {})
    desk.delete("/messagegroups", members={})
    assert len(desk.show("/messagegroups")) == 3
    desk.delete("/messagegroups", members={"ovens": {"epoch": 1}, "unknown": {}})
    with pytest.raises(RegistryProblem):
        desk.delete("/messagegroups", members={"grills": {}, "pans": {"epoch": 9}})
    assert set(desk.show("/messagegroups")) == {"grills", "pans"}
    desk.delete("/messagegroups")
    assert desk.show("/messagegroups") == {}


def test_older_endpoint_words_are_read(desk: Any) -> None:
    made = desk.put("/endpoints/door", {"usage": "producer", "deprecated": {"docs": "https://doors.example"}})
    assert made["usage"] == ["producer"]
    assert made["deprecated"] == {"documentation": "https://doors.example"}
