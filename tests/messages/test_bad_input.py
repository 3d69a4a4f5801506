"""Whatever comes: an outcome with a reason, never an exception, and no more work than the input is long."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postroom.catalog.catalog import Catalog
from postroom.messages.matching.outcome import OUTCOMES

EVENT: dict[str, Any] = {
    "specversion": "1.0", "id": "1", "source": "/ovens/7", "type": "heat", "subject": "7", "zone": "nord",
    "data": {"celsius": 5},
}  # fmt: skip
MESSAGES = {
    "heat": {
        "envelope": "CloudEvents/1.0",
        "envelopemetadata": {
            "type": {"value": "heat"},
            "source": {"type": "uritemplate", "value": "/ovens/{oven}"},
            "subject": {"value": "{oven}"},
            "zone": {"value": "nord"},
        },
        "dataschemaformat": "JsonSchema/draft-07",
        "dataschema": {"type": "object", "properties": {"celsius": {"type": "integer"}}},
    },
    "door": {
        "protocol": "MQTT/5.0",
        "protocoloptions": {
            "topic_name": "ovens/{oven}/door/{side}",
            "user_properties": [{"name": "kind", "value": "{kind}"}],
        },
        "envelope": "CloudEvents/1.0",
        "envelopemetadata": {"type": {"value": "door"}, "source": {"value": "/ovens/{oven}-{side}"}},
    },
    "shelf": {"protocol": "KAFKA", "protocoloptions": {"topic": "shelf", "key": "{a}-{b}-{c}-{d}!"}},
}
CATALOG = Catalog({"messagegroups": {"bakery": {"messages": MESSAGES}}})


def kafka(**attributes: Any) -> dict[str, Any]:
    headers = {
        f"ce_{name}": value for name, value in {**EVENT, "data": None, **attributes}.items() if value is not None
    }
    return {"protocol": "KAFKA", "metadata": {"topic": "t", "headers": headers}, "payload": "{}"}


def http(**attributes: Any) -> dict[str, Any]:
    headers = [
        {"name": f"ce-{name}", "value": value} for name, value in {**EVENT, **attributes}.items() if name != "data"
    ]
    return {"protocol": "HTTP", "metadata": {"headers": headers}, "payload": "{}"}


GOOD = json.dumps(EVENT)


@pytest.mark.parametrize("length", range(1, len(GOOD), 7))
def test_truncated_json_is_malformed(length: int) -> None:
    match = CATALOG.match(GOOD[:length])
    assert (match.outcome, match.reasons[0].code) == ("malformed", "record_broken")
    structured = {"protocol": "KAFKA", "metadata": {"headers": {"content-type": "application/cloudevents+json"}}}
    match = CATALOG.match({**structured, "payload": GOOD[:length]})
    assert (match.outcome, match.reasons[0].code) == ("malformed", "event_broken")


SENT: list[tuple[str, Any, str, str]] = [
    ("another specversion", {**EVENT, "specversion": "0.3"}, "malformed", "specversion_unknown"),
    ("a number for specversion", {**EVENT, "specversion": 1.0}, "malformed", "specversion_unknown"),
    ("another specversion in headers", kafka(specversion="0.3"), "invalid", "constant_mismatch"),
    ("no id", {name: value for name, value in EVENT.items() if name != "id"}, "invalid", "required_missing"),
    ("no id in headers", kafka(id=None), "invalid", "required_missing"),
    ("no source", {name: value for name, value in EVENT.items() if name != "source"}, "invalid", "required_missing"),
    ("an empty source", {**EVENT, "source": ""}, "invalid", "template_mismatch"),
    ("an empty value of a placeholder", {**EVENT, "source": "/ovens/"}, "invalid", "template_mismatch"),
    ("an empty placeholder alone", {**EVENT, "subject": ""}, "invalid", "template_mismatch"),
    ("a broken escape", {**EVENT, "source": "/ovens/%zz", "subject": "%zz"}, "invalid", "event_rule"),
    ("half an escape", {**EVENT, "source": "/ovens/%", "subject": "%"}, "invalid", "event_rule"),
    ("an escape that is no UTF-8", {**EVENT, "source": "/ovens/%ff"}, "invalid", "variable_conflict"),
    ("a look-alike", {**EVENT, "source": "/οvens/7"}, "invalid", "template_mismatch"),
    ("a look-alike of the type", {**EVENT, "type": "hеat"}, "unmatched", "constant_mismatch"),
    ("a fullwidth digit", {**EVENT, "subject": "７"}, "invalid", "variable_conflict"),
    ("a composed letter", {**EVENT, "zone": "no\u0308rd"}, "invalid", "constant_mismatch"),
    ("a line end after a constant", {**EVENT, "zone": "nord\n"}, "invalid", "constant_mismatch"),
    ("an object for an attribute", {**EVENT, "zone": {"a": 1}}, "invalid", "constant_mismatch"),
    ("a list for the type", {**EVENT, "type": ["heat"]}, "unmatched", "no_definition"),
    # What no definition declares is not looked at, however it is called: MQTT carries other properties beside.
    ("names that CloudEvents forbids", {**EVENT, "Not_A-Name": "x", "": "y", "é": 1}, "invalid", "attribute_name"),
    ("data that is no JSON", {**kafka(), "payload": "{"}, "invalid", "payload_not_json"),
    ("data in broken base64", {**EVENT, "data": None, "data_base64": "%"}, "malformed", "event_broken"),
    ("a number beyond the column", {**EVENT, "data": {"celsius": 2**70}}, "invalid", "column_mismatch"),
    ("a number that no float holds", GOOD.replace("5}", "1e999}").encode(), "invalid", ""),
    ("bytes that are no UTF-8", GOOD.encode().replace(b"heat", b"h\xffat"), "malformed", "event_broken"),
    ("bytes in headers that are no UTF-8", kafka(subject=b"\xff"), "malformed", "record_broken"),
    ("escapes in headers that are no UTF-8", http(subject="%ff"), "", ""),
    ("a NUL", {**EVENT, "source": "/ovens/\x00", "subject": "\x00"}, "invalid", "event_rule"),
    ("a protocol nobody knows", {"protocol": "PIGEON", "metadata": {"a": 1}}, "unmatched", "no_definition"),
    ("headers of no shape", {"protocol": "KAFKA", "metadata": {"headers": 7}}, "unmatched", "required_missing"),
    ("pairs without names", {"protocol": "HTTP", "metadata": {"headers": [{}, 1, None]}}, "unmatched", "no_definition"),
    ("two payloads", {"protocol": "KAFKA", "payload": "", "payload_base64": ""}, "malformed", "record_broken"),
]  # fmt: skip


@pytest.mark.parametrize(("record", "outcome", "code"), [row[1:] for row in SENT], ids=[row[0] for row in SENT])
def test_there_is_an_outcome_and_a_reason(record: Any, outcome: str, code: str) -> None:
    match = CATALOG.match(record)
    assert match.outcome in ([outcome] if outcome else OUTCOMES)
    assert (match.outcome == "landed") == (not match.reasons)
    if code:
        assert match.reasons[0].code == code
    assert CATALOG.explain(match)


LONG = 1_000_000


@pytest.mark.parametrize(
    "text", ["x" * LONG, "/" * LONG, "%2F" * (LONG // 3), "%" * LONG, "x-" * (LONG // 2), "é" * LONG]
)
@pytest.mark.parametrize("attribute", ["source", "subject", "id", "type", "extra", "time", "datacontenttype"])
def test_headers_of_a_megabyte(attribute: str, text: str) -> None:
    # Were anything quadratic in the length, this would take days.
    for record in ({**EVENT, attribute: text}, kafka(**{attribute: text})):
        match = CATALOG.match(record)
        assert match.outcome in OUTCOMES
        assert all(len(reason.found) <= 200 for reason in match.reasons)
        assert len(CATALOG.explain(match)) < 2 * LONG


@pytest.mark.parametrize("text", ["-" * LONG, "x-" * (LONG // 2), "-!" * (LONG // 2), "%2D" * (LONG // 3)])
def test_a_hostile_template_is_linear_in_the_text(text: str) -> None:
    match = CATALOG.match({"protocol": "KAFKA", "metadata": {"topic": "shelf", "key": text}})
    assert match.outcome in ("invalid", "landed")


def test_a_definition_with_many_placeholders_is_linear_in_their_number() -> None:
    names = "-".join(f"{{p{n}}}" for n in range(2000))
    message = {"protocol": "KAFKA", "protocoloptions": {"topic": "t", "key": names + "!"}}
    catalog = Catalog({"messagegroups": {"g": {"messages": {"m": message}}}})
    sent = {"protocol": "KAFKA", "metadata": {"topic": "t", "key": "-" * 100_000}}
    assert catalog.match(sent).outcome == "invalid"
    sent["metadata"] = {"topic": "t", "key": "-".join("v" * 2000) + "!"}
    assert len(catalog.match(sent).variables) == 2000


def test_a_million_headers_and_a_deep_record_end() -> None:
    many = [{"name": f"h{n}", "value": "x"} for n in range(200_000)]
    assert CATALOG.match({"protocol": "MQTT/5.0", "metadata": {"user_properties": many}}).outcome == "unmatched"
    deep = '{"protocol": "KAFKA", "metadata": ' + '{"a": ' * 100_000 + "1" + "}" * 100_001
    assert CATALOG.match(deep).outcome == "malformed"
    assert CATALOG.match({**EVENT, "data": 1}).outcome == "invalid"


@pytest.mark.parametrize("pattern", ["(a+)+$", "^(a|a)*$", "^(([a-z])+.)+[A-Z]([a-z])+$"])
def test_a_schema_with_a_hostile_pattern_is_linear(pattern: str) -> None:
    schema = {"type": "string", "pattern": pattern}
    message = {**MESSAGES["heat"], "dataschema": schema}
    catalog = Catalog({"messagegroups": {"g": {"messages": {"m": message}}}})
    assert catalog.match({**EVENT, "data": "a" * 50_000 + "!"}).outcome == "invalid"


@pytest.mark.parametrize("value", ["/{a}{b}", "{a}{a}", "x{a}{b}y"])
def test_placeholders_side_by_side_leave_the_other_definitions_alone(value: str) -> None:
    bad = {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "bad"}, "source": {"value": value}}}
    catalog = Catalog({"messagegroups": {"bakery": {"messages": {**MESSAGES, "bad": bad}}}})
    assert [error.place for error in catalog.refused] == ["/messagegroups/bakery/messages/bad/envelopemetadata/source"]
    assert catalog.match(GOOD).outcome == "landed"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
options = st.sampled_from(
    ["topic", "key", "headers", "user_properties", "topic_name", "properties", "path", "subject", "content_type"]
)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(["KAFKA", "HTTP", "MQTT/5.0", "MQTT/3.1.1", "AMQP/1.0", "NATS", "X", ""]),
    st.dictionaries(options, json_values, max_size=4),
    json_values,
)
def test_records_of_any_shape(protocol: str, metadata: dict[str, Any], payload: Any) -> None:
    for record in (
        {"protocol": protocol, "metadata": metadata, "payload": payload},
        {"protocol": protocol, "metadata": metadata, "payload": json.dumps(payload)},
        {**EVENT, **metadata, "data": payload},
    ):
        for match in CATALOG.match_all(record):
            assert match.outcome in OUTCOMES
            assert (match.outcome == "landed") == (not match.reasons)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=60) | st.text(max_size=60))
def test_lines_of_anything(line: Any) -> None:
    assert {match.outcome for match in CATALOG.match_all(line)} == {"malformed"}


@settings(max_examples=200, deadline=None)
@given(tree=json_values | st.dictionaries(st.sampled_from(["messagegroups", "endpoints"]), json_values))
def test_catalogs_of_any_shape_open(tree: Any) -> None:
    if isinstance(tree, dict):
        assert CATALOG.match(GOOD).outcome == "landed"
        Catalog(tree).match(GOOD)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from(["envelope", "protocol", "envelopemetadata", "protocoloptions", "dataschema",
    "dataschemaformat", "dataschemauri", "basemessage", "meta", "versions", "envelopeoptions", "datacontenttype"]),
    json_values | st.sampled_from(["CloudEvents/1.0", "KAFKA", "JsonSchema/draft-07", "/messagegroups/g/messages/m"])),
)  # fmt: skip
def test_definitions_of_any_shape_compile_or_are_refused(message: dict[str, Any]) -> None:
    catalog = Catalog({"messagegroups": {"g": {"messages": {"m": message}}}})
    for record in (GOOD, kafka()):
        assert catalog.match(record).outcome in OUTCOMES
