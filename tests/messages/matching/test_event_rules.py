"""What CloudEvents demands of every event holds, whatever a definition leaves out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from postroom.catalog.catalog import Catalog
from postroom.errors import MakeRefused
from postroom.messages.engine import Engine
from postroom.messages.matching.columnar import LandedEvents

EVENT = {"specversion": "1.0", "id": "1", "source": "/s", "type": "t"}
CATALOG = Catalog(
    {
        "messagegroups": {
            "g": {
                "messages": {
                    "m": {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "t"}}},
                    "store": {
                        "envelope": "CloudEvents/1.0",
                        "envelopemetadata": {
                            "type": {"value": "sale"},
                            "source": {"type": "uritemplate", "value": "{storeid}"},
                        },
                    },
                }
            }
        }
    }
)
BROKEN = [
    ({"id": ""}, "event_rule"),
    ({"source": ""}, "event_rule"),
    ({"source": "a b"}, "event_rule"),
    ({"source": "http://[::1"}, "event_rule"),
    ({"source": "/caf\u00e9"}, "event_rule"),
    ({"subject": ""}, "event_rule"),
    ({"dataschema": "rel/path"}, "event_rule"),
    ({"dataschema": ""}, "event_rule"),
    ({"my_ext": "x"}, "attribute_name"),
    ({"MyExt": "x"}, "attribute_name"),
    ({"type": "sale", "source": "a b"}, "event_rule"),
]
SOUND = [
    {},
    {"id": " "},
    {"source": "urn:x:y"},
    {"source": "//host/a?b#c"},
    {"source": "/a%20b"},
    {"source": "/subscriptions/{id}"},
    {"subject": "any text"},
    {"dataschema": "https://example.com/s"},
    {"dataschema": "urn:s"},
    {"myext20": "x"},
]


def kafka(event: dict[str, Any]) -> dict[str, Any]:
    """The same event in binary mode."""
    headers = {f"ce_{name}": value for name, value in event.items()}
    return {"protocol": "KAFKA", "metadata": {"topic": "t", "headers": headers}, "payload": "{}"}


@pytest.mark.audit("messages-D10")
@pytest.mark.feature("MSG-055", "MSG-056")
@pytest.mark.parametrize(("changed", "code"), BROKEN, ids=str)
def test_an_event_that_breaks_a_rule_of_cloudevents_does_not_land(changed: dict[str, Any], code: str) -> None:
    event = {**EVENT, **changed}
    records = [event] if "MyExt" in changed else [event, kafka(event)]  # headers are read without regard to case
    for record in records:
        match = CATALOG.match(record)
        assert (match.outcome, [reason.code for reason in match.reasons]) == ("invalid", [code])
    assert accepted([event, *records]) == 0


@pytest.mark.audit("messages-D10")
@pytest.mark.parametrize("changed", SOUND, ids=str)
def test_an_event_that_keeps_the_rules_of_cloudevents_lands(changed: dict[str, Any]) -> None:
    event = {**EVENT, **changed}
    assert [CATALOG.match(record).outcome for record in (event, kafka(event))] == ["landed", "landed"]


def accepted(records: list[dict[str, Any]]) -> int:
    """How many records the columnar judge accepts."""
    groups: list[LandedEvents] = []
    list(Engine(CATALOG.compiled).judge([json.dumps(record).encode() for record in records], groups.append))
    return sum(len(group.rows) for group in groups)


@pytest.mark.audit("messages-D10")
def test_the_columnar_judge_accepts_what_keeps_the_rules() -> None:
    # An attribute that no definition names is always judged exactly, and so is a source with something to decode.
    assert accepted([{**EVENT, **changed} for changed in SOUND]) == len(SOUND) - 1


@pytest.mark.audit("messages-D10")
@pytest.mark.parametrize("given", [{"id": ""}, {"source": "a b"}, {"subject": ""}, {"dataschema": "x"}], ids=str)
def test_make_refuses_values_that_break_a_rule(given: dict[str, str]) -> None:
    with pytest.raises(MakeRefused, match="in every CloudEvent"):
        CATALOG.message("m").make(given)


@pytest.mark.audit("messages-D10")
@pytest.mark.parametrize(
    ("value", "source"),
    [
        ("a b \u00e9", "a%20b%20%C3%A9"),
        ("https://example.com/x?y#z", "https://example.com/x?y#z"),
        ("100%", "100%25"),
        ("[#a#]", "%5B%23a%23%5D"),
    ],
)
def test_a_placeholder_alone_makes_a_source_that_is_a_uri_reference(value: str, source: str) -> None:
    for _ in range(2):  # the second is made by the compiled template
        made = CATALOG.message("store").make({"storeid": value})
        assert made["source"] == source
        assert CATALOG.match(made).variables == {"storeid": value}


@pytest.mark.audit("messages-D10", "messages-D11")
def test_a_schema_that_a_definition_demands_and_leaves_open_is_made_as_a_uri() -> None:
    attributes = {"type": {"value": "t"}, "dataschema": {"required": True}}
    message = {"envelope": "CloudEvents/1.0", "envelopemetadata": attributes}
    made = Catalog({"messagegroups": {"g": {"messages": {"m": message}}}}).message("m").make()
    assert CATALOG.match(made).outcome == "landed", "here CloudEvents rules what no definition declares"


@pytest.mark.audit("messages-D10")
def test_user_properties_beside_an_event_may_have_any_name() -> None:
    properties = [{"name": name, "value": value} for name, value in {**EVENT, "my_ext": "x"}.items()]
    record = {"protocol": "MQTT/5.0", "metadata": {"topic_name": "t", "user_properties": properties}}
    assert CATALOG.match(record).outcome == "landed"


@pytest.mark.audit("messages-D14")
@pytest.mark.feature("MSG-084")
@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("ulong", [0, 5, "7"], ["x", -1, 1.5, "-1", 2**64]),
        ("uuid", ["5f0c1b1e-6d3c-4b9a-9d3b-2f6f6f6f6f6f"], ["x", 5]),
    ],
)
def test_the_message_id_of_amqp_has_the_type_that_is_declared(kind: str, good: list[Any], bad: list[Any]) -> None:
    options = {"properties": {"to": "q", "message-id": {"type": kind, "required": True}}}
    catalog = Catalog(
        {"messagegroups": {"g": {"messages": {"m": {"protocol": "AMQP/1.0", "protocoloptions": options}}}}}
    )

    def outcome(value: Any) -> str:
        metadata = {"properties": {"to": "q", "message-id": value}}
        return catalog.match({"protocol": "AMQP/1.0", "metadata": metadata}).outcome

    assert [outcome(value) for value in good] == ["landed"] * len(good)
    assert [outcome(value) for value in bad] == ["invalid"] * len(bad)
    made = catalog.message("m").make()
    assert catalog.match(made).outcome == "landed"
