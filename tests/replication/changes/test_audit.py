"""Old and new values of changes."""

from __future__ import annotations

import base64
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postroom.catalog.open_store import open_store
from postroom.registry.problems import RegistryProblem
from postroom.registry.transaction_interface import Transaction
from postroom.replication.changes.audit import LARGEST_SHOWN, AuditEntry, entry_of
from postroom.replication.changes.feed import page_of
from tests.replication.conftest import MODEL, Office

F1 = "/dirs/d1/files/f1"
V1 = f"{F1}/versions/v1"
STAMPS = {"epoch", "createdat", "modifiedat", "meta.epoch", "meta.createdat", "meta.modifiedat"}


def entries(office: Office, xid: str = "/") -> list[AuditEntry]:
    with office.store.read() as tx:
        page = page_of(tx, office.seen, 1000, xid)
        return [entry_of(tx, change) for change in page.changes]


def shown_values(tx: Transaction, xid: str) -> dict[str, Any]:
    """What an entity has, as entries of the log call it."""
    entity = tx.entity(xid)
    assert entity is not None
    found = {**entity.attributes, "epoch": entity.epoch, "createdat": entity.createdat, "modifiedat": entity.modifiedat}
    prefix = "meta." if xid.count("/") == 4 else ""
    return {prefix + name: value for name, value in found.items() if value is not None}


def values(entry: AuditEntry) -> dict[str, Any]:
    return {name: value for name, value in entry.values.items() if name not in STAMPS}


def test_a_life_is_told_with_what_was_before_and_after(office: Office) -> None:
    office.put(V1, {"name": "one"})
    office.patch(V1, {"name": "two", "description": "new"})
    office.patch(V1, {"name": None})
    office.delete("/dirs/d1")
    office.put(V1, {"name": "again"})
    told = [(entry.action, values(entry)) for entry in entries(office, V1)]
    assert told == [
        ("created", {"name": {"new": "one"}, "ancestorid": {"new": "v1"}}),
        ("updated", {"name": {"old": "one", "new": "two"}, "description": {"new": "new"}}),
        ("updated", {"name": {"old": "two"}}),
        ("deleted", {"description": {"old": "new"}, "ancestorid": {"old": "v1"}}),
        ("created", {"name": {"new": "again"}, "ancestorid": {"new": "v1"}}),
    ]


def test_epochs_and_times_are_told_too(office: Office) -> None:
    office.put("/dirs/d1", {"name": "one"})
    office.patch("/dirs/d1", {"name": "two"})
    updated = entries(office, "/dirs/d1")[1]
    assert updated.values["epoch"] == {"old": 1, "new": 2}
    assert set(updated.values) == set(updated.changed) == {"epoch", "modifiedat", "name"}


def test_a_resource_tells_its_meta_and_leaves_the_rest_to_the_version(office: Office) -> None:
    office.put(V1, {})
    office.seen = ""
    office.events()
    office.patch(F1, {"name": "shown by the file"})
    office.patch(f"{F1}/meta", {"deprecated": {"removal": "2031-01-01T00:00:00Z"}})
    shown, version, meta, deprecation = entries(office, F1)
    assert values(shown) == {}
    assert values(version) == {"name": {"new": "shown by the file"}}
    assert values(meta) == {"meta.deprecated": {"new": {"removal": "2031-01-01T00:00:00Z"}}}
    assert (deprecation.action, deprecation.changed, deprecation.values) == ("deprecation", ("removal",), {})


def test_documents_are_told_as_text_as_bytes_or_by_their_digest(office: Office) -> None:
    large = base64.b64encode(b"x" * (LARGEST_SHOWN + 1)).decode()
    for body in (
        {"file": "text", "contenttype": "text/plain"},
        {"filebase64": "/w=="},
        {"filebase64": large},
        {"fileurl": "https://files.example/1"},
    ):
        office.put(V1, body)
    told = [values(entry) for entry in entries(office, V1)]
    assert told[0]["file"] == {"new": "text"}
    assert (told[1]["file"], told[1]["filebase64"]) == ({"old": "text"}, {"new": "/w=="})
    assert told[2]["file"]["new"]["bytes"] == LARGEST_SHOWN + 1
    assert told[3]["fileurl"] == {"new": "https://files.example/1"}


def test_configuration_is_told_like_entities(office: Office) -> None:
    office.seen = ""
    assert next(one for one in entries(office) if one.xid == "/modelsource").values == {
        "groups": {"new": MODEL["groups"]}
    }
    office.events()
    office.put("/", {"capabilities": {"pagination": True}}, patch=True)
    office.put("/", {"modelsource": {**MODEL, "description": "two"}}, patch=True)
    office.put("/", {"modelsource": {**MODEL, "description": "three"}}, patch=True)
    told = [(entry.xid, entry.values) for entry in entries(office) if entry.xid != "/"]
    assert told == [
        ("/capabilities", {"pagination": {"old": False, "new": True}}),
        ("/modelsource", {"description": {"new": "two"}}),
        ("/model", {}),
        ("/modelsource", {"description": {"old": "two", "new": "three"}}),
        ("/model", {}),
    ]


NAMES = st.sampled_from(["name", "description", "documentation"])
TEXTS = st.none() | st.sampled_from(["https://a.example", "https://b.example", "https://c.example"])
BODIES = st.dictionaries(NAMES, TEXTS, max_size=2)
XIDS = st.sampled_from(["/", "/dirs/d1", "/dirs/d2", F1, f"{F1}/meta", V1, f"{F1}/versions/v2", "/dirs/d2/files/f1"])
STEPS = st.lists(st.tuples(st.sampled_from(["put", "patch", "delete"]), XIDS, BODIES), max_size=25)


@settings(max_examples=25, deadline=None)
@given(steps=STEPS)
def test_the_entries_of_a_log_rebuild_what_is_there(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, dict[str, Any]]]
) -> None:
    with open_store(f"sqlite:///{tmp_path_factory.mktemp('audit')}/registry.db", "none") as store:
        office = Office(store)
        office.put("/", {"modelsource": MODEL})
        for action, xid, body in steps:
            with suppress(RegistryProblem):
                if action != "delete":
                    office.put(xid, {"labels": {"a": "b"}} if xid.endswith("/meta") else body, action == "patch")
                elif xid != "/":
                    office.delete(xid)
        office.seen = ""
        rebuilt: dict[str, dict[str, Any]] = {}
        for entry in entries(office):
            state = rebuilt.setdefault(entry.xid, {})
            for name, value in entry.values.items():
                assert state.pop(name, None) == value.get("old"), (entry, name)
                if "new" in value:
                    state[name] = value["new"]
            if entry.action == "deleted":
                assert rebuilt.pop(entry.xid) == {}
        with store.read() as tx:
            there = {xid: shown_values(tx, xid) for xid in tx.xids()}
        assert {xid: state for xid, state in rebuilt.items() if xid in there} == there
        assert set(rebuilt) - set(there) <= {"/model", "/modelsource"}
