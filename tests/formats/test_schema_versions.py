"""Which version of a schema wrote a payload, and how much work it is to tell."""

from __future__ import annotations

from typing import Any

import pytest

from postroom.formats.format_table import parse_schema
from postroom.formats.schema import PayloadSchema
from postroom.formats.schema_versions import MOST_WRITERS, Version, Versions

PLAIN = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}


def numbered(number: int) -> dict[str, Any]:
    fields = [{"name": "a", "type": "int"}, {"name": f"f{number}", "type": "int", "default": 0}]
    return {"type": "record", "name": "R", "fields": fields}


class Shelf:
    """Many versions of a schema, which counts how many are parsed."""

    def __init__(self, count: int) -> None:
        self.parsed: list[int] = []
        versions = [
            Version(str(number), (number,), lambda number=number: self.parse(number)) for number in range(count)
        ]
        self.versions = Versions(parse_schema("Avro", PLAIN), "own", [Version("own", (), self.fail), *versions])

    def parse(self, number: int) -> PayloadSchema:
        self.parsed.append(number)
        return parse_schema("Avro", numbered(number))

    def fail(self) -> PayloadSchema:
        raise AssertionError("the reader is parsed already")


def test_versions_are_parsed_when_a_payload_names_them_and_once() -> None:
    shelf = Shelf(50)
    for _ in range(3):
        judged = shelf.versions.validate(b"\0\0\0\0\x07\2\4")
        assert (judged.value, judged.violations) == ({"a": 1}, [])
    assert shelf.parsed == [7]
    assert shelf.versions.validate(b"\2").value == {"a": 1}
    assert shelf.parsed == [7]


def test_the_number_of_parsed_versions_is_limited() -> None:
    shelf = Shelf(MOST_WRITERS + 5)
    for number in range(MOST_WRITERS + 5):
        judged = shelf.versions.validate(b"\0" + number.to_bytes(4) + b"\2\4")
        assert [violation.code for violation in judged.violations] in ([], ["schema_unusable"])
    assert len(shelf.parsed) == MOST_WRITERS - 1  # and the reader's own
    assert judged.violations[0].found == "version 1004: payloads of more than 1,000 versions came"


def test_fingerprints_are_worked_out_once() -> None:
    shelf = Shelf(30)
    for _ in range(2):
        assert shelf.versions.validate(b"\xc3\x01stranger\2").violations[0].code == "schema_id_unknown"
    assert len(shelf.parsed) == 30


def test_few_versions_are_tried_on_what_may_be_a_header() -> None:
    shelf = Shelf(100)
    reader = {"type": "record", "name": "R", "fields": [{"name": f"f{n}", "type": "int"} for n in range(6)]}
    shelf.versions = Versions(parse_schema("Avro", reader), "own", [*shelf.versions._versions.values()])
    judged = shelf.versions.validate(b"\0\0\0\xff\x01\2\4")
    assert len(shelf.parsed) < 20
    assert judged.violations[0].code == "schema_id_unknown"


@pytest.mark.parametrize("payload", [b"", b"\0", b"\0\0\0\0", b"\xc3", b"\xc3\x01", b"\xc3\x01short"])
def test_a_payload_shorter_than_a_header_has_none(payload: bytes) -> None:
    judged = Versions(parse_schema("Avro", PLAIN), "1").validate(payload)
    assert judged.writer is None
    assert bool(judged.violations) == (payload not in (b"\0", b"\xc3\x01"))


def test_a_violation_names_only_the_first_of_many_versions() -> None:
    shown = Shelf(40).versions.validate(b"\0\0\0\xff\xff\2\4").violations[0].expected
    assert shown.startswith("version 0 (schemaids 0), version 1 (schemaids 1)")
    assert shown.endswith(", …")


def test_a_format_without_headers_validates_payloads_as_they_are() -> None:
    document = '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="a" type="xs:int"/></xs:schema>'
    versions = Versions(parse_schema("XSD/1.0", document), "1", [Version("1", (7,), lambda: None)])  # type: ignore[arg-type, return-value]
    assert versions.validate(b"<a>5</a>").violations == []
    assert versions.validate(b"\0\0\0\0\x07<a>5</a>").violations[0].code == "payload_not_xml"
