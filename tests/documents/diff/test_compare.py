"""What changed between two catalogs: a row for each kind of change, with its place and whom it breaks."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from postroom.catalog.sources import read_source
from postroom.catalog.targets import write_target
from postroom.documents.diff.compare import differences
from postroom.settings import Settings
from tests.conftest import DEMO_CATALOG
from tests.http.running_service import serving

Tree = dict[str, Any]
HOT = "/messagegroups/ovens/messages/hot"
HEAT = "/schemagroups/s/schemas/heat"
KITCHEN = "/endpoints/kitchen"

OLD: Tree = {
    "description": "of the bakery",
    "messagegroups": {
        "ovens": {
            "messages": {
                "base": {"envelope": "CloudEvents/1.0", "envelopemetadata": {"source": {"value": "/ovens/{oven}"}}},
                "hot": {
                    "basemessage": "/messagegroups/ovens/messages/base",
                    "envelope": "CloudEvents/1.0",
                    "envelopemetadata": {
                        "type": {"value": "oven.hot"},
                        "subject": {"type": "string"},
                        "heat": {"type": "integer", "required": True},
                    },
                    "protocol": "MQTT/5.0",
                    "protocoloptions": {
                        "qos": 1,
                        "topic_name": "ovens/{oven}",
                        "user_properties": [{"name": "site", "value": "north"}, {"name": "unit", "value": "C"}],
                    },
                    "dataschemaformat": "JsonSchema/draft-07",
                    "dataschemauri": HEAT,
                    "datacontenttype": "application/json",
                },
                "lent": {"meta": {"xref": HOT}},
            }
        }
    },
    "schemagroups": {
        "s": {
            "schemas": {
                "heat": {
                    "meta": {"defaultversionid": "1"},
                    "versions": {
                        "1": {
                            "format": "JsonSchema/draft-07",
                            "schema": {
                                "type": "object",
                                "properties": {"degrees": {"$ref": "/schemagroups/s/schemas/degrees"}},
                            },
                        },
                        "0": {
                            "format": "JsonSchema/draft-07",
                            "schema": {"type": "object", "properties": {"degrees": {}}},
                        },
                    },
                },
                "degrees": {"format": "JsonSchema/draft-07", "schema": {"type": "integer"}},
            }
        }
    },
    "endpoints": {
        "kitchen": {
            "usage": ["consumer"],
            "protocol": "MQTT/5.0",
            "protocoloptions": {"endpoints": [{"uri": "mqtt://a.example"}], "topic": "ovens", "deployed": True},
            "messagegroups": ["/messagegroups/ovens"],
        }
    },
}


def changed(**places: Any) -> Tree:
    """The catalog with members replaced; None takes one out."""
    tree = copy.deepcopy(OLD)
    for place, value in places.items():
        *steps, last = place.split("/")[1:]
        holder = tree
        for step in steps:
            holder = holder.setdefault(step, {}) if isinstance(holder, dict) else holder[int(step)]
        if value is None:
            del holder[last]
        else:
            holder[last] = value
    return tree


BOTH, CONSUMERS, PRODUCERS = "breaking for both", "breaking for consumers", "breaking for producers"
TYPE, SUBJECT, LEVEL = (f"{HOT}/envelopemetadata/{name}" for name in ("type", "subject", "heat"))
OPTIONS = f"{HOT}/protocoloptions"
ROWS: list[tuple[dict[str, Any], set[tuple[str, str, str]]]] = [
    ({}, set()),
    ({"/description": "ours"}, {("/description", "changed", "editorial")}),
    ({"/messagegroups/ovens/labels": {"a": "b"}}, {("/messagegroups/ovens/labels", "added", "editorial")}),
    ({f"{HOT}/epoch": 4, f"{HOT}/modifiedat": "2026-01-01T00:00:00Z"}, set()),
    ({"/messagegroups/doors": {}}, {("/messagegroups/doors", "added", "compatible")}),
    ({"/endpoints": None}, {(KITCHEN, "removed", BOTH)}),
    # Messages: what they inherit and stand for counts
    (
        {"/messagegroups/ovens/messages/base/envelopemetadata/source/value": "/boats"},
        {(f"{one}/envelopemetadata/source", "changed", BOTH) for one in (HOT, HOT.replace("hot", "base"))},
    ),
    ({f"{HOT}/basemessage": None}, {(f"{HOT}/envelopemetadata/source", "removed", CONSUMERS)}),
    (
        {f"{HOT}/basemessage": "https://a.example/base"},
        {(f"{HOT}/basemessage", "changed", BOTH), (f"{HOT}/envelopemetadata/source", "removed", CONSUMERS)},
    ),
    # Properties
    ({f"{TYPE}/value": "oven.HOT"}, {(TYPE, "changed", BOTH)}),
    ({f"{TYPE}/description": "which"}, {(TYPE, "changed", "editorial")}),
    ({f"{TYPE}/value": None}, {(TYPE, "changed", CONSUMERS)}),
    ({f"{SUBJECT}/value": "x"}, {(SUBJECT, "changed", PRODUCERS)}),
    ({f"{SUBJECT}/required": True}, {(SUBJECT, "changed", PRODUCERS)}),
    ({f"{SUBJECT}/type": "uri"}, {(SUBJECT, "changed", PRODUCERS)}),
    ({f"{SUBJECT}/type": "any"}, {(SUBJECT, "changed", CONSUMERS)}),
    ({f"{SUBJECT}/type": "integer"}, {(SUBJECT, "changed", BOTH)}),
    ({SUBJECT: None}, {(SUBJECT, "removed", "compatible")}),
    ({f"{LEVEL}/type": "number"}, {(LEVEL, "changed", CONSUMERS)}),
    ({f"{LEVEL}/required": False}, {(LEVEL, "changed", CONSUMERS)}),
    ({LEVEL: {"type": "number", "value": 5}}, {(LEVEL, "changed", BOTH)}),
    # Options
    ({f"{OPTIONS}/topic_name": "ovens/7"}, {(f"{OPTIONS}/topic_name", "changed", PRODUCERS)}),
    ({f"{OPTIONS}/topic_name": "ovens/{o}"}, {(f"{OPTIONS}/topic_name", "changed", "compatible")}),
    ({f"{OPTIONS}/topic_name": "boats/{oven}"}, {(f"{OPTIONS}/topic_name", "changed", BOTH)}),
    ({f"{OPTIONS}/qos": 2}, {(f"{OPTIONS}/qos", "changed", "compatible")}),
    ({f"{OPTIONS}/user_properties/1/value": "F"}, {(f"{OPTIONS}/user_properties/unit", "changed", BOTH)}),
    ({f"{HOT}/protocol": "mqtt/5.0"}, {(f"{HOT}/protocol", "changed", "editorial")}),
    ({f"{HOT}/protocol": "MQTT/3.1.1"}, {(f"{HOT}/protocol", "changed", BOTH)}),
    # Payloads
    ({f"{HOT}/dataschemauri": "#" + HEAT}, set()),
    ({f"{HOT}/datacontenttype": "application/avro"}, {(f"{HOT}/datacontenttype", "changed", BOTH)}),
    ({f"{HOT}/datacontenttype": None}, {(f"{HOT}/datacontenttype", "removed", CONSUMERS)}),
    ({f"{HOT}/dataschemauri": None}, {(f"{HOT}/dataschemauri", "removed", CONSUMERS)}),
    ({f"{HOT}/dataschemauri": "https://a.example/x"}, {(f"{HOT}/dataschemauri", "changed", BOTH)}),
    (
        {f"{HOT}/dataschemauri": "/schemagroups/s/schemas/heat/versions/0"},
        {(f"{HOT}/dataschemauri", "changed", CONSUMERS)},
    ),
    # Schemas: through references to others, Version by Version
    ({f"{HEAT}/versions/1/schema/title": "Heat"}, {(f"{HEAT}/versions/1", "changed", "compatible")}),
    (
        {"/schemagroups/s/schemas/degrees/schema": {"type": "number"}},
        {("/schemagroups/s/schemas/degrees", "changed", CONSUMERS)},
    ),
    (
        {f"{HEAT}/versions/1/schema": {"type": "array"}},
        {(f"{HEAT}/versions/1", "changed", one) for one in (PRODUCERS, CONSUMERS)},
    ),
    ({f"{HEAT}/versions/1/schemaids": [7]}, {(f"{HEAT}/versions/1/schemaids", "added", "compatible")}),
    ({f"{HEAT}/versions/0": None}, {(f"{HEAT}/versions/0", "removed", CONSUMERS)}),
    (
        {f"{HEAT}/versions/2": {"format": "JsonSchema/draft-07", "schema": {"type": "object"}}},
        {(f"{HEAT}/versions/2", "added", "compatible")},
    ),
    (
        {f"{HEAT}/meta/defaultversionid": "0"},
        {(HEAT, "changed", CONSUMERS), (f"{HEAT}/meta/defaultversionid", "changed", "compatible")},
    ),
    ({f"{HEAT}/versions/1/format": "JSONSchema/Draft-07"}, set()),
    ({f"{HEAT}/meta/compatibility": "backward"}, {(f"{HEAT}/meta/compatibility", "added", "compatible")}),
    ({f"{HEAT}/meta/deprecated": {}}, {(f"{HEAT}/meta/deprecated", "added", "compatible")}),
    # Endpoints
    ({f"{KITCHEN}/usage": ["consumer", "producer"]}, {(f"{KITCHEN}/usage", "added", "compatible")}),
    (
        {f"{KITCHEN}/usage": ["producer"]},
        {(f"{KITCHEN}/usage", "added", "compatible"), (f"{KITCHEN}/usage", "removed", BOTH)},
    ),
    ({f"{KITCHEN}/usage": "consumer"}, set()),
    ({f"{KITCHEN}/messagegroups": ["#/messagegroups/ovens"]}, set()),
    ({f"{KITCHEN}/messagegroups": []}, {(f"{KITCHEN}/messagegroups", "removed", BOTH)}),
    ({f"{KITCHEN}/protocoloptions/topic": "x"}, {(f"{KITCHEN}/protocoloptions/topic", "changed", BOTH)}),
    ({f"{KITCHEN}/protocoloptions/deployed": False}, {(f"{KITCHEN}/protocoloptions/deployed", "changed", BOTH)}),
    (
        {f"{KITCHEN}/protocoloptions/endpoints/1": {"uri": "mqtt://b.example"}},
        {(f"{KITCHEN}/protocoloptions/endpoints", "added", "compatible")},
    ),
    (
        {f"{KITCHEN}/deprecated": {"removal": "2027-01-01T00:00:00Z"}},
        {(f"{KITCHEN}/deprecated", "added", "compatible")},
    ),
]


@pytest.mark.parametrize(("places", "expected"), ROWS, ids=[", ".join(row[0]) or "nothing" for row in ROWS])
def test_changes(places: dict[str, Any], expected: set[tuple[str, str, str]]) -> None:
    if f"{KITCHEN}/protocoloptions/endpoints/1" in places:
        new = changed()
        new["endpoints"]["kitchen"]["protocoloptions"]["endpoints"].append({"uri": "mqtt://b.example"})
    else:
        new = changed(**places)
    found = differences(OLD, new)
    assert {(one.place, one.change, one.kind) for one in found} == expected
    assert all(one.reason.endswith((".", "}", "]", '"')) or " " in one.reason for one in found)


@pytest.mark.audit("messages-D1")
def test_a_reference_that_has_to_be_absolute_now_breaks_producers(tmp_path: Path) -> None:
    for name in ("urireference", "uri"):
        message = {"envelope": "CloudEvents/1.0", "envelopemetadata": {"subject": {"type": name}}}
        catalog = {"messagegroups": {"ovens": {"messages": {"hot": message}}}}
        (tmp_path / f"{name}.json").write_text(json.dumps(catalog))
    old, new = (read_source(str(tmp_path / f"{name}.json"), Settings()) for name in ("urireference", "uri"))
    assert [(one.place, one.kind) for one in differences(old, new)] == [
        (f"{HOT}/envelopemetadata/subject", "breaking for producers")
    ]
    assert [one.breaks for one in differences(new, old)] == [True]


@pytest.mark.audit("messages-D19")
def test_naming_the_envelope_that_attributes_imply_is_no_change() -> None:
    def catalog(**selector: str) -> Tree:
        message = {**selector, "envelopemetadata": {"type": {"value": "oven.hot"}}}
        return {"messagegroups": {"ovens": {"messages": {"hot": message}}}}

    assert differences(catalog(), catalog(envelope="CloudEvents/1.0")) == []
    (change,) = differences(catalog(), catalog(envelope="Bakery/2.0"))
    assert (change.place, change.kind) == (f"{HOT}/envelope", "breaking for both")


def test_the_same_catalog_has_no_changes() -> None:
    tree = read_source(str(DEMO_CATALOG), Settings())
    assert differences(tree, copy.deepcopy(tree)) == []


@pytest.mark.audit("services-A4")
def test_what_a_registry_adds_when_it_stores_a_catalog_is_no_change(tmp_path: Path) -> None:
    tree = read_source(str(DEMO_CATALOG), Settings())
    store = f"sqlite:///{tmp_path}/registry.db"
    write_target(tree, store, Settings())
    with serving(store) as (_, url):
        for kept in (store, url):
            found = differences(tree, read_source(kept, Settings()))
            assert {one.place.rpartition("/")[2] for one in found} == {"schemaids"}
            assert not any(one.breaks for one in (*found, *differences(read_source(kept, Settings()), tree)))


def test_an_option_that_is_not_the_default_counts_where_the_other_side_leaves_it_open() -> None:
    new = changed(**{f"{KITCHEN}/protocoloptions/qos": 0})
    assert differences(OLD, new) == []
    new = changed(**{f"{KITCHEN}/protocoloptions/qos": 2})
    (change,) = differences(OLD, new)
    assert (change.place, change.change, change.kind) == (f"{KITCHEN}/protocoloptions/qos", "changed", BOTH)


def test_ids_that_a_version_states_no_more_break_consumers_unless_it_states_none() -> None:
    ids = f"{HEAT}/versions/1/schemaids"
    stated = changed(**{ids: [7, 8]})
    (change,) = differences(stated, changed(**{ids: [8]}))
    assert (change.place, change.kind) == (ids, CONSUMERS)
    (change,) = differences(stated, OLD)
    assert (change.place, change.kind) == (ids, "compatible")


def test_a_copy_of_a_message_that_stood_for_another_is_no_change() -> None:
    new = copy.deepcopy(OLD)
    new["messagegroups"]["ovens"]["messages"]["lent"] = copy.deepcopy(OLD["messagegroups"]["ovens"]["messages"]["hot"])
    assert differences(OLD, new) == []


def test_what_goes_and_comes_back_mirrors() -> None:
    for places, _ in ROWS[:40]:
        if not any("endpoints/1" in place for place in places):
            there, back = differences(OLD, changed(**places)), differences(changed(**places), OLD)
            assert {one.place for one in there} == {one.place for one in back}


@pytest.mark.audit("registry-20")
def test_an_optional_member_of_an_open_object_breaks_producers_only_strictly() -> None:
    note = {"degrees": {"$ref": "/schemagroups/s/schemas/degrees"}, "note": {"type": "string"}}
    new = changed(**{f"{HEAT}/versions/1/schema/properties": note})
    assert [one.kind for one in differences(OLD, new)] == ["compatible"]
    assert [one.kind for one in differences(OLD, new, is_strict=True)] == [PRODUCERS]


def test_an_envelope_that_has_only_a_type_is_compared_attribute_by_attribute() -> None:
    def catalog(**attributes: Any) -> Tree:
        message = {"envelope": "CloudEvents/1.0", "envelopemetadata": attributes}
        return {"messagegroups": {"fleet": {"messages": {"moved": message}}}}

    place = "/messagegroups/fleet/messages/moved/envelopemetadata"
    typed, other = catalog(type={"value": "moved"}), catalog(type={"value": "sold"})
    assert [change.place for change in differences(typed, other)] == [f"{place}/type"]
    open_one = catalog(level={"value": "high", "required": False})
    assert {change.place for change in differences(open_one, typed)} == {f"{place}/type", f"{place}/level"}
