"""What may stand in front of a payload."""

import io

import fastavro
import pytest

from postroom.formats.format_table import parse_schema

OVEN = {
    "type": "record",
    "name": "Oven",
    "fields": [{"name": "name", "type": "string"}, {"name": "heat", "type": "int"}],
}
PLAIN = b"\x06Eva\x14"
VALUE = {"name": "Eva", "heat": 10}
FINGERPRINT = bytes.fromhex(
    fastavro.schema.fingerprint(fastavro.schema.to_parsing_canonical_form(OVEN), "CRC-64-AVRO")
)  # fmt: skip


@pytest.mark.parametrize(
    "payload",
    [PLAIN, b"\xc3\x01" + FINGERPRINT + PLAIN, b"\0\0\0\0\x01" + PLAIN, b"\0\xff\xff\xff\xff" + PLAIN],
    ids=["plain", "single object", "registry", "registry with a large id"],
)
@pytest.mark.parametrize("contenttype", ["", "application/avro", "avro/binary", "application/vnd.apache.avro+binary"])
def test_all_binary_forms_are_read(payload: bytes, contenttype: str) -> None:
    assert parse_schema("Avro", OVEN).validate(payload, contenttype) == (VALUE, [])


@pytest.mark.parametrize(
    ("payload", "code", "found"),
    [
        (b"\xc3\x01" + b"12345678" + PLAIN, "schema_id_unknown", "the schema fingerprint 3132333435363738"),
        (b"\xc3\x01" + FINGERPRINT + PLAIN[:-1], "payload_truncated", "cut off"),
        (b"\xc3\x01" + FINGERPRINT + PLAIN + b"!", "payload_trailing_bytes", "followed by 1 more byte"),
        (b"\0\0\0\0\x01" + PLAIN + b"!!", "payload_trailing_bytes", "followed by 2 more bytes"),
        (b"\0\0\0\0\x01" + PLAIN[:-1], "payload_truncated", "cut off"),
        (b"\0\0\0", "payload_trailing_bytes", "followed by 1 more byte"),
        (b"\x01" + PLAIN, "payload_length", "-1 bytes long"),
    ],
)
def test_other_things_in_front_are_refused(payload: bytes, code: str, found: str) -> None:
    _, violations = parse_schema("Avro", OVEN).validate(payload)
    assert [(violation.code, violation.found) for violation in violations] == [(code, found)]


def test_a_container_file_is_not_a_value() -> None:
    file = io.BytesIO()
    fastavro.writer(file, OVEN, [VALUE])
    _, violations = parse_schema("Avro", OVEN).validate(file.getvalue())
    assert [violation.code for violation in violations] == ["payload_container"]


def test_the_plain_encoding_goes_before_a_header() -> None:
    # Five empty texts and a number are also a header and a text.
    fields = [{"name": f"t{index}", "type": "string"} for index in range(5)]
    document = {"type": "record", "name": "Texts", "fields": [*fields, {"name": "n", "type": "int"}]}
    assert parse_schema("Avro", document).validate(bytes(6))[0]["n"] == 0
