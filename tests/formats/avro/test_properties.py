"""Properties that hold for any Avro schema."""

import contextlib
import io
import random
from typing import Any

import fastavro
import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from postroom.errors import SchemaRefused
from postroom.formats.avro.render_schema import render_schema
from postroom.formats.column_types import StructOf
from postroom.formats.fill_columns import ColumnMismatch, filler
from postroom.formats.format_table import check_schema, parse_schema, readable

PRIMITIVES = ["null", "boolean", "int", "long", "float", "double", "bytes", "string"]
LOGICAL = [
    {"type": "int", "logicalType": "date"},
    {"type": "int", "logicalType": "time-millis"},
    {"type": "long", "logicalType": "time-micros"},
    {"type": "long", "logicalType": "timestamp-millis"},
    {"type": "long", "logicalType": "timestamp-micros"},
    {"type": "long", "logicalType": "timestamp-nanos"},
    {"type": "long", "logicalType": "local-timestamp-millis"},
    {"type": "long", "logicalType": "local-timestamp-micros"},
    {"type": "long", "logicalType": "local-timestamp-nanos"},
    {"type": "string", "logicalType": "uuid"},
    {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
    {"type": "bytes", "logicalType": "decimal", "precision": 50, "scale": 10},
    {"type": "bytes", "logicalType": "big-decimal"},
    {"type": "string", "logicalType": "of-our-own"},
]


@st.composite
def schemas(draw: st.DrawFn, logical: bool = True, records: bool = False) -> Any:
    """A schema document that Avro allows, or one of a record with fields; records may contain themselves through
    unions, lists and maps."""
    count = iter(range(1000))
    leaves = PRIMITIVES + (LOGICAL if logical else [])

    def kind(depth: int, around: list[str], in_union: bool = False) -> Any:
        choices = ["leaf", "leaf", "enum", "fixed"]
        if depth < 3:
            choices += ["record", "record", "array", "map"] + ([] if in_union else ["union"])
        choice = draw(st.sampled_from(choices))
        if choice == "leaf":
            return draw(st.sampled_from(leaves))
        if choice == "enum":
            return {"type": "enum", "name": f"Colour{next(count)}", "symbols": ["RED", "GREEN"]}
        if choice == "fixed":
            return draw(st.sampled_from(fixed(f"Key{next(count)}")))
        if choice == "array":
            return {"type": "array", "items": kind(depth + 1, around)}
        if choice == "map":
            return {"type": "map", "values": kind(depth + 1, around)}
        return union(depth, around) if choice == "union" else record(depth, around)

    def fixed(name: str) -> list[Any]:
        plain = {"type": "fixed", "name": name, "size": draw(st.integers(0, 9))}
        special = [
            {"type": "fixed", "name": name, "size": 16, "logicalType": "uuid"},
            {"type": "fixed", "name": name, "size": 12, "logicalType": "duration"},
            {"type": "fixed", "name": name, "size": 8, "logicalType": "decimal", "precision": 18, "scale": 4},
        ]
        return [plain, *(special if logical else [])]

    def union(depth: int, around: list[str]) -> Any:
        branches, seen = [], set()
        if draw(st.booleans()):
            branches.append("null")
            seen.add("null")
        for _ in range(draw(st.integers(1, 3))):
            branch = draw(st.sampled_from(around)) if around and draw(st.booleans()) else kind(depth + 1, around, True)
            name = branch if isinstance(branch, str) else branch.get("name", branch["type"])
            if name not in seen:
                branches.append(branch)
                seen.add(name)
        return branches

    def record(depth: int, around: list[str], fewest: int = 0) -> Any:
        name = f"Part{next(count)}"
        fields = [
            {"name": f"member{index}", "type": kind(depth + 1, [*around, name])}
            for index in range(draw(st.integers(fewest, 4)))
        ]
        return {"type": "record", "name": name, "fields": fields}

    return record(0, [], fewest=1) if records else kind(0, [])


def sample(schema: Any, seed: int) -> Any:
    try:
        return schema.sample(random.Random(seed))
    except SchemaRefused:
        # A union of records that all contain that union has no values.
        assume(False)


@settings(deadline=None, max_examples=150)
@given(schemas(), st.integers(0, 1000))
@pytest.mark.feature("SCH-014")
def test_what_is_invented_survives_the_way_there_and_back(document: Any, seed: int) -> None:
    schema = parse_schema("Avro", document)
    value = sample(schema, seed)
    assert schema.validate(schema.encode(value)) == (value, [])
    filler(schema.columns())(value)


@settings(deadline=None, max_examples=100)
@given(schemas(), st.integers(0, 1000))
def test_an_encoded_value_behind_the_header_of_a_registry_is_found(document: Any, seed: int) -> None:
    schema = parse_schema("Avro", document)
    value = sample(schema, seed)
    assert schema.validate(b"\0\0\0\0\x07" + schema.encode(value))[1] == [] or len(schema.encode(value)) == 0


@settings(deadline=None, max_examples=100)
@given(schemas(logical=False), st.integers(0, 1000))
def test_fastavro_reads_the_same(document: Any, seed: int) -> None:
    schema = parse_schema("Avro", document)
    payload = schema.encode(sample(schema, seed))
    assert fastavro.schemaless_reader(io.BytesIO(payload), render_schema(schema.type)) == schema.validate(payload)[0]


@settings(deadline=None, max_examples=150)
@given(schemas(), st.binary(max_size=60), st.sampled_from(["", "application/json"]))
def test_no_payload_raises(document: Any, payload: bytes, contenttype: str) -> None:
    schema = parse_schema("Avro", document)
    value, violations = schema.validate(payload, contenttype)
    if violations:
        return
    # The only values that columns do not hold are times of other years.
    with contextlib.suppress(ColumnMismatch):
        filler(schema.columns())(value)


@settings(deadline=None, max_examples=150)
@given(schemas(), st.integers(0, 1000), st.integers(0, 10_000), st.integers(1, 255))
def test_no_damaged_payload_raises(document: Any, seed: int, place: int, change: int) -> None:
    schema = parse_schema("Avro", document)
    payload = bytearray(schema.encode(sample(schema, seed)))
    # What begins with a zero may be a header and something shorter.
    assert payload[:1] == b"\0" or schema.validate(bytes(payload) + b"\x01\x02\x03")[1]
    if payload:
        payload[place % len(payload)] ^= change
    schema.validate(bytes(payload))
    schema.validate(bytes(payload[: place % (len(payload) + 1)]))


@st.composite
def payloads(draw: st.DrawFn) -> tuple[Any, bytes]:
    """The schema of a record, and a payload of it that may be damaged, cut off, framed, or followed by more."""
    schema = parse_schema("Avro", draw(schemas(records=True)))
    payload = bytearray(schema.encode(sample(schema, draw(st.integers(0, 1000)))))
    way = draw(st.sampled_from(["as it is", "as it is", "damaged", "cut off", "framed", "longer"]))
    if way == "damaged" and payload:
        payload[draw(st.integers(0, len(payload) - 1))] ^= draw(st.integers(1, 255))
    elif way == "cut off":
        del payload[draw(st.integers(0, len(payload))) :]
    elif way == "framed":
        payload[:0] = draw(st.sampled_from([b"\0\0\0\0\7", b"\xc3\x01" + bytes(8)]))
    elif way == "longer":
        payload += b"\0"
    return schema, bytes(payload)


@settings(deadline=None, max_examples=300)
@given(payloads())
def test_the_short_way_takes_what_the_exact_one_takes_and_makes_the_same_of_it(found: tuple[Any, bytes]) -> None:
    schema, payload = found
    quick, sure = schema.fill(payload)
    doubtful: set[int] = set()
    several = schema.fill_all([payload, payload], doubtful)
    assert len(several) == 2
    assert not sure or repr([several[0], several[1]]) == repr([quick, quick])  # NaN equals nothing
    assert doubtful == (set() if sure else {0, 1})
    value, violations = schema.validate(payload)
    if sure:
        assert violations == []
        assert _sorted(quick) == _sorted(filler(schema.columns())(value))


def _sorted(value: Any) -> str:
    """The same text for values that are alike: members in any order, and NaN equal to itself."""
    if isinstance(value, dict):
        return repr(sorted((name, _sorted(member)) for name, member in value.items()))
    return repr([_sorted(item) for item in value]) if isinstance(value, list) else repr(value)


@settings(deadline=None, max_examples=100)
@given(schemas(), st.integers(0, 1000))
def test_plain_json_of_a_value_is_read(document: Any, seed: int) -> None:
    schema = parse_schema("Avro", document)
    value = sample(schema, seed)
    # Bytes are base64 in JSON text here, which is text with a character for each byte as well, but of another length.
    assume("bytes" not in str(document) and "fixed" not in str(document))
    assert schema.validate(msgspec.json.encode(value), "application/json")[1] == []


@settings(deadline=None, max_examples=100)
@given(schemas())
def test_every_schema_reads_its_own_payloads(document: Any) -> None:
    assert readable("Avro", document, document).answer == "compatible"


@settings(deadline=None, max_examples=150)
@given(schemas(), schemas())
def test_a_no_comes_with_a_payload_of_the_writer(writer: Any, reader: Any) -> None:
    verdict = readable("Avro", writer, reader)
    if verdict.answer == "incompatible":
        assert verdict.counterexample is not None
        assert parse_schema("Avro", writer).validate(verdict.counterexample)[1] == []


@settings(deadline=None, max_examples=150)
@given(schemas(logical=False), schemas(logical=False), st.integers(0, 1000))
def test_a_yes_is_never_broken_by_a_payload(writer: Any, reader: Any, seed: int) -> None:
    if readable("Avro", writer, reader).answer != "compatible":
        return
    schema = parse_schema("Avro", writer)
    payload = schema.encode(sample(schema, seed))
    # Bytes promoted to text need not be UTF-8; that is not for resolution to say.
    try:
        fastavro.schemaless_reader(io.BytesIO(payload), render_schema(schema.type), reader)
    except UnicodeDecodeError:
        return


@settings(deadline=None, max_examples=100)
@given(schemas(records=True))
def test_another_optional_member_only_adds_a_column(document: Any) -> None:
    more = {**document, "fields": [*document["fields"], {"name": "late", "type": ["null", "string"], "default": None}]}
    before, after = parse_schema("Avro", document).columns(), parse_schema("Avro", more).columns()
    assert isinstance(before, StructOf)
    assert isinstance(after, StructOf)
    assert after.fields[:-1] == before.fields


MEMBERS = st.sampled_from(["type", "name", "fields", "items", "values", "symbols", "size", "default"])
LEAVES = st.none() | st.booleans() | st.integers() | st.sampled_from([*PRIMITIVES, "record", "enum", "Oven"])
DOCUMENTS = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(MEMBERS, inner), max_leaves=12
)


@settings(deadline=None, max_examples=200)
@given(DOCUMENTS)
def test_no_document_raises_anything_but_a_refusal(document: Any) -> None:
    with contextlib.suppress(SchemaRefused):
        check_schema("Avro", document)
