"""The matching rules of DESIGN, one table each."""

import json
from typing import Any

import pytest

from postroom.catalog.catalog import Catalog

EVENT = {"specversion": "1.0", "id": "1", "source": "/vehicles/7", "type": "position"}


def open_with(groups: dict[str, Any], **more: Any) -> Catalog:
    return Catalog({"messagegroups": groups, **more})


def message(attributes: dict[str, Any] | None = None, **rest: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"envelope": "CloudEvents/1.0", **rest}
    if attributes is not None:
        made["envelopemetadata"] = attributes
    return made


def kafka(topic: str = "t", key: str | None = None, **attributes: Any) -> dict[str, Any]:
    headers = {"ce_" + name: value for name, value in {**EVENT, **attributes}.items() if value is not None}
    metadata: dict[str, Any] = {"topic": topic, "headers": headers}
    if key is not None:
        metadata["key"] = key
    return {"protocol": "KAFKA", "metadata": metadata, "payload": "{}"}


def outcome(catalog: Catalog, record: Any) -> tuple[str, str | None, list[str]]:
    match = catalog.match(record)
    return match.outcome, (match.message or "").rpartition("/")[2] or None, [reason.code for reason in match.reasons]


VEHICLES = open_with(
    {
        "g": {
            "messages": {
                "position": message(
                    {
                        "type": {"value": "position"},
                        "source": {"type": "uritemplate", "value": "/vehicles/{vin}"},
                        "subject": {"type": "uritemplate", "value": "{vin}"},
                        "level": {"type": "integer", "required": True},
                        "time": {"type": "timestamp", "value": "0000-01-01T00:00:00Z"},
                    }
                )
            }
        }
    }
)
GOOD = {"subject": "7", "level": "3"}


@pytest.mark.feature("MSG-045", "MSG-047", "MSG-049", "MSG-056", "MSG-058", "MSG-128")
@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, ("landed", "position", [])),
        ({"time": "2026-11-15T20:00:00Z"}, ("landed", "position", [])),
        ({"time": "yesterday"}, ("invalid", "position", ["type_mismatch"])),
        ({"source": "/boats/7"}, ("invalid", "position", ["template_mismatch"])),
        ({"subject": "8"}, ("invalid", "position", ["variable_conflict"])),
        ({"level": None}, ("invalid", "position", ["required_missing"])),
        ({"level": "high"}, ("invalid", "position", ["type_mismatch"])),
        ({"id": None}, ("invalid", "position", ["required_missing"])),
        ({"specversion": "0.3"}, ("invalid", "position", ["constant_mismatch"])),
        ({"extra": "allowed"}, ("landed", "position", [])),
        ({"type": "positron"}, ("unmatched", None, ["constant_mismatch"])),
        ({"type": "invoice"}, ("unmatched", None, ["no_definition"])),
    ],
)
def test_fitting_attribute_by_attribute(changed: dict[str, Any], expected: tuple[str, str, list[str]]) -> None:
    assert outcome(VEHICLES, kafka(**{**GOOD, **changed})) == expected


def test_variables_are_bound_once_over_the_whole_message() -> None:
    assert VEHICLES.match(kafka(**GOOD)).variables == {"vin": "7"}


TRANSPORTS = open_with(
    {
        "g": {
            "messages": {
                "neutral": message({"type": {"value": "position"}}),
                "on-kafka": message(
                    {"type": {"value": "position"}},
                    protocol="KAFKA",
                    protocoloptions={"topic": "fleet.{depot}", "key": {"value": "{vin}", "required": False}},
                ),
                "on-mqtt": message(
                    {"type": {"value": "position"}},
                    protocol="MQTT/5.0",
                    protocoloptions={"topic_name": "fleet/{depot}", "qos": 1, "retain": True},
                ),
            }
        }
    }
)


def mqtt(topic: str, **metadata: Any) -> dict[str, Any]:
    properties = [{"name": name, "value": value} for name, value in EVENT.items()]
    return {"protocol": "MQTT/5.0", "metadata": {"topic_name": topic, "user_properties": properties, **metadata}}


@pytest.mark.feature("MSG-074", "MSG-075")
@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (kafka("fleet.oslo"), "on-kafka"),
        (kafka("other"), "neutral"),
        (mqtt("fleet/oslo"), "on-mqtt"),
        (mqtt("fleet/oslo", qos=0, retain=False), "on-mqtt"),
        (mqtt("fleet/oslo/7"), "neutral"),
        (EVENT, "neutral"),
    ],
)
def test_protocol_bound_over_neutral(record: Any, expected: str) -> None:
    assert outcome(TRANSPORTS, record) == ("landed", expected, [])


BASE = "/messagegroups/g/messages/"
DERIVED = open_with(
    {
        "g": {
            "messages": {
                "any": message({"source": {"value": "/vehicles/{vin}", "type": "uritemplate"}}),
                "position": message({"type": {"value": "position"}}, basemessage=BASE + "any"),
                "precise": message(
                    {"type": {"value": "position"}, "subject": {"value": "gps"}}, basemessage=BASE + "position"
                ),
            }
        }
    }
)


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"subject": "gps"}, ("landed", "precise", [])),
        ({}, ("landed", "position", [])),
        ({"type": "battery"}, ("landed", "any", [])),
        # A position that is wrong is measured against the closest definition, and the base that fixes no type,
        # which it would fit, does not take it.
        ({"source": "/vehicles/7", "id": None, "subject": "gps"}, ("invalid", "precise", ["required_missing"] * 2)),
    ],
)
def test_derived_over_base(attributes: dict[str, Any], expected: tuple[str, str, list[str]]) -> None:
    assert outcome(DERIVED, kafka(**attributes)) == expected


def test_a_violated_definition_does_not_lose_its_messages_to_a_base_without_type() -> None:
    catalog = open_with(
        {
            "g": {
                "messages": {
                    "any": message({"source": {"value": "/vehicles/{vin}", "type": "uritemplate"}}),
                    "trip": message(
                        {"type": {"value": "trip"}, "subject": {"required": True}}, basemessage=BASE + "any"
                    ),
                }
            }
        }
    )
    assert outcome(catalog, kafka(type="trip")) == ("invalid", "trip", ["required_missing"])
    assert outcome(catalog, kafka(type="other")) == ("landed", "any", [])


def test_a_superset_of_constraints_wins_over_a_subset() -> None:
    catalog = open_with(
        {
            "g": {
                "messages": {
                    "loose": message({"type": {"value": "position"}}),
                    "tight": message({"type": {"value": "position"}, "source": {"value": "/vehicles/7"}}),
                }
            }
        }
    )
    assert outcome(catalog, kafka()) == ("landed", "tight", [])
    assert outcome(catalog, kafka(source="/other")) == ("landed", "loose", [])


@pytest.mark.feature("MSG-129")
def test_payload_schemas_decide_between_equals_else_it_is_ambiguous() -> None:
    def typed(kind: str) -> dict[str, Any]:
        schema = {"type": "object", "properties": {"v": {"type": kind}}, "required": ["v"]}
        return message({"type": {"value": "position"}}, dataschemaformat="JsonSchema/draft-07", dataschema=schema)

    catalog = open_with(
        {"g": {"messages": {"text": typed("string"), "whole": typed("integer"), "any": typed("number")}}}
    )
    record = kafka()
    assert outcome(catalog, {**record, "payload": '{"v": "x"}'}) == ("landed", "text", [])
    found, message_id, codes = outcome(catalog, {**record, "payload": '{"v": 1}'})
    assert (found, message_id, codes) == ("ambiguous", None, ["fits_as_well", "fits_as_well", "payload_type"])


@pytest.mark.feature("MSG-076")
def test_without_an_envelope_the_channel_addresses() -> None:
    catalog = open_with(
        {
            "g": {
                "messages": {
                    "sale": {
                        "protocol": "MQTT/5.0",
                        "protocoloptions": {
                            "topic_name": "store/{store}/desk/{desk}",
                            "user_properties": [{"name": "kind", "value": "sale", "required": True}],
                        },
                    }
                }
            }
        }
    )

    def record(topic: str, kind: str) -> dict[str, Any]:
        properties = [{"name": "kind", "value": kind}]
        return {
            "protocol": "MQTT/5.0",
            "metadata": {"topic_name": topic, "user_properties": properties},
            "payload": "x",
        }

    assert catalog.match(record("store/4/desk/2", "sale")).variables == {"store": "4", "desk": "2"}
    assert outcome(catalog, record("store/4/desk/2", "return")) == ("invalid", "sale", ["constant_mismatch"])
    assert outcome(catalog, record("warehouse/1", "sale"))[0] == "unmatched"


PAYMENT = {
    "protocol": "KAFKA",
    "protocoloptions": {"topic": "t"},
    "dataschemaformat": "JsonSchema/draft-07",
    "dataschema": {"type": "object", "required": ["cents"]},
}
HEADED = {**PAYMENT, "protocoloptions": {"topic": "t", "headers": [{"name": "kind", "value": "p", "required": True}]}}
POSITION = message({"type": {"value": "position"}})
PLACED = message({"type": {"value": "position"}, "source": {"value": "/boats"}})
ANY_EVENT = {**message({"subject": {"required": True}}), "dataschemaformat": "JsonSchema/draft-07", "dataschema": False}
INVALID_ANY = ("invalid", "any", ["payload_false_schema"])
LIKE_POSITION = ("unmatched", None, ["constant_mismatch", "payload_required"])
UNKNOWN = ("unmatched", None, ["no_definition", "payload_required"])


@pytest.mark.parametrize("mode", ["binary", "structured"])
@pytest.mark.parametrize(
    ("definitions", "event", "data", "expected"),
    [
        ({"payment": PAYMENT}, {"type": "parcel"}, "{}", UNKNOWN),
        ({"payment": PAYMENT, "position": POSITION}, {"type": "parcel"}, "{}", UNKNOWN),
        ({"payment": PAYMENT}, {"type": "parcel"}, '{"cents": 5}', ("landed", "payment", [])),
        ({"payment": HEADED}, {"type": "parcel"}, "{}", ("unmatched", None, ["no_definition"])),
        ({"payment": PAYMENT, "position": POSITION}, {"type": "positron"}, "{}", LIKE_POSITION),
        # A type that is known means its own definition, never the other one, whatever the payload is.
        ({"payment": PAYMENT, "position": POSITION}, {}, "{}", ("landed", "position", [])),
        ({"payment": PAYMENT, "position": PLACED}, {}, "{}", ("invalid", "position", ["constant_mismatch"])),
        ({"payment": PAYMENT, "any": ANY_EVENT}, {"type": "parcel", "subject": "s"}, "{}", INVALID_ANY),
    ],
)  # fmt: skip
def test_an_event_is_never_invalid_by_a_definition_without_an_envelope(
    definitions: dict[str, Any], event: dict[str, Any], data: str, expected: Any, mode: str
) -> None:
    catalog = open_with({"g": {"messages": definitions}})
    record = {**kafka(**event), "payload": data}
    if mode == "structured":
        content = {**EVENT, **event, "data": json.loads(data)}
        headers = {"content-type": "application/cloudevents+json"}
        record = {**record, "metadata": {"topic": "t", "headers": headers}, "payload": json.dumps(content)}
    found = outcome(catalog, record)
    assert found == expected
    if found[0] == "unmatched":
        assert catalog.match(record).reasons[0].found == event["type"]


def test_a_message_without_an_envelope_is_still_invalid_by_its_channel() -> None:
    catalog = open_with({"g": {"messages": {"payment": PAYMENT}}})
    record = {"protocol": "KAFKA", "metadata": {"topic": "t"}, "payload": "{}"}
    assert outcome(catalog, record) == ("invalid", "payment", ["payload_required"])


def test_the_protocol_literal_none_takes_any() -> None:
    catalog = open_with({"g": {"messages": {"m": message({"type": {"value": "position"}}, protocol="None")}}})
    assert outcome(catalog, kafka())[0] == "landed"


def test_another_protocol_is_a_near_miss() -> None:
    catalog = open_with({"g": {"messages": {"m": message({"type": {"value": "position"}}, protocol="NATS")}}})
    assert outcome(catalog, kafka()) == ("unmatched", None, ["protocol_mismatch"])


def test_content_type_and_schema_are_taken_from_the_definition_when_absent() -> None:
    attributes = {
        "type": {"value": "position"},
        "datacontenttype": {"value": "application/json", "required": True},
        "dataschema": {"value": "https://example.com/s", "required": True},
    }
    catalog = open_with({"g": {"messages": {"m": message(attributes)}}})
    assert outcome(catalog, kafka())[0] == "landed"
    assert outcome(catalog, kafka(dataschema="https://example.com/other"))[0] == "invalid"
    record = kafka()
    record["metadata"]["headers"]["content-type"] = "Application/JSON; charset=utf-8"
    assert outcome(catalog, record)[0] == "landed"


def test_an_xref_is_its_target_and_never_competes() -> None:
    catalog = open_with(
        {
            "g": {"messages": {"m": message({"type": {"value": "position"}})}},
            "h": {"messages": {"m": {"meta": {"xref": "/messagegroups/g/messages/m"}}}},
        }
    )
    assert catalog.match(kafka()).message == "/messagegroups/g/messages/m"


def test_a_misspelt_type_finds_its_neighbour_among_very_many() -> None:
    types = [f"shop.thing{number:04}.placed" for number in range(2_000)]
    messages = {f"m{number}": message({"type": {"value": kind}}) for number, kind in enumerate(types)}
    catalog = open_with({"g": {"messages": messages}})
    found = catalog.match({**EVENT, "type": "shop.thing0700.placd"})
    assert found.outcome == "unmatched"
    assert found.reasons[0].expected == "shop.thing0700.placed"
