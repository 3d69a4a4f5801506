"""`/match` and `/make` over HTTP."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from tests.http.requests import AsgiClient

READING = {
    "envelope": "CloudEvents/1.0",
    "envelopemetadata": {"type": {"value": "reading"}, "source": {"type": "uritemplate", "value": "/ovens/{oven}"}},
    "dataschemaformat": "JsonSchema/draft-07",
    "dataschema": {"type": "object", "required": ["heat"], "properties": {"heat": {"type": "integer"}}},
}
GROUP = {"envelope": "CloudEvents/1.0", "messages": {"reading": READING}}
EVENT = {"specversion": "1.0", "id": "1", "source": "/ovens/7", "type": "reading", "data": {"heat": 5}}
ENDPOINT = {"usage": ["producer"], "messagegroups": ["/messagegroups/ovens"], "envelope": "CloudEvents/1.0"}
XID = "/messagegroups/ovens/messages/reading"


@pytest.fixture
def ovens(asgi: AsgiClient) -> AsgiClient:
    body = {"messagegroups": {"ovens": GROUP}, "endpoints": {"bakery": ENDPOINT, "empty": {"usage": ["consumer"]}}}
    assert asgi.ask("POST", "/", body).status == 200
    return asgi


def test_one_record_gives_one_outcome(ovens: AsgiClient) -> None:
    found = ovens.ask("POST", "/match", EVENT).json
    assert found == {
        "outcome": "landed", "message": XID, "variables": {"oven": "7"}, "candidates": [XID], "reasons": [],
    }  # fmt: skip
    wrong = ovens.ask("POST", "/-/match", {**EVENT, "data": {"heat": "hot"}}).json
    assert (wrong["outcome"], wrong["reasons"][0]["at"]) == ("invalid", "/data/heat")


def test_a_batch_gives_several(ovens: AsgiClient) -> None:
    assert [one["outcome"] for one in ovens.ask("POST", "/match", [EVENT, {}]).json] == ["landed", "malformed"]


@pytest.mark.audit("messages-D15")
@pytest.mark.parametrize("version", ["", "/versions/1"])
def test_a_schema_by_its_own_address_checks_payloads(ovens: AsgiClient, version: str) -> None:
    schema = "/schemagroups/s/schemas/heat"
    headers = {"xRegistry-format": "JsonSchema/draft-07", "Content-Type": "application/json"}
    assert ovens.ask("PUT", f"{schema}/versions/1", READING["dataschema"], headers=headers).status == 201
    assert ovens.ask("POST", "/match", EVENT).json["outcome"] == "landed"  # the catalog is in use before the write
    address = ovens.ask("GET", f"{schema}{version}$details").json["self"]
    hot = {**READING, "envelopemetadata": {"type": {"value": "hot"}}, "dataschemauri": address, "dataschema": None}
    assert ovens.ask("PUT", "/messagegroups/ovens/messages/hot", hot).status == 201
    for heat, outcome in ((5, "landed"), ("five", "invalid")):
        found = ovens.ask("POST", "/match", {**EVENT, "type": "hot", "data": {"heat": heat}}).json
        assert (found["outcome"], found.get("unchecked")) == (outcome, None)
    elsewhere = address.replace("://", "://elsewhere.")
    assert ovens.ask("PATCH", "/messagegroups/ovens/messages/hot", {"dataschemauri": elsewhere}).status == 200
    found = ovens.ask("POST", "/match", {**EVENT, "type": "hot", "data": {"heat": "five"}}).json
    assert "lies outside" in found["unchecked"]


BINARY = {"ce-specversion": "1.0", "ce-id": "1", "ce-source": "/ovens/7", "ce-type": "reading"}


@pytest.mark.audit("clients-8")
def test_an_event_in_binary_mode_is_the_request_itself(ovens: AsgiClient) -> None:
    json_type = {"Content-Type": "application/json"}
    landed = ovens.ask("POST", "/match", {"heat": 5}, headers={**json_type, **BINARY}).json
    assert (landed["outcome"], landed["message"], landed["variables"]) == ("landed", XID, {"oven": "7"})
    wrong = ovens.ask("POST", "/match?explain", [{"heat": 5}], headers={**json_type, **BINARY}).json
    assert (wrong["outcome"], wrong["reasons"][0]["at"]) == ("invalid", "/data")
    encoded = ovens.ask("POST", "/match", {"heat": 5}, headers={**json_type, **BINARY, "ce-type": "r%65ading"}).json
    assert encoded["outcome"] == "landed"
    without = {name: value for name, value in BINARY.items() if name != "ce-type"}
    assert ovens.ask("POST", "/match", {"heat": 5}, headers={**json_type, **without}).json["outcome"] == "unmatched"


@pytest.mark.audit("clients-8")
def test_an_event_in_binary_mode_may_have_no_data(ovens: AsgiClient) -> None:
    found = ovens.ask("POST", "/match", b"", headers={**BINARY, "ce-type": "unknown"}).json
    assert found["outcome"] == "unmatched"


@pytest.mark.audit("clients-8")
@pytest.mark.parametrize("kind", ["application/cloudevents+json", "application/cloudevents-batch+json"])
def test_the_content_type_tells_an_event_in_structured_mode(ovens: AsgiClient, kind: str) -> None:
    body = [EVENT] if "batch" in kind else EVENT
    headers = {"Content-Type": kind, **BINARY, "ce-type": "other"}
    assert "landed" in str(ovens.ask("POST", "/match", body, headers=headers).json)


@pytest.mark.parametrize("kind", ["application/x-ndjson", "application/jsonl; charset=utf-8"])
def test_many_records_come_as_lines(ovens: AsgiClient, kind: str) -> None:
    lines = b"\n".join([json.dumps(EVENT).encode(), b"", b"{", json.dumps([EVENT, EVENT]).encode()])
    answer = ovens.ask("POST", "/match", lines, headers={"content-type": kind})
    assert answer.headers["content-type"] == "application/x-ndjson"
    outcomes = [json.loads(line)["outcome"] for line in answer.body.splitlines()]
    assert outcomes == ["landed", "malformed", "landed", "landed"]


def test_options_of_matching(ovens: AsgiClient) -> None:
    assert ovens.ask("POST", "/match?endpoint=/endpoints/bakery", EVENT).json["outcome"] == "landed"
    assert ovens.ask("POST", "/match?endpoint=empty", EVENT).json["outcome"] == "unmatched"
    assert ovens.ask("POST", "/match?endpoint=nowhere", EVENT).problem == "bad_request"
    assert ovens.ask("POST", "/match?nulls=maybe", EVENT).problem == "bad_request"
    noted = {**EVENT, "data": {"heat": 5, "note": None}}
    assert ovens.ask("POST", "/match?nulls=absent", noted).json["outcome"] == "landed"
    assert "landed" in ovens.ask("POST", "/match?explain", EVENT).json["explanation"]


def test_payloads_are_matched_with_the_version_that_their_id_names(asgi: AsgiClient) -> None:
    numbers = [{"name": "low", "type": "int"}, {"name": "high", "type": "int"}]
    schema = {
        "format": "Avro/1.12",
        "schema": {"type": "record", "name": "R", "fields": [*numbers, {"name": "unit", "type": "string"}]},
        "schemaids": [7],
    }
    path = "/schemagroups/ovens/schemas/range"
    assert asgi.ask("PUT", f"{path}/versions/1$details", schema).status == 201
    schema = {**schema, "schema": {"type": "record", "name": "R", "fields": numbers}, "schemaids": [8, 9]}
    assert asgi.ask("PUT", f"{path}/versions/2$details", schema).status == 201
    assert asgi.ask("GET", f"{path}/versions/2$details").json["schemaids"] == [8, 9]
    assert asgi.ask("PUT", f"{path}/versions/3$details", {**schema, "schemaids": [-1]}).problem == "invalid_attribute"
    message = {"protocol": "MQTT/5.0", "protocoloptions": {"topic_name": {"value": "t"}}, "dataschemauri": path}
    assert asgi.ask("PUT", "/messagegroups/ovens/messages/range", message).status == 201

    def matched(payload: bytes) -> Any:
        record = {"protocol": "MQTT/5.0", "metadata": {"topic_name": "t"}}
        body = {"payload_base64": base64.b64encode(payload).decode()}
        return asgi.ask("POST", "/match?explain", {**record, **body}).json

    assert matched(b"\0\0\0\0\x07\2\4\2C")["outcome"] == "landed"
    assert matched(b"\0\0\0\0\x09\2\4")["outcome"] == "landed"
    assert matched(b"\0\0\0\0\x09\2\4\2C")["outcome"] == "invalid"
    unknown = matched(b"\0\0\0\0\x0a\2\4")
    assert [(reason["code"], reason["found"]) for reason in unknown["reasons"]] == [
        ("schema_id_unknown", "the schema id 10")
    ]
    assert "version 1 (schemaids 7), version 2 (schemaids 8, 9)" in unknown["explanation"]


def test_what_is_matched_follows_the_registry(ovens: AsgiClient) -> None:
    assert ovens.ask("POST", "/match", EVENT).json["outcome"] == "landed"
    assert ovens.ask("DELETE", "/messagegroups").status == 204
    assert ovens.ask("POST", "/match", EVENT).json["outcome"] == "unmatched"


def test_what_is_made_lands(ovens: AsgiClient) -> None:
    order = {"message": XID, "values": {"oven": "9"}, "auto": True, "protocol": "KAFKA", "seed": 1}
    made = ovens.ask("POST", "/make", order).json
    assert ovens.ask("POST", "/match", made).json["variables"] == {"oven": "9"}
    given = ovens.ask("POST", "/make", {"message": "reading", "values": {"oven": "9"}, "data": {"heat": 3}}).json
    assert given["data"] == {"heat": 3}
    assert len(ovens.ask("POST", "/make", {**order, "count": 3}).json) == 3
    lines = ovens.ask("POST", "/make", {**order, "count": 2}, headers={"accept": "application/x-ndjson"}).body
    assert len(lines.splitlines()) == 2
    broken = ovens.ask("POST", "/make", {**order, "invalid": True}).json
    assert ovens.ask("POST", "/match", broken["record"]).json["outcome"] != "landed"
    assert broken["broken"]["sentence"]


@pytest.mark.parametrize(
    ("order", "problem"),
    [
        ({"message": XID}, "bad_request"),
        ({"message": XID, "values": {"oven": "1"}, "data": {"heat": "hot"}}, "bad_request"),
        ({"message": XID, "values": {"oven": "1"}, "auto": True, "count": 0}, "bad_request"),
        ({"message": XID, "values": {"oven": "1"}, "auto": True, "count": 10**9}, "bad_request"),
        ({"message": XID, "surprise": 1}, "bad_request"),
        ({"message": 5}, "bad_request"),
        ({"message": "nothing", "auto": True}, "not_found"),
        ([], "bad_request"),
    ],
)
def test_orders_that_cannot_be_met(ovens: AsgiClient, order: Any, problem: str) -> None:
    assert ovens.ask("POST", "/make", order).problem == problem


def test_nothing_is_made_from_a_definition_that_cannot_be_used(ovens: AsgiClient) -> None:
    ovens.ask("PUT", XID, {**READING, "basemessage": XID})
    assert ovens.ask("POST", "/make", {"message": XID, "auto": True}).problem == "bad_request"


@pytest.mark.parametrize("path", ["/match", "/make"])
def test_methods_and_empty_bodies(ovens: AsgiClient, path: str) -> None:
    assert ovens.ask("POST", path).problem == "missing_body"
    assert ovens.ask("GET", path).problem == "action_not_supported"
    assert ovens.ask("OPTIONS", path).headers["allow"] == "OPTIONS, POST"
    assert ovens.ask("POST", path, b"{").status in (200, 400)
