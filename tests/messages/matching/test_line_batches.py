"""Many lines at once have the matches that each of them has alone."""

from __future__ import annotations

import base64
import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postroom.catalog.catalog import Catalog
from postroom.formats.protobuf.format import Protobuf
from postroom.messages.making.make import AUTO
from postroom.messages.matching import line_batches as lines_module
from postroom.messages.matching.line_batches import match_lines
from postroom.messages.matching.payload_decoders import CheckingDecoder
from postroom.protocols.records import render_record

READING = {"type": "object", "required": ["sensor"], "properties": {"sensor": {"type": "string"}}}
PROTO = """syntax = "proto3";
message Reading { string sensor = 1; repeated Part parts = 2; }
message Part { int32 number = 1; }"""
XSD = '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="a" type="xs:int"/></xs:schema>'
AVRO = {"type": "record", "name": "A", "fields": [{"name": "x", "type": "long"}]}


def message(kind: str, contenttype: str = "", **more: Any) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        "type": {"value": kind},
        "source": {"type": "uritemplate", "value": "/plants/{plant}"},
        "subject": {"type": "uritemplate", "value": "{part}", "required": False},
    }
    if contenttype:
        attributes["datacontenttype"] = {"value": contenttype}
    return {"envelope": "CloudEvents/1.0", "envelopemetadata": attributes, **more}


def schema(name: str, document: Any) -> dict[str, Any]:
    return {"dataschemaformat": name, "dataschema": document}


CATALOG = Catalog(
    {
        "messagegroups": {
            "g": {
                "messages": {
                    "json": message("json", **schema("JsonSchema/draft-07", READING)),
                    "proto": message("proto", "application/protobuf", **schema("Protobuf/3", PROTO)),
                    "kafka": message("kafka", protocol="KAFKA", **schema("Protobuf/3", PROTO)),
                    "twice.1": message("twice", **schema("Protobuf/3", PROTO)),
                    "twice.2": message("twice", **schema("JsonSchema/draft-07", READING)),
                    "xml": message("xml", "application/xml", **schema("XSD/1.0", XSD)),
                    "avro": message("avro", "application/avro", **schema("Avro/1.11", AVRO)),
                    "free": message("free"),
                }
            }
        }
    }
)


def event(kind: str, source: str, body: bytes, contenttype: str, mode: str) -> bytes:
    attributes = {"specversion": "1.0", "id": "1", "source": source, "type": kind, "datacontenttype": contenttype}
    if mode == "structured":
        return json.dumps({**attributes, "data_base64": base64.b64encode(body).decode()}).encode()
    named = {f"ce_{name}": value for name, value in attributes.items() if name != "datacontenttype"}
    metadata = {"topic": "t", "headers": {**named, "content-type": contenttype}}
    return json.dumps(
        {"protocol": "KAFKA", "metadata": metadata, "payload_base64": base64.b64encode(body).decode()}
    ).encode()


GOOD = b"\x0a\x01s\x12\x02\x08\x01"
bodies = st.sampled_from(
    [GOOD, b"", b"\x08\x01", b"\x12\x03\x0a\x01x", b"\x0a\x09x", b'{"sensor":"a"}', b'{"sensor":1}',
     b"<a>1</a>", b"<a>x</a>", b"\x02"]
)  # fmt: skip
lines = st.one_of(
    st.builds(
        event,
        st.sampled_from(["json", "proto", "kafka", "twice", "xml", "avro", "free", "unknown"]),
        st.sampled_from(["/plants/oslo", "/x"]),
        bodies,
        st.sampled_from(["application/json", "application/protobuf", "application/xml", "application/avro", ""]),
        st.sampled_from(["binary", "structured"]),
    ),
    st.sampled_from(
        [b"{", b"[]", b'{"protocol":"KAFKA"}', b'[{"specversion":"1.0","id":"1","source":"/x","type":"free"}, 5]', b"7"]
    ),
)


@settings(deadline=None, max_examples=150)
@given(st.lists(lines, max_size=8))
def test_lines_match_together_as_each_does_alone(some: list[bytes]) -> None:
    engine = CATALOG.engine
    assert match_lines(engine, some) == [engine.match_line(line) for line in some]


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 1000), mode=st.sampled_from(["binary", "structured"]))
def test_lines_that_were_made_land_together(seed: int, mode: str) -> None:
    rng = random.Random(seed)
    names = ["json", "proto", "kafka", "xml", "avro", "free"]
    made = []
    for name in names * 2:
        maker = CATALOG.message(f"/messagegroups/g/messages/{name}").maker
        made.append(maker.make({"plant": "oslo", "part": "7"}, AUTO, protocol="KAFKA", mode=mode, rng=rng))
    some = [json.dumps(render_record(record)).encode() for record in made]
    found = match_lines(CATALOG.engine, some)
    assert [match.message for (match,) in found] == [f"/messagegroups/g/messages/{name}" for name in names * 2]
    assert found == [CATALOG.engine.match_line(line) for line in some]


@pytest.mark.parametrize("mode", ["binary", "structured"])
def test_payloads_that_surely_fit_are_not_decoded(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[bytes] = []
    judge = Protobuf.validate_unframed

    def noted(self: Protobuf, payload: bytes, contenttype: str = "") -> Any:
        judged.append(payload)
        return judge(self, payload, contenttype)

    monkeypatch.setattr(Protobuf, "validate_unframed", noted)
    catalog = Catalog({"messagegroups": {"g": {"messages": {"m": message("m", **schema("Protobuf/3", PROTO))}}}})
    wrong = b"\x12\x03\x0a\x01x"
    some = [event("m", "/plants/oslo", body, "application/protobuf", mode) for body in [GOOD] * 20 + [wrong]]
    outcomes = [match.outcome for (match,) in match_lines(catalog.engine, some)]
    assert outcomes == ["landed"] * 20 + ["invalid"]
    assert judged == [wrong]


def test_a_defect_of_the_check_stops_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(Protobuf, "accepts_all", broken)
    some = [event("kafka", "/plants/oslo", GOOD, "", "binary")] * 3
    assert [match.outcome for (match,) in match_lines(CATALOG.engine, some)] == ["landed"] * 3


def test_payloads_are_checked_by_their_content_type_and_not_decoded() -> None:
    definition = CATALOG.message("/messagegroups/g/messages/proto").definition
    schema: Any = CATALOG.engine.schema(definition)
    bad = {1}
    kinds = ["application/protobuf", "", "application/json", "application/protobuf"]
    assert CheckingDecoder(schema).all([GOOD, None, GOOD, b"\x0a\x09x"], kinds, bad, {}) == [None] * 4
    assert bad == {1, 2, 3}


def test_any_number_of_lines_is_matched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines_module, "_MOST_TOGETHER", 3)
    some = [event("kafka", f"/plants/p{n}", GOOD, "", "binary") for n in range(8)]
    found = match_lines(CATALOG.engine, some)
    assert [match.variables["plant"] for (match,) in found] == [f"p{n}" for n in range(8)]
    assert match_lines(CATALOG.engine, []) == []
