"""What lint says about definitions as filters is what the engine does with messages."""

from __future__ import annotations

import pytest

from postroom.catalog.catalog import Catalog
from tests.documents.lint.catalogs import CLEAN, GROUP, MOVED, POSITION, Tree, lint, spoilt, with_second

STOPPED = f"{GROUP}/messages/vehicle.stopped"
TWIN: Tree = CLEAN["messagegroups"]["fleet"]["messages"]["vehicle.moved"]
SPEED: Tree = {"type": "object", "required": ["speed"], "properties": {"speed": {"type": "number"}}}


def outcome(tree: Tree, message: str, **data: float) -> tuple[str, str | None]:
    catalog = Catalog(tree)
    match = catalog.match(catalog.message(message).make(vin="7", data=data))
    return match.outcome, match.message


def codes(tree: Tree) -> set[str]:
    return {finding.code for finding in lint(tree)}


@pytest.mark.feature("MSG-128")
def test_messages_of_a_shadowed_base_land_in_the_derived_one() -> None:
    tree = with_second({"basemessage": MOVED, "description": "The same."})
    assert "definition_shadowed" in codes(tree)
    assert outcome(tree, MOVED, lat=1.5) == ("landed", STOPPED)


def test_a_base_on_its_own_protocol_is_not_shadowed() -> None:
    tree = with_second({"basemessage": MOVED, "protocol": "NATS", "protocoloptions": {"subject": "stop.{vin}"}})
    assert "definition_shadowed" not in codes(tree)
    assert outcome(tree, MOVED, lat=1.5) == ("landed", MOVED)


def test_messages_of_twins_are_ambiguous() -> None:
    tree = with_second(TWIN)
    assert "always_ambiguous" in codes(tree)
    assert outcome(tree, MOVED, lat=1.5)[0] == "ambiguous"


def test_placeholders_by_another_name_make_no_difference() -> None:
    renamed = {
        **TWIN,
        "envelopemetadata": {
            "type": {"value": "vehicle.moved"},
            "source": {"type": "uritemplate", "value": "/vehicles/{door}"},
            "time": {"type": "timestamp", "value": "0000-01-01T00:00:00Z"},
        },
        "protocoloptions": {"topic_name": "vehicles/{door}/moved"},
    }
    tree = with_second(renamed)
    assert "always_ambiguous" in codes(tree)
    assert outcome(tree, MOVED, lat=1.5)[0] == "ambiguous"


def test_a_twin_that_says_less_gets_no_message() -> None:
    said = {name: value for name, value in TWIN["envelopemetadata"].items() if name != "time"}
    tree = with_second({**TWIN, "envelopemetadata": said})
    assert [finding.pointer for finding in lint(tree) if finding.code == "definition_shadowed"] == [STOPPED]
    assert outcome(tree, STOPPED, lat=1.5) == ("landed", MOVED)


@pytest.mark.feature("MSG-129")
def test_messages_that_only_the_schema_tells_apart_land() -> None:
    second = {name: value for name, value in TWIN.items() if name != "dataschemauri"}
    strict = {**POSITION, "additionalProperties": False}
    tree = with_second({**second, "dataschema": {**SPEED, "additionalProperties": False}})
    tree["schemagroups"]["fleet.schemas"]["schemas"]["position"]["versions"]["1"]["schema"] = strict
    assert {"decided_by_schema"} == codes(tree) - {"type_shared", "type_id_mismatch"}
    assert outcome(tree, MOVED, lat=1.5) == ("landed", MOVED)
    assert outcome(tree, STOPPED, speed=1.5) == ("landed", STOPPED)


def test_a_message_that_asks_for_more_is_not_a_twin() -> None:
    more = {**TWIN, "envelopemetadata": {**TWIN["envelopemetadata"], "color": {"value": "red"}}}
    tree = with_second(more)
    assert not {"always_ambiguous", "decided_by_schema"} & codes(tree)
    assert outcome(tree, MOVED, lat=1.5) == ("landed", MOVED)
    assert outcome(tree, STOPPED, lat=1.5) == ("landed", STOPPED)


def test_twins_on_different_protocols_are_no_twins() -> None:
    first = {name: value for name, value in TWIN.items() if not name.startswith("protocol")}
    tree = spoilt({})
    del tree["endpoints"]
    tree["messagegroups"]["fleet"]["messages"] = {
        "vehicle.moved": first,
        "vehicle.moved.nats": {**first, "protocol": "NATS", "protocoloptions": {"subject": "moved"}},
    }
    assert "always_ambiguous" not in codes(tree)


@pytest.mark.audit("messages-D2")
def test_payload_only_messages_of_different_content_types_are_not_ambiguous() -> None:
    def found(first: str, second: str) -> set[str]:
        messages = {"a": {"datacontenttype": first}, "b": {"datacontenttype": second}}
        return codes({"messagegroups": {"g": {"messages": messages}}})

    assert "always_ambiguous" in found("text/csv", "text/csv")
    assert "always_ambiguous" not in found("text/csv", "application/json")
    assert "always_ambiguous" not in found("text/csv; profile=a", "text/csv; profile=b")


@pytest.mark.audit("registry-24")
@pytest.mark.parametrize(
    ("header", "sent", "alike"), [("/a/b/c", "/a/b/c", True), ("/a/{x}/{y}", "/a/b/c", True), ("/b/{x}", "/b/c", False)]
)
def test_templates_are_alike_where_the_last_placeholder_takes_a_slash(header: str, sent: str, alike: bool) -> None:
    message: Tree = {
        "envelope": "CloudEvents/1.0",
        "envelopemetadata": {"type": {"value": "t"}, "source": {"type": "uritemplate", "value": "/a/{where}"}},
        "envelopeoptions": {"mode": "binary"},
        "protocol": "KAFKA",
        "protocoloptions": {"headers": {"ce_source": {"type": "uritemplate", "value": header}}},
    }
    tree = {"messagegroups": {"g": {"messages": {"t": message}}}}
    headers = {"ce_specversion": "1.0", "ce_id": "1", "ce_type": "t", "ce_source": sent}
    match = Catalog(tree).match({"protocol": "KAFKA", "metadata": {"headers": headers}})
    assert (match.outcome == "landed") == alike
    assert ("templates_never_alike" in codes(tree) or "definition_impossible" in codes(tree)) != alike
