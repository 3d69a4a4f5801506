"""Content types and encodings of messages: what definitions say of them, compared by `match` and written by `make`."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import pytest

from postroom.catalog.catalog import Catalog, open_catalog
from postroom.errors import MakeRefused
from postroom.messages.matching.explain import explain_match
from postroom.messages.matching.line_batches import match_lines
from postroom.protocols.content_encodings import pack
from postroom.settings import Settings
from tests.messages.payloads import ORDER

WIRES = ("HTTP", "AMQP/1.0", "MQTT/5.0", "KAFKA", "NATS")
GROUP = "/messagegroups/g/messages/"
EVENT = {"specversion": "1.0", "id": "1", "source": "/s", "type": "t"}
CE: dict[str, Any] = {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "t"}}}
JSON_SCHEMA: dict[str, Any] = {"dataschemaformat": "JsonSchema/draft-07", "dataschema": ORDER}
ORDERED = {"order": "A1", "cents": 5}
MYEVENT = "https://example.com/schemas/com.example.myevent.json"
# The options by which a protocol's definitions say where messages go.
CHANNELS: dict[str, dict[str, Any]] = {
    "HTTP": {"path": "/t"},
    "AMQP/1.0": {"properties": {"to": {"value": "t"}}},
    "MQTT/5.0": {"topic_name": "t"},
    "KAFKA": {"topic": "t"},
    "NATS": {"subject": "t"},
}


def catalog(settings: Settings | None = None, **messages: dict[str, Any]) -> Catalog:
    return Catalog({"messagegroups": {"g": {"messages": messages}}}, settings=settings)


def headers_of(protocol: str, values: dict[str, str]) -> dict[str, Any]:
    """Metadata of a protocol with a content type and other headers, as senders write them."""
    rest = {name: value for name, value in values.items() if name != "content-type"}
    if protocol == "AMQP/1.0":
        return {"properties": {"to": "t", **values}}
    pairs = [{"name": name, "value": value} for name, value in values.items()]
    if protocol == "MQTT/5.0":
        properties = [{"name": name, "value": value} for name, value in rest.items()]
        stated = {"content_type": values["content-type"]} if "content-type" in values else {}
        return {"topic_name": "t", "user_properties": properties, **stated}
    channel = {"HTTP": {"path": "/t"}, "KAFKA": {"topic": "t"}, "NATS": {"subject": "t"}}[protocol]
    return {**channel, "headers": pairs}


def record(protocol: str, contenttype: str, payload: bytes = b"x", **headers: str) -> dict[str, Any]:
    values = {"content-type": contenttype} if contenttype else {}
    values |= {name.replace("_", "-"): value for name, value in headers.items()}
    body = base64.b64encode(payload).decode()
    return {"protocol": protocol, "metadata": headers_of(protocol, values), "payload_base64": body}


def bound(protocol: str, options: dict[str, Any]) -> dict[str, Any]:
    return {"protocol": protocol, "protocoloptions": {**CHANNELS[protocol], **options}}


def result(catalog: Catalog, sent: Any) -> tuple[str, str | None, list[str]]:
    match = catalog.match(sent)
    name = None if match.message is None else match.message.removeprefix(GROUP)
    return match.outcome, name, [reason.code for reason in match.reasons]


def landed(name: str) -> tuple[str, str, list[str]]:
    return "landed", name, []


@pytest.mark.audit("messages-D2")
@pytest.mark.feature("MSG-032")
@pytest.mark.parametrize("protocol", WIRES)
def test_payload_only_definitions_are_told_apart_by_content_type(protocol: str) -> None:
    found = catalog(
        json={"datacontenttype": "application/json"},
        csv={"datacontenttype": "text/csv"},
        png={"datacontenttype": "image/png"},
    )
    assert result(found, record(protocol, "text/csv; header=present")) == landed("csv")
    assert result(found, record(protocol, "Application/JSON")) == landed("json")
    assert result(found, record(protocol, "image/png")) == landed("png")
    assert result(found, record(protocol, "text/html"))[0] == "unmatched"
    assert result(found, record(protocol, ""))[0] == "ambiguous"


@pytest.mark.audit("messages-D2")
@pytest.mark.parametrize("protocol", WIRES)
def test_parameters_that_definitions_name_tell_them_apart(protocol: str) -> None:
    found = catalog(
        a={"datacontenttype": "text/csv; profile=a"},
        b={"datacontenttype": "text/csv; profile=b"},
    )
    assert result(found, record(protocol, "TEXT/csv; charset=utf-8; Profile=a")) == landed("a")
    assert result(found, record(protocol, 'text/csv;profile="b"')) == landed("b")
    assert result(found, record(protocol, "text/csv"))[0] == "unmatched"


def test_a_content_type_that_no_definition_has_is_the_reason_of_the_near_miss() -> None:
    found = catalog(json={"datacontenttype": "application/json"})
    match = found.match(record("KAFKA", "text/csv"))
    assert [(r.message, r.at, r.code, r.expected, r.found) for r in match.reasons] == [
        (f"{GROUP}json", "/datacontenttype", "constant_mismatch", "application/json", "text/csv")
    ]
    assert "Set the content type to 'application/json'." in explain_match(match)


@pytest.mark.audit("messages-D2")
@pytest.mark.parametrize("protocol", WIRES)
def test_a_content_type_constrains_messages_of_a_protocol(protocol: str) -> None:
    found = catalog(m={**bound(protocol, {}), "datacontenttype": "text/csv"})
    assert result(found, record(protocol, "text/csv")) == landed("m")
    assert result(found, record(protocol, "")) == landed("m")
    assert result(found, record(protocol, "image/png")) == ("invalid", "m", ["constant_mismatch"])


@pytest.mark.audit("messages-D2")
@pytest.mark.parametrize("place", ["message", "envelope"])
def test_a_content_type_constrains_the_data_of_events_in_both_modes(place: str) -> None:
    stated: dict[str, Any] = {"datacontenttype": "text/csv; header=present"}
    if place == "envelope":
        stated = {"envelopemetadata": {"type": {"value": "t"}, "datacontenttype": {"value": stated["datacontenttype"]}}}
    found = catalog(m={**CE, **stated})
    wrong = ("invalid", "m", ["constant_mismatch"])
    assert result(found, {**EVENT, "datacontenttype": "text/csv; Header=present", "data": "a,b"}) == landed("m")
    assert result(found, {**EVENT, "datacontenttype": "text/csv", "data": "a,b"}) == wrong
    assert result(found, {**EVENT, "data_base64": "YSxi"}) == landed("m")
    for protocol in ("HTTP", "KAFKA"):
        prefix = "ce-" if protocol == "HTTP" else "ce_"
        attributes = {prefix + name: value for name, value in EVENT.items()}
        right = {"path": "/t", "topic": "t", "headers": {**attributes, "Content-Type": "TEXT/CSV; header=present"}}
        assert result(found, {"protocol": protocol, "metadata": right, "payload": "a,b"}) == landed("m")
        other = {"path": "/t", "topic": "t", "headers": {**attributes, "content-type": "application/json"}}
        assert result(found, {"protocol": protocol, "metadata": other, "payload": "{}"}) == wrong


@pytest.mark.audit("messages-D2")
@pytest.mark.parametrize("protocol", WIRES)
@pytest.mark.parametrize("is_bound", [True, False])
def test_make_writes_the_content_type_on_every_protocol(protocol: str, is_bound: bool) -> None:
    found = catalog(
        csv={**(bound(protocol, {}) if is_bound else {}), "datacontenttype": "text/csv; profile=a"},
        other={**(bound(protocol, {}) if is_bound else {}), "datacontenttype": "text/csv; profile=b"},
    )
    for _ in range(2):  # exactly, then by the compiled template
        made = found.message("csv").make(data=b"a,b", protocol=protocol)
        assert "text/csv; profile=a" in json.dumps(made["metadata"])
        assert result(found, made) == landed("csv")


@pytest.mark.audit("messages-D7")
@pytest.mark.parametrize("spelling", ["content-type", "Content-Type", "CONTENT-TYPE"])
@pytest.mark.parametrize("protocol", ["HTTP", "KAFKA", "NATS"])
def test_a_content_type_header_is_compared_alike_however_its_name_is_spelled(protocol: str, spelling: str) -> None:
    found = catalog(m=bound(protocol, {"headers": [{"name": spelling, "value": "application/json"}]}))
    for stated in ("application/json", "application/json; charset=utf-8", "Application/JSON"):
        assert result(found, record(protocol, stated)) == landed("m")
    assert result(found, record(protocol, "text/csv")) == ("invalid", "m", ["constant_mismatch"])


def content_type_option(protocol: str, value: str, encoding: str = "") -> dict[str, Any]:
    extra = {"content-encoding": {"value": encoding}} if encoding else {}
    if protocol == "AMQP/1.0":
        return {"properties": {"to": {"value": "t"}, "content-type": {"value": value}, **extra}}
    if protocol == "MQTT/5.0":
        properties = [{"name": name, **one} for name, one in extra.items()]
        return {"content_type": value, **({"user_properties": properties} if extra else {})}
    return {"headers": [{"name": "Content-Type", "value": value}, *({"name": n, **one} for n, one in extra.items())]}


@pytest.mark.audit("messages-D5")
@pytest.mark.feature("MSG-033")
@pytest.mark.parametrize("mode", ["binary", "structured"])
@pytest.mark.parametrize("stated", ["application/json", "application/json; charset=utf-8"])
@pytest.mark.parametrize("protocol", WIRES)
def test_events_are_made_whose_protocol_fixes_the_content_type(protocol: str, stated: str, mode: str) -> None:
    found = catalog(m={**CE, **bound(protocol, content_type_option(protocol, stated))})
    for data in (ORDERED, {**ORDERED, "paid": True}):
        made = found.message("m").make(data=data, protocol=protocol, mode=mode)
        assert result(found, made) == landed("m")
        assert json.dumps(made).lower().count('"content-type"') + json.dumps(made).count('"content_type"') == 1


@pytest.mark.audit("messages-D5")
@pytest.mark.parametrize("protocol", WIRES)
def test_a_payload_has_the_content_type_that_the_protocol_fixes(protocol: str) -> None:
    found = catalog(m={**CE, **bound(protocol, content_type_option(protocol, "image/png"))})
    made = found.message("m").make(data=b"\x89PNG", protocol=protocol)
    assert result(found, made) == landed("m")


@pytest.mark.audit("messages-D9")
@pytest.mark.feature("MSG-034")
@pytest.mark.parametrize("protocol", ["", *WIRES])
def test_in_structured_mode_the_content_type_is_that_of_the_envelope(protocol: str) -> None:
    stated = {"envelopeoptions": {"mode": "structured"}, "datacontenttype": "application/cloudevents+json"}
    found = catalog(m={**CE, **stated, **JSON_SCHEMA})
    for _ in range(2):
        made = found.message("m").make(data=ORDERED, protocol=protocol)
        event = json.loads(made["payload"]) if protocol else made
        assert event["datacontenttype"] == "application/json"
        assert event["data"] == ORDERED
        assert result(found, made) == landed("m")
        assert ("application/cloudevents+json" in json.dumps(made.get("metadata", {}))) is bool(protocol)
    assert result(found, {**EVENT, "datacontenttype": "text/xml", "data": "<a/>"})[0] == "invalid"


def test_a_definition_of_structured_events_takes_no_others() -> None:
    stated = {"envelopeoptions": {"mode": "structured"}, "datacontenttype": "application/cloudevents+json"}
    found = catalog(m={**CE, **stated})
    binary = catalog(m=CE).message("m").make(data=ORDERED, protocol="KAFKA")
    binary["metadata"]["headers"]["content-type"] = "application/json"
    assert result(found, binary) == ("invalid", "m", ["constant_mismatch"])
    line = json.dumps(binary).encode()
    assert match_lines(found.engine, [line]) == [[found.match(binary)]]
    avro = catalog(m={**CE, "datacontenttype": "application/cloudevents+avro"})
    assert result(avro, {**EVENT, "data": {}}) == ("invalid", "m", ["constant_mismatch"])


@pytest.mark.audit("messages-D11")
@pytest.mark.feature("MSG-061", "MSG-062")
@pytest.mark.parametrize("mode", ["binary", "structured"])
@pytest.mark.parametrize("protocol", ["", *WIRES, "MQTT/3.1.1"])
def test_implied_attributes_are_written_and_compared(protocol: str, mode: str) -> None:
    found = catalog(m={**CE, "dataschemaformat": "JsonSchema/draft-07", "dataschemauri": MYEVENT})
    for _ in range(2):
        made = found.message("m").make(data=ORDERED, protocol=protocol, mode=mode)
        assert json.dumps(made).count(MYEVENT) == 1
        assert result(found, made) == landed("m")
        wrong = json.loads(json.dumps(made).replace(MYEVENT, "https://other.example/"))
        assert result(found, wrong) == ("invalid", "m", ["constant_mismatch"])


@pytest.mark.audit("messages-D11")
@pytest.mark.parametrize(
    ("schema_format", "contenttype", "outcome"),
    [
        ("JsonSchema/draft-07", "text/xml", "invalid"),
        ("JsonSchema/draft-07", "application/vnd.order+json", "landed"),
        ("JsonStructure/core", "application/xml", "invalid"),
        ("Avro/1.11", "avro/binary", "landed"),
        ("Avro/1.11", "application/json", "landed"),
        ("Avro/1.11", "application/octet-stream", "landed"),
        ("Avro/1.11", "application/protobuf", "invalid"),
        ("Protobuf/3", "application/x-protobuf", "landed"),
        ("XSD/1.1", "text/xml; charset=utf-8", "landed"),
        ("XSD/1.1", "application/json", "invalid"),
        ("Custom/1", "application/json", "landed"),
    ],
)
def test_a_content_type_is_one_of_the_format(schema_format: str, contenttype: str, outcome: str) -> None:
    found = catalog(m={**CE, "dataschemaformat": schema_format, "dataschemauri": "https://example.com/s"})
    event = {**EVENT, "datacontenttype": contenttype, "data_base64": "e30="}
    assert found.match(event).outcome == outcome
    assert match_lines(found.engine, [json.dumps(event).encode()] * 2) == [[found.match(event)]] * 2


def with_schema(**message: Any) -> Catalog:
    versions = {"1": {"format": "JsonSchema/draft-07", "schema": ORDER}, "2": {"format": "JsonSchema", "schema": ORDER}}
    schema = {"versions": versions, "meta": {"defaultversionid": "2"}}
    return Catalog(
        {
            "self": "https://registry.example/",
            "messagegroups": {"g": {"messages": {"m": {**CE, **message}}}},
            "schemagroups": {"s": {"schemas": {"order": schema}}},
        }
    )


PATH = "/schemagroups/s/schemas/order"
URL = "https://registry.example" + PATH


@pytest.mark.audit("messages-D11", "messages-D15")
@pytest.mark.parametrize(
    "reference",
    [
        {"dataschemauri": URL},
        {"dataschemauri": f"{URL}$details"},
        {"dataschemauri": f"{URL}$details", "dataschemaxid": PATH},
        {"dataschemauri": PATH},
        {"dataschemauri": f"#{PATH}"},
        {"dataschemaxid": PATH},
        {"dataschemauri": f"{URL}/versions/2"},
        {"dataschemauri": f"{URL}/versions/2$details"},
        {"dataschemaxid": f"{PATH}/versions/2"},
    ],
)
def test_every_reference_to_the_same_schema_is_right_and_checks_payloads(reference: dict[str, str]) -> None:
    found = with_schema(dataschemaformat="JsonSchema", **reference)
    for stated in (URL, f"{URL}$details", f"{URL}/versions/2", f"{URL}/versions/2$details"):
        event = {**EVENT, "dataschema": stated, "data": ORDERED}
        assert result(found, event) == landed("m"), stated
        assert result(found, {**event, "data": {}})[0] == "invalid"
    # CloudEvents wants a URI, unless the definition says that it does not.
    assert result(found, {**EVENT, "dataschema": PATH, "data": ORDERED}) == ("invalid", "m", ["event_rule"])
    declared = {"envelopemetadata": {**CE["envelopemetadata"], "dataschema": {"required": False}}}
    lenient = with_schema(dataschemaformat="JsonSchema", **reference, **declared)
    for stated in (PATH, f"{PATH}/versions/2", f"#{PATH}"):
        assert result(lenient, {**EVENT, "dataschema": stated, "data": ORDERED}) == landed("m"), stated
    for other in (f"{URL}2", "https://registry.example/schemagroups/s/schemas/other"):
        assert result(found, {**EVENT, "dataschema": other, "data": ORDERED})[:2] == ("invalid", "m"), other
    if "versions" in json.dumps(reference):
        assert result(found, {**EVENT, "dataschema": f"{URL}/versions/1", "data": ORDERED})[0] == "invalid"
    assert result(found, found.message("m").make(data=ORDERED)) == landed("m")


@pytest.mark.audit("messages-D11")
def test_a_reference_that_is_no_uri_is_written_only_when_a_uri_is_given() -> None:
    found = with_schema(dataschemaxid=PATH, dataschemaformat="JsonSchema")
    message = found.message("m")
    assert "dataschema" not in message.make(data=ORDERED)
    assert message.make(data=ORDERED, dataschema=URL)["dataschema"] == URL
    with pytest.raises(MakeRefused, match="dataschema"):
        message.make(data=ORDERED, dataschema=f"{URL}2")


@pytest.mark.audit("messages-D11")
def test_an_attribute_that_is_required_is_made_and_demanded_where_nothing_implies_it() -> None:
    required = {"type": {"value": "t"}, "dataschema": {"required": True}}
    found = catalog(m={**CE, "envelopemetadata": required, "dataschemaformat": "JsonSchema", "dataschemauri": MYEVENT})
    assert found.message("m").make(data=ORDERED)["dataschema"] == MYEVENT
    bare = catalog(m={**CE, "envelopemetadata": required})
    assert result(bare, EVENT) == ("invalid", "m", ["required_missing"])
    assert result(bare, {**EVENT, "dataschema": "https://example.com/s"}) == landed("m")


@pytest.mark.audit("services-A16")
def test_definitions_of_version_0_5_imply_the_same(tmp_path: Any) -> None:
    group = {
        "definitionGroups": {
            "g": {
                "format": "CloudEvents/1.0",
                "definitions": {
                    "m": {
                        "format": "CloudEvents/1.0",
                        "metadata": {"attributes": {"type": {"value": "t", "required": True}}},
                        "schemaformat": "JsonSchema/draft-07",
                        "schemaurl": MYEVENT,
                    }
                },
            }
        }
    }
    file = tmp_path / "old.cereg"
    file.write_text(json.dumps(group))
    found = open_catalog(str(file))
    (xid,) = (definition.xid for definition in found.definitions)
    made = found.message(xid).make(data=ORDERED)
    assert (made["dataschema"], made["datacontenttype"]) == (MYEVENT, "application/json")
    assert found.match(made).outcome == "landed"
    assert found.match({**made, "dataschema": "https://other/"}).outcome == "invalid"
    assert found.match({**made, "datacontenttype": "text/xml", "data": "<a/>"}).outcome == "invalid"


GZIPPED = gzip.compress(json.dumps(ORDERED).encode())


@pytest.mark.audit("messages-D4")
@pytest.mark.feature("MSG-091")
@pytest.mark.parametrize("encoding", ["gzip", "deflate", "zstd", "br", "identity", "GZIP", "deflate, gzip"])
@pytest.mark.parametrize("protocol", WIRES)
def test_a_payload_is_unpacked_before_it_is_judged(protocol: str, encoding: str) -> None:
    found = catalog(m={**bound(protocol, content_type_option(protocol, "application/json", encoding)), **JSON_SCHEMA})
    good = pack(json.dumps(ORDERED).encode(), encoding)
    bad = pack(b'{"order": "A1"}', encoding)
    assert result(found, record(protocol, "application/json", good, content_encoding=encoding)) == landed("m")
    sent = record(protocol, "application/json", bad, content_encoding=encoding)
    assert result(found, sent) == ("invalid", "m", ["payload_required"])
    for data in (ORDERED, {**ORDERED, "paid": True}):
        made = found.message("m").make(data=data)
        packed = base64.b64decode(made["payload_base64"]) if encoding != "identity" else made["payload"].encode()
        assert packed == pack(json.dumps(data, separators=(",", ":")).encode(), encoding)
        assert result(found, made) == landed("m")
        (sorted_,) = found.engine.sort_exactly(json.dumps(made).encode())
        assert {name: value for name, value in sorted_.data.items() if value is not None} == data


@pytest.mark.audit("messages-D4")
@pytest.mark.parametrize("protocol", WIRES)
@pytest.mark.parametrize("schema", [JSON_SCHEMA, {}])
def test_a_payload_that_is_not_packed_as_it_says_is_invalid(protocol: str, schema: dict[str, Any]) -> None:
    found = catalog(m={**bound(protocol, {}), **schema})
    plain = json.dumps(ORDERED).encode()
    cases = {
        ("gzip", plain): "content_encoding_broken",
        ("gzip", GZIPPED[:-9]): "content_encoding_broken",
        ("snappy", plain): "content_encoding_unknown",
    }
    for (encoding, body), code in cases.items():
        sent = record(protocol, "application/json", body, content_encoding=encoding)
        assert result(found, sent) == ("invalid", "m", [code])
        assert match_lines(found.engine, [json.dumps(sent).encode()]) == [[found.match(sent)]]


@pytest.mark.audit("messages-D4")
@pytest.mark.parametrize("mode", ["binary", "structured"])
@pytest.mark.parametrize("protocol", WIRES)
def test_events_are_unpacked_in_both_modes(protocol: str, mode: str) -> None:
    found = catalog(m={**CE, **JSON_SCHEMA})
    made = found.message("m").make(data=ORDERED, protocol=protocol, mode=mode)
    metadata = made["metadata"]
    pair = {"name": "Content-Encoding", "value": "gzip"}
    if protocol == "AMQP/1.0":
        metadata["properties"]["content-encoding"] = "gzip"
    elif protocol == "MQTT/5.0":
        metadata["user_properties"] = [*metadata.get("user_properties", []), pair]
    elif isinstance(metadata["headers"], dict):
        metadata["headers"]["Content-Encoding"] = "gzip"
    else:
        metadata["headers"].append(pair)
    payload = made.pop("payload")
    made["payload_base64"] = base64.b64encode(gzip.compress(payload.encode())).decode()
    assert result(found, made) == landed("m")
    plain = {**made, "payload": payload}
    del plain["payload_base64"]
    kind = "invalid" if mode == "binary" else "malformed"
    assert (found.match(plain).outcome, found.match(plain).reasons[0].code) == (kind, "content_encoding_broken")


@pytest.mark.audit("messages-D4")
def test_a_payload_has_no_more_bytes_unpacked_than_a_record_may_have() -> None:
    found = catalog(Settings(max_record_mb=1), m=bound("HTTP", {}))
    sent = record("HTTP", "text/plain", pack(bytes(2_000_000), "gzip"), content_encoding="gzip")
    assert result(found, sent) == ("invalid", "m", ["payload_too_large"])
    assert "raise the setting max_record_mb" in explain_match(found.match(sent))


@pytest.mark.audit("messages-D4")
def test_the_amqp_example_of_the_specification_can_be_satisfied() -> None:
    options = {
        "application-properties": {"my-application-property": {"value": "my-application-property-value"}},
        "properties": {
            "message-id": {"required": True},
            "to": {"value": "https://{host}/{queue}", "type": "uritemplate"},
            "subject": {"value": "MyMessageType"},
            "content-type": {"value": "application/json"},
            "content-encoding": {"value": "gzip"},
        },
    }
    found = catalog(m={"protocol": "AMQP/1.0", "protocoloptions": options})
    made = found.message("m").make(data=ORDERED, host="h", queue="q")
    assert gzip.decompress(base64.b64decode(made["payload_base64"])) == b'{"order":"A1","cents":5}'
    assert result(found, made) == landed("m")


def test_make_refuses_an_encoding_that_it_does_not_know() -> None:
    found = catalog(m=bound("HTTP", content_type_option("HTTP", "application/json", "snappy")))
    with pytest.raises(MakeRefused, match="'snappy' is not one of gzip"):
        found.message("m").make(data={})
