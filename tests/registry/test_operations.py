from __future__ import annotations

import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from postroom.catalog.open_store import open_store
from postroom.registry.operations import export_document, import_document
from postroom.registry.problems import RegistryProblem
from postroom.store.interface import Store

XREF = {"meta": {"xref": "/messagegroups/ovens/messages/heated"}}
KITCHEN: dict[str, Any] = {
    "$schema": "https://example.com/schema",
    "specversion": "1.0-rc4",
    "name": "somebody else's registry",
    "schemagroups": {
        "ovens": {
            "format": "Ovens/1",
            "schemas": {
                "oven": {"versions": {"1": {"schema": {"type": "object"}}, "2": {"schema": {"type": "array"}}}},
                "proto": {"format": "OVENS/1", "schema": "message Oven {}"},
            },
        }
    },
    "messagegroups": {"ovens": {"epoch": 40, "messages": {"heated": {"protocol": "KAFKA"}, "warm": XREF}}},
    "endpoints": {"door": {"usage": ["consumer"], "messages": {"opened": {}}}},
}


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        volatile = ("modifiedat", "epoch", "registryid")
        return {name: without_times(member) for name, member in value.items() if name not in volatile}
    return value


@pytest.mark.feature("EXP-005", "EXP-006", "EXP-008", "REG-055", "REG-080")
def test_a_document_goes_in_and_comes_out(store: Store, tmp_path: Path) -> None:
    with store.write() as tx:
        imported = import_document(tx, KITCHEN)
    assert imported.created == {
        "schemagroups": 1,
        "schemas": 2,
        "messagegroups": 1,
        "messages": 3,
        "endpoints": 1,
        "versions": 5,
    }
    with store.read() as tx:
        exported = export_document(tx)
    assert exported["schemagroups"]["ovens"]["schemas"]["oven"]["versions"]["1"]["schema"] == {"type": "object"}
    assert exported["schemagroups"]["ovens"]["schemas"]["proto"]["schema"] == "message Oven {}"
    assert "versions" not in exported["messagegroups"]["ovens"]["messages"]["heated"]
    assert exported["messagegroups"]["ovens"]["messages"]["warm"]["meta"]["xref"] == XREF["meta"]["xref"]
    assert "protocol" not in exported["messagegroups"]["ovens"]["messages"]["warm"]
    assert "http" not in str({name: value for name, value in exported.items() if name.endswith("url")})
    with open_store(f"sqlite:///{tmp_path}/other.db") as other:
        with other.write() as tx:
            import_document(tx, exported)
        with other.read() as tx:
            again = export_document(tx)
    dropped = ("createdat",)
    assert without_times({n: v for n, v in again.items() if n not in dropped}) == without_times(
        {n: v for n, v in exported.items() if n not in dropped}
    )


@pytest.mark.feature("REG-083", "REG-084")
def test_one_bad_message_and_nothing_is_imported(store: Store) -> None:
    tree = {"messagegroups": {"ovens": {"messages": {"good": {}, "bad": {"name": 5}}}}}
    with pytest.raises(RegistryProblem) as refused, store.write() as tx:
        import_document(tx, tree)
    assert refused.value.subject == "/messagegroups/ovens/messages/bad/versions/1"
    assert refused.value.pointer == "/name"
    with store.read() as tx:
        assert export_document(tx)["messagegroups"] == {}
        assert [change.xid for change in tx.changes(0, 10)] == ["/"]


def test_a_collection_the_model_does_not_have_is_refused(store: Store) -> None:
    with pytest.raises(RegistryProblem) as refused, store.write() as tx:
        import_document(tx, {"kitchens": {}})
    assert refused.value.name == "unknown_group_type"


def test_the_change_log_tells_each_entity_once_and_history_keeps_old_bodies(store: Store) -> None:
    with store.write() as tx:
        import_document(tx, {"messagegroups": {"ovens": {"messages": {"heated": {"name": "one"}}}}}, actor="baker")
    with store.write() as tx:
        import_document(tx, {"messagegroups": {"ovens": {"messages": {"heated": {"name": "two"}}}}})
    with store.read() as tx:
        changes = tx.changes(1, 100)
        history = tx.history("/messagegroups/ovens/messages/heated/versions/1")
    told = [(change.xid, change.action) for change in changes]
    assert len(told) == len(set(told)) == 7  # a Resource is told when its default Version changes
    assert changes[0].actor == "baker"
    assert len({change.correlation for change in changes}) == 2
    assert changes[-1].changed == ("epoch", "modifiedat", "name")
    assert [(old.epoch, old.attributes["name"]) for old in history] == [(1, "one")]
    assert [change.sequence for change in changes] == sorted(change.sequence for change in changes)


IDS = st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=6)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.feature("REG-001", "REG-031", "EXP-005")
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(messages=st.dictionaries(IDS, JSON.filter(lambda value: value is not None), min_size=1, max_size=4))
def test_any_payload_schema_survives(store: Store, messages: dict[str, Any]) -> None:
    tree = {"messagegroups": {"ovens": {"messages": {one: {"dataschema": value} for one, value in messages.items()}}}}
    with store.write() as tx:
        import_document(tx, tree)
    with store.read() as tx:
        shown = export_document(tx)["messagegroups"]["ovens"]["messages"]
    assert {one: shown[one]["dataschema"] for one in messages} == messages
