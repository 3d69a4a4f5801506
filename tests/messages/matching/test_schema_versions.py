"""Payloads with a header are read with the version of their schema that wrote them, or not at all."""

from __future__ import annotations

import io
import json
import random
from typing import Any

import fastavro
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from postroom.errors import SchemaRefused
from postroom.formats.fill_columns import ColumnMismatch, filler
from postroom.formats.format_table import parse_schema, readable
from postroom.formats.schema_versions import WriterVersion
from postroom.messages.engine import Engine
from postroom.messages.matching.columnar import LandedEvents
from postroom.messages.matching.explain import explain_match
from postroom.messages.matching.line_batches import match_lines
from tests.formats.avro.evolutions import evolutions, framed
from tests.messages.versions import SCHEMA, bundle, catalog, line, sort


def record(*fields: Any) -> dict[str, Any]:
    return {"type": "record", "name": "R", "fields": [{"name": n, "type": t, **more} for n, t, more in fields]}


def door(*symbols: str) -> dict[str, Any]:
    return record(("door", {"type": "enum", "name": "Door", "symbols": [*symbols]}, {}))


PAIRS = [
    (door("OPEN", "CLOSED"), door("OPEN", "AJAR", "CLOSED"), {"door": "CLOSED"}, {"door": "CLOSED"}),
    (
        record(("low", "int", {}), ("high", "int", {})),
        record(("high", "int", {}), ("low", "int", {})),
        {"low": 1, "high": 9},
        {"low": 1, "high": 9},
    ),
    (
        record(("first", "string", {}), ("last", "string", {})),
        record(("last", "string", {}), ("first", "string", {})),
        {"first": "Ada", "last": "Lovelace"},
        {"first": "Ada", "last": "Lovelace"},
    ),
    (
        record(("amount", "long", {})),
        record(("amount", "long", {}), ("currency", "string", {"default": "CHF"})),
        {"amount": 7},
        {"amount": 7, "currency": "CHF"},
    ),
]
NAMES = ["symbol between", "swapped numbers", "swapped texts", "added field"]
both = pytest.mark.parametrize(("first", "second", "written", "landed"), PAIRS, ids=NAMES)


def avro(document: Any, value: Any) -> bytes:
    return parse_schema("Avro", document).encode(value)


def fingerprint(document: Any) -> bytes:
    form = fastavro.schema.to_parsing_canonical_form(document)
    return bytes.fromhex(fastavro.schema.fingerprint(form, "CRC-64-AVRO"))


@both
def test_what_the_first_version_wrote_lands_as_it_was_written(
    first: Any, second: Any, written: Any, landed: Any
) -> None:
    known = catalog({"1": (first, [101]), "2": (second, [102, 103])})
    found = sort(known, framed(101, avro(first, written)))
    assert (found.match.outcome, found.data, found.writer) == ("landed", landed, WriterVersion("1", "101"))
    found = sort(known, framed(103, avro(second, landed)))
    assert (found.match.outcome, found.data, found.writer) == ("landed", landed, WriterVersion("2", "103"))
    assert sort(known, avro(second, landed)).writer is None


@both
def test_a_definition_may_refer_to_an_older_version(first: Any, second: Any, written: Any, landed: Any) -> None:
    known = catalog({"1": (first, [101]), "2": (second, [102])}, reference=f"{SCHEMA}/versions/1")
    found = sort(known, framed(102, avro(second, landed)))
    assert (found.match.outcome, found.data, found.writer) == ("landed", written, WriterVersion("2", "102"))


@both
def test_single_object_encoding_is_known_by_its_fingerprint(first: Any, second: Any, written: Any, landed: Any) -> None:
    known = catalog({"1": (first, []), "2": (second, [])})
    found = sort(known, b"\xc3\x01" + fingerprint(first) + avro(first, written))
    assert (found.match.outcome, found.data) == ("landed", landed)
    assert found.writer == WriterVersion("1", fingerprint(first).hex())


@both
def test_an_id_that_no_version_has_is_told_with_the_remedy(first: Any, second: Any, written: Any, landed: Any) -> None:
    known = catalog({"1": (first, [101]), "2": (second, [])})
    for payload, shown in [
        (framed(104, avro(first, written)), "the schema id 104"),
        (b"\xc3\x01" + b"stranger" + avro(first, written), f"the schema fingerprint {b'stranger'.hex()}"),
    ]:
        match = sort(known, payload).match
        assert match.outcome == "invalid"
        assert [(reason.code, reason.found) for reason in match.reasons] == [("schema_id_unknown", shown)]
        assert match.reasons[0].expected == "version 1 (schemaids 101), version 2 (no schemaids)"
        assert "`schemaids`" in explain_match(match)


def test_the_only_version_reads_any_id_where_it_lists_none() -> None:
    document, value = record(("amount", "long", {})), {"amount": 7}
    found = sort(catalog({"1": (document, [])}), framed(104, avro(document, value)))
    assert (found.match.outcome, found.data, found.writer) == ("landed", value, WriterVersion("1", "104"))
    known = catalog({"1": (document, [101])})
    assert sort(known, framed(104, avro(document, value))).match.reasons[0].code == "schema_id_unknown"
    assert bundle(known, [framed(104, avro(document, value))])[1] == [0]


def test_an_id_that_two_versions_have_says_nothing() -> None:
    first, second, written, _ = PAIRS[0]
    known = catalog({"1": (first, [101]), "2": (second, [101])})
    assert sort(known, framed(101, avro(first, written))).match.reasons[0].code == "schema_id_unknown"


@pytest.mark.parametrize(
    ("first", "code"),
    [
        ("nonsense", "schema_unusable"),
        (None, "schema_unusable"),
        (record(("amount", "string", {})), "payload_resolution"),
    ],
)
def test_a_version_that_cannot_be_used_is_told(first: Any, code: str) -> None:
    second = record(("amount", "long", {}))
    known = catalog({"1": (first, [101]), "2": (second, [102])})
    payload = avro(first, {"amount": "x"}) if isinstance(first, dict) else b"\2"
    assert [reason.code for reason in sort(known, framed(101, payload)).match.reasons] == [code]
    assert sort(known, framed(102, b"\2")).match.outcome == "landed"
    assert bundle(known, [framed(101, payload)] * 2)[1] == [0, 1]


def test_a_payload_that_fits_with_and_without_a_header_is_not_guessed_at() -> None:
    many = record(*((f"t{number}", ["null", "string"], {"default": None}) for number in range(8)))
    few = record(*((f"t{number}", ["null", "string"], {"default": None}) for number in range(3)))
    nothing = avro(many, {})  # eight zero bytes: also a header and three
    assert sort(catalog({"1": (many, [])}), nothing).match.outcome == "landed"
    for ids in ([], [101]):
        known = catalog({"1": (few, ids), "2": (many, [])})
        assert sort(known, nothing).match.reasons[0].code == "schema_id_unknown"
        assert bundle(known, [nothing] * 2)[1] == [0, 1]
    # A number as large as this is no id.
    unlikely = avro(many, {"t0": None, "t1": "xxxxx"})
    assert sort(catalog({"1": (few, []), "2": (many, [])}), unlikely).writer is None


def test_a_known_id_goes_before_a_payload_that_fits_as_it_stands() -> None:
    many = record(*((f"t{number}", ["null", "string"], {"default": None}) for number in range(8)))
    few = record(*((f"t{number}", ["null", "string"], {"default": None}) for number in range(3)))
    known = catalog({"1": (few, [0]), "2": (many, [])})
    assert sort(known, bytes(8)).writer == WriterVersion("1", "0")
    assert sort(known, bytes(9)).match.reasons[0].code == "payload_trailing_bytes"


PROTO = [
    'syntax = "proto3"; message M { int32 low = 1; int32 high = 2; }',
    'syntax = "proto3"; message M { int32 high = 1; int32 low = 2; }',
]
JSON = [
    {"type": "object", "properties": {"low": {"type": "integer"}}, "additionalProperties": False},
    {"type": "object", "properties": {"low": {"type": "integer"}, "high": {"type": "integer"}}, "required": ["high"]},
]
STRUCTURE = [
    {
        "$schema": "https://json-structure.org/meta/core/v0/#",
        "$id": f"https://example.com/{number}",
        "name": "M",
        "type": "object",
        "properties": {"low": {"type": kind}},
        "required": ["low"],
    }
    for number, kind in enumerate(["int32", "string"])
]


@pytest.mark.parametrize(
    ("schema_format", "documents", "payloads", "values"),
    [
        ("Protobuf/3", PROTO, [b"\0\x08\x01\x10\x09", b"\0\x08\x09\x10\x01"], [{"low": 1, "high": 9}] * 2),
        ("JsonSchema/draft-07", JSON, [b'{"low": 1}', b'{"high": 2}'], [{"low": 1}, {"high": 2}]),
        ("JsonStructure/draft-02", STRUCTURE, [b'{"low": "x"}', b'{"low": "x"}'], [None, {"low": "x"}]),
    ],
    ids=["Protobuf", "JSON Schema", "JSON Structure"],
)
def test_other_formats_are_read_by_the_version_that_wrote_them(
    schema_format: str, documents: list[Any], payloads: list[bytes], values: list[Any]
) -> None:
    known = catalog({"1": (documents[0], [101]), "2": (documents[1], [102])}, schema_format)
    for number, (payload, value) in enumerate(zip(payloads, values, strict=True), 1):
        found = sort(known, framed(100 + number, payload))
        assert found.match.outcome == ("invalid" if value is None else "landed"), found.match
        landed, left = bundle(known, [framed(100 + number, payload)] * 3)
        assert left == ([0, 1, 2] if value is None else [])
        if landed is not None and value is not None:
            assert (found.data, found.writer) == (value, WriterVersion(str(number), f"{100 + number}"))
            assert [landed.data[place] for place in range(3)] == [value] * 3
            assert landed.writers == dict.fromkeys(range(3), WriterVersion(str(number), f"{100 + number}"))
        match = sort(known, framed(104, payload)).match
        assert [reason.code for reason in match.reasons] == ["schema_id_unknown"]
        assert bundle(known, [framed(104, payload)])[1] == [0]
    only = catalog({"1": (documents[1], [])}, schema_format)
    found = sort(only, framed(104, payloads[1]))
    assert (found.match.outcome, found.writer) == ("landed", WriterVersion("1", "104"))


def test_members_that_protobuf_renames_keep_their_values() -> None:
    both = "Line line = 2; repeated Line lines = 3; map<string, Line> by = 4; M m = 5;"
    first, second = (
        f'syntax="proto3"; message Line {{ string {part} = 1; }} message M {{ int32 {own} = 1; {both} int32 {other}; }}'
        for own, other, part in (("qty", "a = 6", "sku"), ("count", "b = 7", "article"))
    )
    known = catalog({"1": (first, [101]), "2": (second, [102])}, "Protobuf/3")
    value = {
        "qty": 3,
        "line": {"sku": "x"},
        "lines": [{"sku": "y"}],
        "by": {"k": {"sku": "z"}},
        "m": {"qty": 4},
        "a": 9,
    }
    found = sort(known, framed(101, b"\2\2" + parse_schema("Protobuf/3", first).encode(value)))
    assert found.match.outcome == "landed", found.match
    data = {name: plain(member) for name, member in found.data.items()}
    assert (data["count"], data["line"], data["lines"]) == (3, {"article": "x"}, [{"article": "y"}])
    assert data["by"] == {"k": {"article": "z"}}
    assert data["m"]["count"] == 4
    assert "a" not in data


def test_nulls_that_count_as_absent_do_so_in_the_version_that_wrote_them() -> None:
    from postroom.messages.engine import Engine

    known = catalog({"1": (JSON[0], [101]), "2": (JSON[1], [102])}, "JsonSchema/draft-07")
    engine = Engine(known.compiled, nulls="absent")
    (found,) = engine.sort_exactly(line(framed(101, b'{"low": null}')))
    assert (found.match.outcome, found.data, found.writer) == ("landed", {}, WriterVersion("1", "101"))


def test_avro_in_json_is_resolved_too() -> None:
    first, second, _, landed = PAIRS[3]
    known = catalog({"1": (first, [101]), "2": (second, [102])}, datacontenttype="application/json")
    assert sort(known, framed(101, b'{"amount": 7}'), "application/json").data == landed
    assert sort(known, framed(104, b'{"amount": 7}'), "application/json").match.reasons[0].code == "schema_id_unknown"


def test_consumers_get_the_value_that_was_written() -> None:
    from postroom.messages.matching.dispatch import MessageDispatcher
    from postroom.protocols.records import parse_record

    first, second, written, landed = PAIRS[1]
    known = catalog({"1": (first, [101]), "2": (second, [102])})
    dispatcher = MessageDispatcher(known.engine, {"/messagegroups/g/messages/m": lambda message: message.data})
    assert dispatcher(parse_record(line(framed(101, avro(first, written))))) == [landed]


def test_payloads_that_are_text_on_their_lines_are_no_exception() -> None:
    first, second, written, landed = PAIRS[2]
    known = catalog({"1": (first, [101]), "2": (second, [102])})
    payloads = [framed(101, avro(first, written)), framed(102, avro(second, landed)), avro(second, landed)]
    headers = {"ce_specversion": "1.0", "ce_id": "1", "ce_source": "/a", "ce_type": "m"}
    for some in (payloads, payloads[:1] * 3, payloads[1:2] * 3):
        lines = [
            json.dumps({"protocol": "KAFKA", "metadata": {"headers": headers}, "payload": payload.decode()}).encode()
            for payload in some
        ]
        exact = [known.engine.sort_exactly(line)[0] for line in lines]
        assert [(one.match.outcome, one.data) for one in exact] == [("landed", landed)] * 3
        groups: list[LandedEvents] = []
        assert list(known.engine.judge(lines, groups.append)) == []
        (found,) = groups
        assert [found.data[place] for place in range(3)] == [landed] * 3
        assert [found.writers.get(place) for place in range(3)] == [one.writer for one in exact]
        alone = [known.engine.sort_exactly(line)[0] for line in lines]
        assert [(one.match, one.data, one.writer) for one in alone] == [
            (one.match, one.data, one.writer) for one in exact
        ]


def sample(document: Any, seed: int) -> Any:
    try:
        return parse_schema("Avro", document).sample(random.Random(seed))
    except SchemaRefused:
        assume(False)


@settings(deadline=None, max_examples=150)
@given(evolutions(records=True), st.integers(0, 1000), st.booleans())
@pytest.mark.feature("SCH-014")
def test_every_route_lands_what_fastavro_resolves(pair: tuple[Any, Any], seed: int, by_id: bool) -> None:
    first, second = pair
    assume(readable("Avro", first, second).answer == "compatible")
    old, new = avro(first, sample(first, seed)), avro(second, sample(second, seed))
    try:
        expected = [
            fastavro.schemaless_reader(io.BytesIO(old), first, second),
            fastavro.schemaless_reader(io.BytesIO(new), second, second),
        ]
        filled = list(map(filler(parse_schema("Avro", second).columns()), expected))
    except (UnicodeDecodeError, ColumnMismatch):
        assume(False)
    known = catalog({"1": (first, [101]), "2": (second, [102])})
    if by_id:
        payloads = [framed(101, old), framed(102, new)]
    else:
        assume(fingerprint(first) != fingerprint(second))
        payloads = [b"\xc3\x01" + fingerprint(first) + old, b"\xc3\x01" + fingerprint(second) + new]
    exact = [sort(known, payload) for payload in payloads]
    messages = [known.engine.opened(line(payload))[0] for payload in payloads]
    values = [known.engine.payload(one.definition, message) for one, message in zip(exact, messages, strict=True)]  # type: ignore[arg-type]
    assert values == expected
    assert [(one.match.outcome, plain(one.data)) for one in exact] == [("landed", plain(value)) for value in filled]
    assert [one.writer and one.writer.version for one in exact] == ["1", "2"]
    matches = match_lines(known.engine, [line(payload) for payload in payloads])
    assert [match.outcome for (match,) in matches] == ["landed", "landed"]
    for places in ([0, 0, 0], [1, 1, 1], [0, 1, 0], [1, 0]):
        landed, left = bundle(known, [payloads[place] for place in places])
        assert 0 not in {places[number] for number in left}
        kept = [place for number, place in enumerate(places) if number not in left]
        found = [] if landed is None else [(landed.data[number], landed.writers[number]) for number in range(len(kept))]
        rows = [(plain(data), writer) for data, writer in found]
        assert rows == [(plain(filled[place]), exact[place].writer) for place in kept]


def plain(value: Any) -> Any:
    """A value in which JSON text is what it says, and nothing is null."""
    if isinstance(value, dict):
        return {name: plain(member) for name, member in value.items() if member is not None}
    if isinstance(value, str) and value[:1] in ("{", "["):
        return plain(json.loads(value))
    return [plain(item) for item in value] if isinstance(value, list) else value


def proto(members: str) -> str:
    return f'syntax = "proto3"; message R {{ {members} }}'


def schema_of(*names: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": "integer"} for name in names}}


CLOCK = {"type": "int", "logicalType": "time-millis"}
OPEN = [
    (
        "Avro",
        record(("amount", "long", {}), ("note", "string", {}), ("blob", ["null", "bytes"], {"default": None})),
        record(("amount", "long", {})),
        b"\x0e\x04no\x02\x02\xff",
        {"amount": 7},
        {"note": "no", "blob": "/w=="},
    ),
    (
        "Avro/1.11.0",
        record(("amount", "long", {}), ("day", {"type": "int", "logicalType": "date"}, {}), ("clock", CLOCK, {})),
        record(("amount", "long", {})),
        b"\x0e\x02\xfe\xff\xff\xff\x0f",  # no day is so long
        {"amount": 7},
        {"day": "1970-01-02", "clock": 2**31 - 1},
    ),
    (
        "JsonSchema/draft-07",
        schema_of("amount", "tax"),
        schema_of("amount"),
        b'{"amount":7,"tax":1,"tip":1.10}',
        {"amount": 7},
        {"tax": 1, "tip": 1.10},
    ),
    (
        "Protobuf/3",
        proto("int32 amount = 1; int32 tax = 2;"),
        proto("int32 amount = 1;"),
        b"\0\x08\x07\x10\x01",
        {"amount": 7},
        {"$unknown": "EAE="},
    ),
]


@pytest.mark.parametrize(
    ("schema_format", "first", "second", "body", "data", "left"), OPEN, ids=[one[0] for one in OPEN]
)
def test_what_only_the_writer_has_stays_with_the_row(
    schema_format: str, first: Any, second: Any, body: bytes, data: Any, left: Any
) -> None:
    known = catalog({"1": (first, [101]), "2": (second, [102])}, schema_format)
    known.engine = Engine(known.compiled, keep_transport=True, keep_undeclared=True)
    payload = framed(101, body)
    exact = sort(known, payload)
    assert (exact.match.outcome, exact.data, exact.writer) == ("landed", data, WriterVersion("1", "101"))
    assert json.loads(exact.undeclared or "null") == left
    by_column, others = bundle(known, [payload] * 3)
    assert by_column is not None
    assert others == []
    assert by_column.undeclared == dict.fromkeys(range(3), exact.undeclared)


def test_what_no_version_declares_stays_with_the_row_behind_a_header() -> None:
    known = catalog({"1": (schema_of("amount"), [101])}, "JsonSchema/draft-07")
    known.engine = Engine(known.compiled, keep_transport=True, keep_undeclared=True)
    payloads = [framed(101, b'{"amount":7,"tip":1.10}'), b'{"amount":8,"tip":2}', framed(101, b'{"amount":9}')]
    assert [sort(known, payload).undeclared for payload in payloads] == ['{"tip":1.10}', '{"tip":2}', None]
    by_column, others = bundle(known, payloads)
    assert by_column is not None
    assert (by_column.undeclared, others) == ({0: '{"tip":1.10}', 1: '{"tip":2}'}, [])
