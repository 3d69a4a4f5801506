import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postroom.errors import RecordRefused
from postroom.protocols.records import JSON_BATCH, JSON_EVENT, Record, line_of, parse_record, render_record

SALE = {"protocol": "MQTT/5.0", "metadata": {"topic_name": "store/4/desk/2", "qos": 1}, "payload": '{"total": 12.5}'}


def test_reads_the_record_form_of_the_contract() -> None:
    record = parse_record(json.dumps(SALE).encode())
    assert record == Record("MQTT/5.0", {"topic_name": "store/4/desk/2", "qos": 1}, b'{"total": 12.5}')


def test_an_absent_payload_is_an_empty_body() -> None:
    assert parse_record(b'{"protocol": "NATS", "metadata": {"subject": "orders"}}').payload == b""


def test_base64_payloads_are_bytes() -> None:
    assert parse_record(b'{"protocol": "KAFKA", "metadata": {}, "payload_base64": "AP8="}').payload == b"\x00\xff"


def test_a_line_with_specversion_is_an_event_on_its_own() -> None:
    line = b'{"specversion": "1.0", "id": "1", "source": "/s", "type": "t"}'
    assert parse_record(line) == Record("", {"content_type": JSON_EVENT}, line)


def test_an_array_is_a_batch() -> None:
    assert parse_record(b"[]\n").metadata["content_type"] == JSON_BATCH


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"", "not a record"),
        (b"{", "not a record"),
        (b"null", "not a record"),
        (b'"text"', "not a record"),
        (b'{"protocol": 5}', "not a record"),
        (b'{"protocol": "KAFKA", "metadata": []}', "not a record"),
        (b"{}", "neither `protocol`"),
        (b'{"protocol": "KAFKA", "payload": "a", "payload_base64": "YQ=="}', "not both"),
        (b'{"protocol": "KAFKA", "payload_base64": "%%"}', "not valid base64"),
        (b'{"protocol": "KAFKA", "payload": "\xff"}', "not a record"),
        (b'{"protocol": "KAFKA", "metadata": ' + b'{"a":' * 20_000 + b"1" + b"}" * 20_000 + b"}", "not a record"),
    ],
)
def test_what_is_no_record_is_refused_with_a_sentence(line: bytes, says: str) -> None:
    with pytest.raises(RecordRefused, match=says):
        parse_record(line)


@settings(deadline=None)
@given(protocol=st.sampled_from(["KAFKA", "HTTP", "NATS"]), payload=st.binary(max_size=200), topic=st.text(max_size=20))
def test_rendering_and_reading_are_inverse(protocol: str, payload: bytes, topic: str) -> None:
    record = Record(protocol, {"topic": topic}, payload)
    assert parse_record(line_of(render_record(record))) == record
