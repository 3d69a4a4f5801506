"""Payloads of one schema read with another."""

import datetime
import io
import random
from typing import Any

import fastavro
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from postroom.errors import SchemaRefused
from postroom.formats.avro.codec.resolving_reader import resolving_reader
from postroom.formats.avro.format import Avro, parse
from postroom.formats.avro.value_errors import Misfit
from postroom.formats.format_table import readable
from postroom.formats.schema import SchemaDocument
from tests.formats.avro.evolutions import evolutions
from tests.formats.avro.test_properties import sample

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def avro(document: Any) -> Avro:
    return parse(SchemaDocument(document=document))


def resolved(writer: Any, reader: Any, value: Any) -> Any:
    payload = avro(writer).encode(value)
    found, end = resolving_reader(avro(writer).type, avro(reader).type)(payload, 0, 0)
    assert end == len(payload)
    return found


def record(*fields: Any, name: str = "R", **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [*fields], **more}


def field(name: str, kind: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, **more}


@settings(deadline=None, max_examples=300)
@given(evolutions(), st.integers(0, 1000))
@pytest.mark.feature("SCH-014")
def test_what_a_compatible_writer_wrote_reads_as_fastavro_resolves_it(pair: tuple[Any, Any], seed: int) -> None:
    writer, reader = pair
    assume(readable("Avro", writer, reader).answer == "compatible")
    value = sample(avro(writer), seed)
    payload = avro(writer).encode(value)
    try:
        expected = fastavro.schemaless_reader(io.BytesIO(payload), writer, reader)
    except UnicodeDecodeError:
        assume(False)
    assert resolved(writer, reader, value) == expected


def enum(*symbols: str, **more: Any) -> dict[str, Any]:
    return {"type": "enum", "name": "E", "symbols": [*symbols], **more}


@pytest.mark.parametrize(
    ("writer", "reader", "value", "expected"),
    [
        (enum("OPEN", "CLOSED"), enum("OPEN", "AJAR", "CLOSED"), "CLOSED", "CLOSED"),
        (enum("OPEN", "CLOSED"), enum("OPEN", default="OPEN"), "CLOSED", "OPEN"),
        (
            record(field("low", "int"), field("high", "int")),
            record(field("high", "int"), field("low", "int")),
            {"low": 1, "high": 9},
            {"high": 9, "low": 1},
        ),
        (record(field("a", "int")), record(field("b", "long", aliases=["a"])), {"a": 1}, {"b": 1}),
        # A field of the same name goes before one that is only called so.
        (
            record(field("a", "int")),
            record(field("b", "int", aliases=["a"], default=5), field("a", "int")),
            {"a": 1},
            {"a": 1, "b": 5},
        ),
        (record(field("a", "int"), field("b", "string")), record(field("b", "string")), {"a": 1, "b": "x"}, {"b": "x"}),
        (record(name="a.R"), record(name="b.R"), {}, {}),
        (record(name="a.Old"), record(name="R", aliases=["a.Old"]), {}, {}),
        (record(), record(field("raw", "bytes", default="\xff")), {}, {"raw": b"\xff"}),
        (record(), record(field("x", "double", default=3)), {}, {"x": 3.0}),
        (record(), record(field("x", "double", default="Infinity")), {}, {"x": float("inf")}),
        (record(), record(field("u", ["null", "int"], default=3)), {}, {"u": 3}),
        # fastavro leaves out the defaults inside a default.
        (
            record(),
            record(field("r", record(field("n", "int", default=4), name="S"), default={})),
            {},
            {"r": {"n": 4}},
        ),
        (
            record(),
            record(field("day", {"type": "int", "logicalType": "date"}, default=1)),
            {},
            {"day": datetime.date(1970, 1, 2)},
        ),
        ("int", ["string", "double", "long"], 5, 5.0),
        (["int", "string"], "string", "x", "x"),
        ("string", "bytes", "ä", b"\xc3\xa4"),
        ("bytes", "string", b"\xc3\xa4", "ä"),
        (record(name="a.R"), [record(name="b.R"), record(name="a.R")], {}, {}),
    ],
)
def test_the_rules_of_the_specification(writer: Any, reader: Any, value: Any, expected: Any) -> None:
    found = resolved(writer, reader, value)
    assert (found, repr(found)) == (expected, repr(expected)) or (found == expected and isinstance(found, dict))


def long(logical: str) -> dict[str, str]:
    return {"type": "long", "logicalType": logical}


@pytest.mark.parametrize(
    ("writer", "reader", "ticks", "expected"),
    [
        ("timestamp-millis", "timestamp-micros", 1500, EPOCH + datetime.timedelta(milliseconds=1500)),
        ("timestamp-micros", "timestamp-millis", 1500, EPOCH + datetime.timedelta(microseconds=1500)),
        ("timestamp-nanos", "timestamp-micros", 5000, EPOCH + datetime.timedelta(microseconds=5)),
        ("timestamp-millis", "timestamp-nanos", 5, "1970-01-01T00:00:00.005000000Z"),
        ("local-timestamp-micros", "local-timestamp-millis", 5, "1970-01-01T00:00:00.000005"),
        ("", "timestamp-millis", 1500, EPOCH + datetime.timedelta(milliseconds=1500)),
        ("timestamp-millis", "", 1500, 1500),
    ],
)
def test_a_time_stays_the_same_time_in_another_unit(writer: str, reader: str, ticks: int, expected: Any) -> None:
    types = [long(name) if name else "long" for name in (writer, reader)]
    payload = avro("long").encode(ticks)
    assert resolving_reader(avro(types[0]).type, avro(types[1]).type)(payload, 0, 0)[0] == expected
    assert readable("Avro", *types).answer == "compatible"


@pytest.mark.parametrize(
    ("writer", "reader"),
    [
        ({"type": "int", "logicalType": "date"}, long("timestamp-millis")),
        (long("local-timestamp-millis"), long("timestamp-millis")),
        (
            {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
            {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 4},
        ),
    ],
)
def test_what_means_something_else_is_not_read_as_if_it_were_the_same(writer: Any, reader: Any) -> None:
    read = resolving_reader(avro(writer).type, avro(reader).type)
    with pytest.raises(Misfit) as refused:
        read(avro(writer).encode(avro(writer).sample(random.Random(1))), 0, 0)
    assert refused.value.code == "payload_resolution"
    assert readable("Avro", writer, reader).answer == "undecided"


@pytest.mark.parametrize(
    ("writer", "reader", "value", "at"),
    [
        (record(), record(field("currency", "string")), {}, ""),
        (record(field("door", enum("AJAR"))), record(field("door", enum("OPEN"))), {"door": "AJAR"}, "/door"),
        (record(field("a", "string")), record(field("a", "int")), {"a": "x"}, "/a"),
        (record(field("a", ["null", "string"])), record(field("a", ["null", "int"])), {"a": "x"}, "/a"),
        (record(name="A"), record(name="B"), {}, ""),
        (long("timestamp-nanos"), long("timestamp-micros"), "1970-01-01T00:00:00.000000001Z", ""),
    ],
)
def test_what_does_not_resolve_is_told_with_its_place(writer: Any, reader: Any, value: Any, at: str) -> None:
    with pytest.raises(Misfit) as refused:
        resolved(writer, reader, value)
    assert refused.value.code in ("payload_resolution", "payload_precision")
    assert refused.value.violation().at == at


def test_other_values_of_the_same_writer_still_resolve() -> None:
    writer, reader = record(field("a", ["null", "string"])), record(field("a", ["null", "int"]))
    assert resolved(writer, reader, {"a": None}) == {"a": None}


def test_a_record_may_lie_in_itself_a_hundred_times() -> None:
    writer = record(field("next", ["null", "R"]))
    reader = record(field("next", ["null", "R"]), field("n", "int", default=1))
    payload = b"\x02" * 100 + b"\x00"
    with pytest.raises(Misfit) as refused:
        resolving_reader(avro(writer).type, avro(reader).type)(payload, 0, 0)
    assert refused.value.code == "payload_depth"


def test_defaults_that_would_swell_a_small_payload_are_refused() -> None:
    inner: Any = "int"
    for level in range(30):
        inner = record(
            field("a", inner, default=0 if level == 0 else {}),
            field("b", "int" if level == 0 else f"L{level - 1}", default=0 if level == 0 else {}),
            name=f"L{level}",
        )
    reader = record(field("swollen", {"type": "array", "items": inner}, default=[{}]))
    with pytest.raises(SchemaRefused):
        resolving_reader(avro(record()).type, avro(reader).type)
