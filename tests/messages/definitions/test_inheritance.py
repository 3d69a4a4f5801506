from typing import Any

import pytest

from postroom.catalog.catalog import Catalog
from postroom.errors import DefinitionRefused
from postroom.messages.definitions.catalog_tree import Tree, find_message
from postroom.messages.definitions.inheritance import overlay, resolve


def catalog(**messages: dict[str, Any]) -> Tree:
    return {"messagegroups": {"fleet": {"envelope": "CloudEvents/1.0", "messages": messages}}}


def effective(tree: Tree, name: str) -> tuple[Tree, tuple[str, ...]]:
    entry = find_message(tree, f"/messagegroups/fleet/messages/{name}")
    assert entry is not None
    return resolve(tree, entry)


XID = "/messagegroups/fleet/messages/"


@pytest.mark.feature("MSG-016", "MSG-017", "MSG-018", "MSG-021")
@pytest.mark.parametrize("attribute", ["basemessage", "basemessageuri", "basemessageurl"])
def test_a_chain_is_merged_deeply_under_any_of_the_three_names(attribute: str) -> None:
    tree = catalog(
        vehicle={"envelopemetadata": {"source": {"value": "/v/{vin}", "required": True}}, "labels": {"a": "b"}},
        telemetry={attribute: XID + "vehicle", "envelopemetadata": {"subject": {"value": "telemetry"}}},
        position={attribute: XID + "telemetry", "envelopemetadata": {"source": {"description": "who"}}},
    )
    message, bases = effective(tree, "position")
    assert message["envelopemetadata"] == {
        "source": {"value": "/v/{vin}", "required": True, "description": "who"},
        "subject": {"value": "telemetry"},
    }
    assert bases == (XID + "telemetry", XID + "vehicle")
    assert "labels" not in message
    assert message["envelope"] == "CloudEvents/1.0"


@pytest.mark.feature("MSG-015")
@pytest.mark.parametrize(
    "reference", [XID + "missing", "https://elsewhere.example/messagegroups/g/messages/m", "#/nothing"]
)
def test_a_base_that_is_missing_is_no_error(reference: str) -> None:
    assert effective(catalog(position={"basemessage": reference}), "position")[1] == ()


@pytest.mark.feature("MSG-016")
def test_a_circle_is_refused_and_shown() -> None:
    tree = catalog(a={"basemessage": XID + "b"}, b={"basemessage": XID + "a"})
    with pytest.raises(DefinitionRefused, match=r"circle: .*a → .*b → .*a"):
        effective(tree, "a")


@pytest.mark.feature("MSG-018", "MSG-019")
@pytest.mark.parametrize(
    ("base", "derived", "expected"),
    [
        ({"x": {"a": 1, "b": 2}}, {"x": {"b": 3}}, {"x": {"a": 1, "b": 3}}),
        ({"x": {"a": 1}}, {"x": 5}, {"x": 5}),
        ({"x": [1, 2]}, {"x": [3]}, {"x": [3]}),
        ({"protocol": "KAFKA", "protocoloptions": {"topic": "t"}}, {"protocol": "NATS"}, {"protocol": "NATS"}),
        (
            {"protocol": "KAFKA", "protocoloptions": {"topic": "t"}},
            {"protocol": "kafka"},
            {"protocol": "kafka", "protocoloptions": {"topic": "t"}},
        ),
        ({"envelope": "X/1", "envelopemetadata": {"a": {}}}, {"envelope": "Y/1"}, {"envelope": "Y/1"}),
        ({"dataschemauri": "/a"}, {"dataschema": {}}, {"dataschema": {}}),
        ({"epoch": 5, "xid": "/x", "createdat": "t", "versionid": "1"}, {}, {}),
    ],
)
def test_overlay_rules_c25(base: Tree, derived: Tree, expected: Tree) -> None:
    assert overlay(base, derived) == expected


def test_nested_attributes_are_unwrapped_c03_and_misplaced_ones_moved_c02() -> None:
    tree = catalog(
        nested={"envelopemetadata": {"attributes": {"type": {"value": "t"}}}},
        misplaced={"envelopeoptions": {"type": {"value": "t"}}},
        real={"envelopeoptions": {"mode": "binary"}, "envelopemetadata": {"attributes": {"value": "x"}}},
    )
    assert effective(tree, "nested")[0]["envelopemetadata"] == {"type": {"value": "t"}}
    assert effective(tree, "misplaced")[0]["envelopemetadata"] == {"type": {"value": "t"}}
    assert effective(tree, "real")[0]["envelopemetadata"] == {"attributes": {"value": "x"}}


def test_every_constraint_knows_which_message_declares_it() -> None:
    tree = catalog(
        vehicle={"envelopemetadata": {"source": {"value": "/v/{vin}"}, "type": {"value": "base"}}},
        position={"basemessage": XID + "vehicle", "envelopemetadata": {"type": {"value": "position"}}},
    )
    opened = Catalog(tree)
    (position,) = (d for d in opened.definitions if d.id == "position")
    origins = {constraint.path[0]: constraint.origin for constraint in position.envelope_constraints}
    implied = dict.fromkeys(("specversion", "id", "time", "subject", "dataschema"), "")
    assert origins == {"source": XID + "vehicle", "type": "", **implied}
    event = {"specversion": "1.0", "id": "1", "source": "/boats/9", "type": "position"}
    assert f"(so says its base {XID}vehicle)" in opened.explain(opened.match(event))
