"""The columnar judge says of every event that it accepts what the exact judge says.

Over random catalogs, all payload formats, protocols, modes and settings; the tables of both are compared in
tests/pipeline/worker/test_agreement.py.
"""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from postroom.catalog.catalog import Catalog
from postroom.errors import MakeRefused
from postroom.messages.engine import Engine
from postroom.messages.making.make import AUTO, Maker
from postroom.messages.making.make_invalid import make_invalid
from postroom.messages.matching.line_batches import match_lines
from postroom.protocols.records import JSON_BATCH, render_record
from postroom.settings import Settings
from tests.messages.matching.judges import comparable, judge_by_columns
from tests.messages.payloads import GROUPS, SCHEMAS, declared
from tests.messages.random_catalogs import catalogs, lengthy

XID = "/messagegroups/g/messages/m"
WIRES = ("HTTP", "AMQP/1.0", "MQTT/3.1.1", "MQTT/5.0", "KAFKA", "NATS")
TIMES = (
    "2026-05-04T10:00:00Z",
    "2026-05-04T10:00:00.1234567Z",
    "2026-05-04t10:00:00z",
    "2026-05-04T10:00:00+02:00",
    "2016-12-31T23:59:60Z",
    "2026-02-30T10:00:00Z",
    "2026-05-04T24:00:00Z",
    "soon",
)
TYPES = ("text/xml", "Application/JSON; charset=UTF-8", "application/octet-stream", "application/cloudevents+json")
SCHEMA = "https://example.com/schemas/order"
odd = st.sampled_from(
    [None, "", "x", 7, 7.0, True, "7", "é%41", {"a": None}, [1], *TIMES, *TYPES, SCHEMA, "gzip", "identity"]
)
names = st.sampled_from(
    [
        *("id", "source", "subject", "time", "level", "traceid", "x9", "specversion", "nobodys"),
        *("datacontenttype", "dataschema", "ce_dataschema", "content-type", "Content-Type", "content-encoding"),
        *("KIND", "x-trace", "CE_Subject", "key", "key_base64"),
    ]
)


def altered(record: dict[str, Any], data: st.DataObject) -> dict[str, Any]:
    """A record with something else, or nothing, in the place of one of its values."""
    record = json.loads(json.dumps(record))
    spots = [holder for holder in holders(record) if holder] or [record]
    holder = data.draw(st.sampled_from(spots), label="holder")
    name = data.draw(st.sampled_from(sorted(holder)) | names, label="name")
    if data.draw(st.booleans(), label="leave it out"):
        holder.pop(name, None)
    else:
        holder[name] = data.draw(odd, label="value")
    if isinstance(record.get("payload"), dict | list):
        record["payload"] = json.dumps(record["payload"])
    return record


def holders(record: dict[str, Any]) -> list[dict[str, Any]]:
    """The objects of a record: the event or the metadata and its sections, and a payload in JSON."""
    found = [record] if "protocol" not in record else []
    metadata = record.get("metadata", {})
    found += [metadata, *(value for value in metadata.values() if isinstance(value, dict))]
    if isinstance(record.get("data"), dict):
        found.append(record["data"])
    try:
        payload = json.loads(record.get("payload", ""))
    except ValueError:
        return found
    if isinstance(payload, dict):
        record["payload"] = payload
        found += [payload, *(value for value in payload.values() if isinstance(value, dict))]
    return found


def drawn_lines(maker: Maker, data: st.DataObject) -> list[bytes]:
    """Records of all modes: as they are made, made invalid, and altered."""
    rng = random.Random(data.draw(st.integers(0, 2**32), label="seed"))
    values = {name: data.draw(lengthy, label=name) for name in maker.variables}
    own = maker.definition.protocol
    protocol = own or data.draw(st.sampled_from(["", *WIRES] if maker.is_event else WIRES), label="protocol")
    found: list[Any] = []
    for mode in data.draw(st.lists(st.sampled_from(["binary", "structured"]), min_size=1, max_size=3), label="modes"):
        record = render_record(maker.make(values, AUTO, protocol=protocol, mode=mode, rng=rng))
        found += [record, record, altered(record, data), altered(record, data)]
        found.append(render_record(make_invalid(maker, values, protocol=protocol, mode=mode, rng=rng)[0]))
    if maker.is_event and not own and data.draw(st.booleans(), label="a batch"):
        events = [render_record(maker.make(values, AUTO, rng=rng)) for _ in range(2)]
        kafka = {"headers": {"content-type": JSON_BATCH}}
        found += [events, {"protocol": "KAFKA", "metadata": kafka, "payload": json.dumps(events)}]
    return [json.dumps(record).encode() for record in found]


def assert_agreement(engine: Engine, lines: list[bytes]) -> int:
    """How many lines the columnar judge accepts, of which it says what the exact one says."""
    accepted = judge_by_columns(engine, lines)
    for row, result in accepted.items():
        (exact,) = engine.sort_exactly(lines[row])
        assert exactly(comparable(result)) == exactly(comparable(exact))
    exact_matches = [[result.match for result in engine.sort_exactly(line)] for line in lines]
    assert [engine.match_line(line) for line in lines] == exact_matches
    assert match_lines(engine, lines) == exact_matches
    return len(accepted)


def exactly(value: Any) -> Any:
    """A value as a string that tells 1 from 1.0 and from true, without regard to the order of names."""
    if isinstance(value, dict):
        return sorted((repr(name), exactly(member)) for name, member in value.items())
    if isinstance(value, list | tuple):
        return [exactly(item) for item in value]
    if hasattr(value, "__struct_fields__"):
        return [(name, exactly(getattr(value, name))) for name in value.__struct_fields__]
    return repr(value)


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(
    tree=catalogs(with_rivals=True),
    data=st.data(),
    nulls=st.sampled_from(["strict", "absent"]),
    keep_undeclared=st.booleans(),
    assert_formats=st.booleans(),
)
def test_what_the_columnar_judge_accepts_the_exact_one_judges_alike(
    tree: dict[str, Any], data: st.DataObject, nulls: str, keep_undeclared: bool, assert_formats: bool
) -> None:
    catalog = Catalog(tree, settings=Settings(assert_formats=assert_formats))
    assume(not catalog.refused)
    try:
        lines = drawn_lines(catalog.message(XID).maker, data)
    except MakeRefused:
        assume(False)
    engine = Engine(catalog.compiled, nulls=nulls, keep_transport=True, keep_undeclared=keep_undeclared)
    event(f"{min(assert_agreement(engine, lines), 3)} or more accepted")


@pytest.mark.parametrize("nulls", ["strict", "absent"])
@pytest.mark.parametrize("mode", ["binary", "structured"])
@pytest.mark.parametrize("protocol", ["", *WIRES])
@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: f"{schema[0]}-{schema[1]}")
def test_events_of_every_format_protocol_and_mode_are_accepted_by_column(
    schema: tuple[str, str, Any], protocol: str, mode: str, nulls: str
) -> None:
    message = {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "t"}}, **declared(schema)}
    catalog = Catalog({"messagegroups": {"g": {"messages": {"m": message}}}, "schemagroups": GROUPS})
    maker = catalog.message("m").maker
    rng = random.Random(7)
    made = [render_record(maker.make({}, AUTO, protocol=protocol, mode=mode, rng=rng)) for _ in range(4)]
    made.append(render_record(make_invalid(maker, {}, protocol=protocol, mode=mode, rng=rng)[0]))
    lines = [json.dumps(record).encode() for record in made]
    for keep_undeclared in (True, False):
        engine = Engine(catalog.compiled, nulls=nulls, keep_transport=True, keep_undeclared=keep_undeclared)
        accepted = assert_agreement(engine, lines)
        assert accepted == 4 or not reads_by_column(schema[0], schema[1], protocol, mode)


def reads_by_column(schema_format: str, contenttype: str, protocol: str, mode: str) -> bool:
    """Whether events of a format, protocol and mode are always read by column; the others are judged exactly."""
    is_structured = mode == "structured" or not protocol
    if protocol == "MQTT/3.1.1":  # nothing announces an event
        return False
    if schema_format.startswith("XSD"):  # XML in an event in JSON
        return not is_structured
    return is_structured or contenttype in ("", "application/json")  # lines have other bytes in base64
