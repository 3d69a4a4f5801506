"""Change events: the samples of core/events.md, and its rules one by one."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from postroom.model.scalar_types import scalar_error
from postroom.registry.changes.changelog import Changelog
from postroom.registry.configuration.model_update import write_modelsource
from postroom.registry.entities import Change
from postroom.registry.write.unit_of_work import UnitOfWork
from postroom.replication.changes.events import event_of, events_of
from tests.replication.change_pages import read_changes
from tests.replication.conftest import MODEL, Office

F1 = "/dirs/d1/files/f1"
NEW = ["epoch", "modifiedat"]
META = ["meta.epoch", "meta.modifiedat"]
GROWN = [*META, "versions", "versionscount"]
BARE = {"ancestorid", "createdat", "epoch", "fileid", "isdefault", "modifiedat", "self", "versionid", "xid"}
"""What a Version shows when nobody gave it attributes."""

Told = dict[tuple[str, str], list[str] | None]


def told(events: list[dict[str, Any]]) -> Told:
    """Events by kind and subject: the names that changed, None where there is no list of them."""
    found = {}
    for event in events:
        key = event["type"].removeprefix("io.xregistry."), event["subject"]
        assert key not in found
        found[key] = sorted(event["data"]["changed"]) if "data" in event else None
    return found


def changed(*names: str) -> list[str]:
    return sorted(set(names))


@pytest.fixture
def shelf(office: Office) -> Office:
    """One file with one Version, the default because it is the newest."""
    office.put(f"{F1}/versions/v1", {})
    office.events()
    return office


@pytest.mark.feature("EVT-001", "EVT-013")
def test_update_a_registry_attribute(office: Office) -> None:
    office.patch("/", {"name": "foo"})
    assert told(office.events()) == {("registry.updated", "/"): [*NEW, "name"]}


@pytest.mark.feature("EVT-001", "EVT-013", "EVT-017", "EVT-020", "EVT-027")
def test_create_a_tree_of_entities(office: Office) -> None:
    office.put(f"{F1}/versions/v1", {})
    assert list(told(office.events()).items()) == [
        (("registry.updated", "/"), ["dirs", "dirscount", *NEW]),
        (("group.created", "/dirs/d1"), None),
        (("resource.created", F1), None),
        (("version.created", f"{F1}/versions/v1"), None),
    ]


@pytest.mark.feature("EVT-021")
@pytest.mark.parametrize("xid", [F1, f"{F1}/versions/v1"])
def test_update_the_default_version_by_its_own_name_or_as_the_resource(shelf: Office, xid: str) -> None:
    shelf.patch(xid, {"name": "foo"})
    assert list(told(shelf.events()).items()) == [
        (("resource.updated", F1), [*NEW, "name"]),
        (("version.updated", f"{F1}/versions/v1"), [*NEW, "name"]),
    ]


@pytest.mark.feature("EVT-022")
def test_update_the_meta_of_a_resource(shelf: Office) -> None:
    shelf.patch(f"{F1}/meta", {"labels": {"shelf": "2"}})
    assert told(shelf.events()) == {("resource.updated", F1): changed(*META, "meta.labels")}


@pytest.mark.feature("EVT-022", "EVT-025")
def test_deprecate_a_resource_and_take_that_back(shelf: Office) -> None:
    update, deprecation = ("resource.updated", F1), ("resource.deprecation", F1)
    shelf.patch(f"{F1}/meta", {"labels": {"a": "b"}, "deprecated": {"effective": "2030-01-01T00:00:00Z"}})
    assert list(told(shelf.events()).items()) == [
        (update, changed(*META, "meta.deprecated", "meta.labels")),
        (deprecation, ["effective"]),
    ]
    shelf.patch(f"{F1}/meta", {"deprecated": {"documentation": "https://docs.example", "removal": None}})
    names = told(shelf.events())
    assert names[update] == changed(*META, "meta.deprecated")
    assert names[deprecation] == ["documentation", "effective"]
    shelf.patch(f"{F1}/meta", {"deprecated": None})
    assert told(shelf.events())[deprecation] == ["documentation"]
    shelf.patch(f"{F1}/meta", {"deprecated": {}})
    assert told(shelf.events())[deprecation] == []
    shelf.patch(f"{F1}/meta", {"labels": None})
    assert deprecation not in told(shelf.events())


@pytest.mark.feature("EVT-019")
def test_deprecate_a_group(shelf: Office) -> None:
    shelf.patch("/dirs/d1", {"deprecated": {"alternative": "https://new.example/d2"}})
    assert told(shelf.events()) == {
        ("group.updated", "/dirs/d1"): ["deprecated", *NEW],
        ("group.deprecation", "/dirs/d1"): ["alternative"],
    }


@pytest.mark.feature("EVT-019", "EVT-025")
def test_what_is_born_deprecated_is_told_so_too(office: Office) -> None:
    deprecated = {"deprecated": {"effective": "2030-01-01T00:00:00Z"}}
    office.put("/dirs/d1", {**deprecated, "files": {"f1": {"meta": deprecated}}})
    names = told(office.events())
    assert names["group.deprecation", "/dirs/d1"] == ["effective"]
    assert names["resource.deprecation", F1] == ["effective"]
    office.delete("/dirs/d1")
    assert {kind for kind, _ in told(office.events())} == {
        *("registry.updated", "group.deleted", "resource.deleted", "version.deleted")
    }


@pytest.mark.feature("EVT-013", "EVT-014", "EVT-015", "EVT-016", "EVT-029")
def test_import_an_entire_registry(office: Office) -> None:
    model = {"groups": {**MODEL["groups"], "rooms": {"singular": "room"}}}
    versions: dict[str, Any] = {"v1": {}, "v2": {}}
    body = {
        "name": "Archive",
        "modelsource": model,
        "capabilities": {**office_capabilities(office), "pagination": True},
        "dirs": {"d1": {"files": {"f1": {"versions": versions}, "f2": {}}}, "d2": {}},
        "rooms": {"r1": {}},
    }
    office.put("/", body)
    events = told(office.events())
    names = events.pop(("registry.updated", "/"))
    assert names == changed(
        *NEW, "name", "model", "modelsource", "capabilities", "dirs", "dirscount", "rooms", "roomscount"
    )
    assert events.pop(("capabilities.updated", "/capabilities")) == ["pagination"]
    assert set(events.values()) == {None}
    assert set(events) == {
        ("model.updated", "/model"),
        ("modelsource.updated", "/modelsource"),
        *(("group.created", xid) for xid in ("/dirs/d1", "/dirs/d2", "/rooms/r1")),
        *(("resource.created", xid) for xid in (F1, "/dirs/d1/files/f2")),
        *(("version.created", f"{F1}/versions/{one}") for one in versions),
        ("version.created", "/dirs/d1/files/f2/versions/1"),
    }


def office_capabilities(office: Office) -> dict[str, Any]:
    from postroom.registry.configuration.capabilities import read_capabilities

    with office.store.read() as tx:
        return read_capabilities(tx).document()


@pytest.mark.feature("EVT-012", "EVT-023", "EVT-027")
@pytest.mark.parametrize("posted", [True, False])
def test_create_a_version_that_becomes_the_default(shelf: Office, posted: bool) -> None:
    shelf.patch(F1, {"name": "old", "file": {"a": 1}})
    shelf.events()
    body = {"versionid": "v2", "documentation": "https://new.example", "fileurl": "https://files.example/2"}
    if posted:
        shelf.post_version(F1, body)
    else:
        shelf.put(f"{F1}/versions/v2", body)
    both = {*BARE, "name", "contenttype", "file", "documentation", "fileurl"}
    assert told(shelf.events()) == {
        ("resource.updated", F1): changed(*GROWN, "meta.defaultversionid", *both),
        ("version.created", f"{F1}/versions/v2"): None,
    }


@pytest.mark.feature("EVT-023", "EVT-027")
def test_create_a_version_beside_a_sticky_default(shelf: Office) -> None:
    shelf.patch(f"{F1}/meta", {"defaultversionid": "v1"})
    shelf.events()
    shelf.put(f"{F1}/versions/v2", {})
    assert told(shelf.events()) == {
        ("resource.updated", F1): GROWN,
        ("version.created", f"{F1}/versions/v2"): None,
    }


@pytest.mark.feature("EVT-012", "EVT-024")
def test_change_the_default_version(shelf: Office) -> None:
    shelf.put(f"{F1}/versions/v2", {"name": "second"})
    shelf.events()
    shelf.patch(f"{F1}/meta", {"defaultversionid": "v1"})
    assert told(shelf.events()) == {
        ("resource.updated", F1): changed(*META, "meta.defaultversionid", "meta.defaultversionsticky", *BARE, "name")
    }


@pytest.mark.feature("EVT-012")
def test_the_short_url_is_an_attribute_of_the_default_version_when_there_is_one(shelf: Office) -> None:
    shelf.put("/", {"capabilities": {**office_capabilities(shelf), "shortself": True}}, patch=True)
    shelf.put(f"{F1}/versions/v2", {})
    assert "shortself" in (told(shelf.events())["resource.updated", F1] or ())


@pytest.mark.feature("EVT-030")
def test_update_a_version_that_is_not_the_default(shelf: Office) -> None:
    shelf.put(f"{F1}/versions/v2", {})
    shelf.events()
    shelf.patch(f"{F1}/versions/v1", {"name": "foo"})
    assert told(shelf.events()) == {("version.updated", f"{F1}/versions/v1"): [*NEW, "name"]}


@pytest.mark.feature("EVT-010")
@pytest.mark.parametrize(
    ("before", "after", "names"),
    [
        ({"file": {"a": 1}}, {"file": {"a": 2}}, ["file"]),
        ({"file": {"a": 1}}, {"fileurl": "https://files.example/1"}, ["file", "fileurl"]),
        ({"filebase64": "/w=="}, {"filebase64": "/v8="}, ["file"]),
        ({"fileurl": "https://a.example"}, {"fileurl": None}, ["fileurl"]),
    ],
)
def test_a_document_is_an_attribute_like_others(shelf: Office, before: Any, after: Any, names: list[str]) -> None:
    shelf.patch(f"{F1}/versions/v1", {**before, "contenttype": "application/json"})
    shelf.events()
    shelf.patch(f"{F1}/versions/v1", {**after, "contenttype": "application/json"})
    for found in told(shelf.events()).values():
        assert found == changed(*NEW, *names)


@pytest.mark.feature("EVT-017", "EVT-026", "EVT-028")
def test_delete_a_group(shelf: Office) -> None:
    shelf.put(f"{F1}/versions/v2", {})
    shelf.put("/dirs/d1/files/f2", {})
    shelf.events()
    shelf.delete("/dirs/d1")
    assert told(shelf.events()) == {
        ("registry.updated", "/"): ["dirs", "dirscount", *NEW],
        ("group.deleted", "/dirs/d1"): None,
        ("resource.deleted", F1): None,
        ("version.deleted", f"{F1}/versions/v1"): None,
        ("version.deleted", f"{F1}/versions/v2"): None,
        ("resource.deleted", "/dirs/d1/files/f2"): None,
        ("version.deleted", "/dirs/d1/files/f2/versions/1"): None,
    }


@pytest.mark.feature("EVT-017", "EVT-018", "EVT-020", "EVT-026")
def test_create_and_delete_a_resource_in_a_group(shelf: Office) -> None:
    """C-59: it is the Group that is updated, not the Registry."""
    f2 = "/dirs/d1/files/f2"
    group = ("group.updated", "/dirs/d1"), [*NEW[:1], "files", "filescount", *NEW[1:]]
    shelf.put(f2, {})
    assert list(told(shelf.events()).items()) == [
        group,
        (("resource.created", f2), None),
        (("version.created", f"{f2}/versions/1"), None),
    ]
    shelf.delete(f2)
    assert told(shelf.events()) == dict([group, (("resource.deleted", f2), None)]) | {
        ("version.deleted", f"{f2}/versions/1"): None
    }


@pytest.mark.feature("EVT-023", "EVT-027")
def test_delete_a_version(shelf: Office) -> None:
    shelf.put(f"{F1}/versions/v2", {})
    shelf.events()
    shelf.delete(f"{F1}/versions/v1")
    assert told(shelf.events()) == {
        ("resource.updated", F1): GROWN,
        ("version.updated", f"{F1}/versions/v2"): ["ancestorid", *NEW],
        ("version.deleted", f"{F1}/versions/v1"): None,
    } | {("resource.updated", F1): changed(*GROWN, "ancestorid", *NEW)}


@pytest.mark.feature("EVT-018", "EVT-022")
def test_a_resource_becomes_a_reference_to_another(shelf: Office) -> None:
    f2 = "/dirs/d1/files/f2"
    shelf.put(f2, {"name": "own"})
    shelf.patch(F1, {"description": "the target's"})
    shelf.events()
    shelf.put(f"{f2}/meta", {"xref": F1})
    names = told(shelf.events())
    assert {"meta.xref", *GROWN, "name", "description"} <= set(names["resource.updated", f2] or ())
    assert names["version.deleted", f"{f2}/versions/1"] is None
    shelf.patch(F1, {"name": "new"})
    assert {subject for _, subject in told(shelf.events())} == {F1, f"{F1}/versions/v1"}


@pytest.mark.feature("EVT-014", "EVT-015")
def test_a_model_that_stays_as_it_is_gives_no_event_of_its_own(office: Office) -> None:
    source = {**MODEL, "description": "Archives"}
    with office.store.write() as tx:
        work = UnitOfWork(tx)
        write_modelsource(work, source)
        work.finish()
    assert told(office.events()) == {
        ("registry.updated", "/"): changed(*NEW, "model", "modelsource"),
        ("model.updated", "/model"): None,
        ("modelsource.updated", "/modelsource"): None,
    }
    with office.store.write() as tx:
        work = UnitOfWork(tx)
        write_modelsource(work, source)
        work.finish()
    assert told(office.events()) == {("registry.updated", "/"): NEW}


@pytest.mark.feature("EVT-014")
def test_a_model_that_is_written_otherwise_is_the_same_model(office: Office) -> None:
    office.put("/", {"modelsource": {"groups": {"dirs": {**MODEL["groups"]["dirs"], "plural": "dirs"}}}})
    names = told(office.events())
    assert ("modelsource.updated", "/modelsource") in names
    assert ("model.updated", "/model") not in names


@pytest.mark.feature("EVT-010")
def test_a_model_that_fills_in_defaults_tells_what_it_changed(shelf: Office) -> None:
    attributes = {"owner": {"type": "string", "default": "nobody", "required": True}}
    shelf.put("/", {"modelsource": {"groups": {"dirs": {**MODEL["groups"]["dirs"], "attributes": attributes}}}})
    assert told(shelf.events())["group.updated", "/dirs/d1"] == [*NEW, "owner"]


@pytest.mark.feature("EVT-002", "EVT-003", "EVT-004", "EVT-005", "EVT-006")
def test_what_every_event_has(office: Office) -> None:
    office.put("/", {"capabilities": {**office_capabilities(office), "pagination": True}}, patch=True)
    office.put("/dirs/d1", {"deprecated": {}, "files": {"f1": {}}})
    office.delete("/dirs/d1")
    page = read_changes(office.store, "", 1000)
    with office.store.read() as tx:
        pairs = list(events_of(tx, page.changes, "https://office.example"))
    rows = {change.sequence: change for change in page.changes}
    assert [sequence for sequence, _ in pairs] == sorted(rows)[1:]  # the registry's beginning is none
    by_interaction: dict[str, set[str]] = {}
    for sequence, event in pairs:
        _, _, entity, action = event["type"].split(".")
        assert event["type"].startswith("io.xregistry.")
        assert entity in {"registry", "model", "modelsource", "capabilities", "group", "resource", "version"}
        assert action in {"created", "updated", "deprecation", "deleted"}
        assert event["specversion"] == "1.0"
        assert event["source"] == "https://office.example"
        assert event["subject"] == rows[sequence].xid
        assert datetime.fromisoformat(event["time"]).utcoffset() is not None
        assert event["time"].endswith("Z")
        assert not scalar_error("timestamp", event["time"])
        assert event["xregcorrelationid"]
        by_interaction.setdefault(event["xregcorrelationid"].lower(), set()).add(event["time"])
    assert all(len(times) == 1 for times in by_interaction.values())
    assert len(by_interaction) == 4
    assert office.show("/")["modifiedat"] == pairs[-1][1]["time"]


@pytest.mark.feature("EVT-001")
def test_an_event_is_the_same_whenever_it_is_read(shelf: Office) -> None:
    shelf.patch(F1, {"name": "one"})
    shelf.seen = ""
    once = shelf.events()
    shelf.delete("/dirs/d1")
    shelf.seen = ""
    again = shelf.events()[: len(once)]
    assert once == again
    assert len({event["id"] for event in once}) == len(once)


@pytest.mark.feature("EVT-010", "EVT-011")
def test_names_stay_within_when_they_are_not_to_be_told(shelf: Office) -> None:
    shelf.patch(F1, {"name": "secret"})
    page = read_changes(shelf.store, "", 1000)
    with shelf.store.read() as tx:
        events = [event for _, event in events_of(tx, page.changes, "https://office.example", names=False)]
    assert all("data" not in event for event in events)
    row = Change(xid="/dirs/d1", action="deleted", epoch=1, changed=("name",), actor="", correlation="c", time="")
    assert "data" not in event_of(row, "https://office.example")


@pytest.mark.feature("EVT-008", "EVT-009")
def test_several_actions_on_one_entity_are_one_event(shelf: Office) -> None:
    """No request can do that; what builds on units of work might."""
    with shelf.store.write() as tx:
        work = UnitOfWork(tx)
        group = tx.entity("/dirs/d1")
        assert group is not None
        work.remove("/dirs/d1")
        work.save(group)
        work.save(group)
        rows = list(Changelog(tx, work._before, work._removed, {}).rows())
        work.finish()
    assert [row.action for row in rows if row.xid == "/dirs/d1"] == ["deleted"]
    assert told(shelf.events())["group.deleted", "/dirs/d1"] is None


@pytest.mark.feature("EVT-008", "EVT-010")
def test_several_reasons_are_one_list(shelf: Office) -> None:
    body = {"name": "both", "files": {"f1": {"name": "new"}, "f2": {}}}
    shelf.patch("/dirs/d1", body)
    names = told(shelf.events())
    assert names["group.updated", "/dirs/d1"] == ["epoch", "files", "filescount", "modifiedat", "name"]
    shelf.patch(F1, {"name": "newer", "meta": {"labels": {"a": "b"}}, "versions": {"v3": {}}})
    names = told(shelf.events())
    assert {"name", "meta.labels", "versions", "meta.defaultversionid"} <= set(names["resource.updated", F1] or ())
