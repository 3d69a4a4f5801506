"""The columnar judge accepts only what the exact one accepts, and says the same about it."""

from __future__ import annotations

import functools
import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postroom.catalog.catalog import Catalog
from postroom.messages.definitions.property_types import checker
from postroom.messages.engine import Engine
from postroom.messages.making.make import AUTO
from postroom.messages.matching.columnar import surely_timestamps
from postroom.messages.matching.line_batches import match_lines
from postroom.messages.matching.outcome import Sorted
from postroom.protocols.records import render_record
from tests.messages.matching.judges import comparable, judge_by_columns

READING = {
    "type": "object",
    "required": ["sensor"],
    "properties": {"sensor": {"type": "string"}, "value": {"type": "integer"}, "tags": {"type": "array"}},
}
PACKED = {"type": "record", "name": "Reading", "fields": [{"name": "sensor", "type": "string"}]}
EVENT = "CloudEvents/1.0"
BATCH = "application/cloudevents-batch+json"


def message(kind: str | None, **more: Any) -> dict[str, Any]:
    metadata: dict[str, Any] = more.pop("metadata", {})
    if kind is not None:
        metadata = {"type": {"value": kind}, **metadata}
    schema = {"dataschemaformat": "JsonSchema/draft-07", "dataschema": READING}
    return {"envelope": EVENT, "envelopemetadata": metadata, **schema, **more}


SOURCE = {"source": {"type": "uritemplate", "value": "/plants/{plant}/machines/{machine}"}}
MESSAGES = {
    "plain": message("plain"),
    "placed": message("placed", metadata=SOURCE),
    "bound": message("bound", metadata={**SOURCE, "subject": {"value": "{machine}"}}),
    "typed": message("typed", metadata={"level": {"type": "integer", "required": True}, "zone": {"value": "north"}}),
    "timed": message("timed", metadata={"time": {"required": True}}),
    "kafka": message(
        "kafka", protocol="KAFKA", protocoloptions={"topic": {"value": "t.{plant}"}, "key": {"value": "{k}"}}
    ),
    "anywhere": message("kafka"),
    "base": message(None, metadata={"subject": {"required": True}}),
    "derived": {"basemessage": "/messagegroups/g/messages/base", **message("derived")},
    "twice.1": message("twice"),
    "twice.2": message("twice", metadata={"subject": {"value": "x"}}),
    "optional": message("optional", metadata={"subject": {"value": "s-{s}", "required": False}}),
    "numbered": message("numbered", metadata={"level": {"value": "1"}}),
    "free": {"envelope": EVENT, "envelopemetadata": {"type": {"value": "free"}}},
    "packed": message("packed", dataschemaformat="Avro/1.11", dataschema=PACKED, datacontenttype="application/avro"),
}
CATALOG = Catalog({"messagegroups": {"g": {"messages": MESSAGES}}})
# Without the definition that takes events of any type, each type means one definition.
PLAIN = Catalog(
    {"messagegroups": {"g": {"messages": {n: m for n, m in MESSAGES.items() if n not in ("base", "derived")}}}}
)
# Beside a definition of other messages on the same channel, which events of unknown types only pass by.
BESIDE = Catalog(
    {
        "messagegroups": {
            "g": {
                "messages": {
                    **{name: MESSAGES[name] for name in ("plain", "kafka", "anywhere", "placed", "free")},
                    "bare": {
                        "protocol": "KAFKA",
                        "protocoloptions": {"topic": {"value": "t.{plant}"}},
                        "dataschemaformat": "JsonSchema/draft-07",
                        "dataschema": READING,
                    },
                }
            }
        }
    }
)
DERIVED = Catalog({"messagegroups": {"g": {"messages": {n: MESSAGES[n] for n in ("base", "derived")}}}})

odd = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5), st.just({}), st.just([1]))
kinds = st.sampled_from([*MESSAGES, "twice", "unknown"])
sources = st.sampled_from(["/plants/oslo/machines/m7", "/plants/o%2fslo/machines/m7", "/plants//machines/1", "/x", ""])
times = st.sampled_from(
    ["2026-11-15T10:00:00Z", "2026-11-15t10:00:00z", "2026-W46-7T10:00:00Z", "2026-02-30T10:00:00Z", "20261115T100000Z",
     "2026-11-15T10:00:00,5Z", "2026-11-15T10:00:00.123456789Z", "2026-11-15T23:59:60Z", "2026-11-15T10:00:00+01:00",
     "2026-11-15T24:00:00Z", "soon", ""]
)  # fmt: skip
attributes = st.fixed_dictionaries(
    {"specversion": st.sampled_from(["1.0", "0.3"]), "id": st.just("1"), "source": sources, "type": kinds},
    optional={
        "time": times,
        "subject": st.sampled_from(["m7", "x", "fixed", ""]) | odd,
        "datacontenttype": st.sampled_from(
            ["application/json", "application/JSON; charset=utf-8", "text/xml", "a/b+json", BATCH]
        ),
        "level": st.sampled_from(["1", 1, 2, "many"]) | odd,
        "zone": st.sampled_from(["north", "south"]) | odd,
        "extra": odd,
    },
)
data = st.one_of(
    st.fixed_dictionaries({"sensor": st.just("a")}, optional={"value": odd, "tags": odd, "more": odd}), odd
)


# In turn: an empty object, a reading, a reading in Avro, no JSON, none of base64 in three ways.
encoded = st.sampled_from(["e30=", "eyJzZW5zb3IiOiJhIn0=", "AmE=", "eyJ", "e30", "ä", "e3 0=", None])


@functools.lru_cache
def keeping(catalog: Catalog) -> Engine:
    """An engine that keeps what is undeclared."""
    return Engine(catalog.compiled, keep_transport=True, keep_undeclared=True)


def bundled(catalog: Catalog, lines: list[bytes]) -> dict[int, Sorted]:
    """What the columnar judge makes of lines, in the words of the exact one."""
    return judge_by_columns(keeping(catalog), lines)


def agreed(*lines: bytes) -> None:
    for catalog in (CATALOG, PLAIN, BESIDE, DERIVED):
        for row, result in bundled(catalog, list(lines)).items():
            exactly = keeping(catalog).sort_exactly(lines[row])
            assert [comparable(result)] == [comparable(exact) for exact in exactly]
    for line in lines:
        agreed_alone(line)


def agreed_alone(line: bytes) -> None:
    for catalog in (CATALOG, PLAIN, BESIDE, DERIVED):
        exact = catalog.engine.sort_exactly(line)
        assert catalog.engine.match_line(line) == [result.match for result in exact]
        assert match_lines(catalog.engine, [line]) == [[result.match for result in exact]]


@settings(deadline=None)  # the first events of a type compile its schema
@given(
    st.lists(
        st.tuples(
            attributes,
            st.fixed_dictionaries({}, optional={"data": data}) | st.fixed_dictionaries({"data_base64": encoded}),
        ),
        min_size=1,
        max_size=5,
    ),
    st.booleans(),
)
def test_bare_events(events: list[tuple[dict[str, Any], dict[str, Any]]], both: bool) -> None:
    more = {"data": None} if both else {}
    agreed(*(json.dumps({**event, **more, **body}).encode() for event, body in events))


@pytest.mark.parametrize("more", [{}, {"datacontenttype": "application/avro"}])
def test_packed_data_is_taken(more: dict[str, Any]) -> None:
    event = {"specversion": "1.0", "id": "1", "source": "/x", "type": "packed", **more}
    good, bad = ({**event, "data_base64": text} for text in ("AmE=", "AmE"))
    lines = [json.dumps(one).encode() for one in (good, bad, good)]
    assert list(bundled(PLAIN, lines)) == [0, 2]
    agreed(*lines)


@settings(deadline=None)
@given(
    attributes, data, st.sampled_from(["KAFKA", "kafka", "MQTT/5.0", "HTTP", "AMQP/1.0", "NATS", "Pigeon"]),
    st.booleans(), st.sampled_from(["t.oslo", "t/oslo"]), st.sampled_from(["m7", None]),
)  # fmt: skip
def test_records(event: dict[str, Any], value: Any, protocol: str, binary: bool, topic: str, key: str | None) -> None:
    metadata: dict[str, Any] = {"topic": topic, **({"key": key} if key else {})}
    if binary:
        headers = {f"ce_{name}": found for name, found in event.items() if name != "datacontenttype"}
        metadata["headers"] = {**headers, "content-type": event.get("datacontenttype", "")}
        payload = json.dumps(value)
    else:
        metadata["headers"] = [{"name": "content-type", "value": "application/cloudevents+json"}]
        payload = json.dumps({**event, "data": value})
    agreed(json.dumps({"protocol": protocol, "metadata": metadata, "payload": payload}).encode())


@pytest.mark.parametrize("mode", ["structured", "binary"])
@pytest.mark.parametrize("protocol", ["", "KAFKA", "HTTP", "MQTT/5.0", "AMQP/1.0", "NATS"])
@pytest.mark.parametrize("name", ["plain", "placed", "bound", "timed", "derived", "optional"])
def test_what_is_made_plainly_is_taken(name: str, protocol: str, mode: str) -> None:
    catalog = DERIVED if name == "derived" else PLAIN
    maker = catalog.message(name).maker
    values = {"plant": "oslo", "machine": "m7"} if name in ("placed", "bound") else {}
    record = maker.make(values, AUTO, protocol=protocol, mode=mode, rng=random.Random(1))
    line = json.dumps(render_record(record)).encode()
    assert list(bundled(catalog, [line, line])) == [0, 1]
    agreed(line)


@pytest.mark.parametrize(("level", "outcome"), [("1", "landed"), (1, "landed"), (2, "invalid"), (True, "invalid")])
def test_an_optional_constant_is_compared_whatever_type_of_value_comes(level: Any, outcome: str) -> None:
    event = {"specversion": "1.0", "id": "1", "source": "/x", "type": "numbered", "data": {"sensor": "a"}}
    assert PLAIN.match({**event, "level": level}).outcome == outcome


def test_a_number_is_no_constant_text_without_being_compared() -> None:
    event = {"specversion": "1.0", "id": "1", "source": "/x", "type": "numbered", "data": {"sensor": "a"}}
    for level in (1, 2, "1", "2"):
        agreed(json.dumps({**event, "level": level}).encode())


@given(st.lists(times | st.text(alphabet="0123456789-:TZ.W,\n", max_size=25) | st.none(), min_size=1))
def test_a_column_is_surely_timestamps_when_each_value_is(texts: list[str]) -> None:
    assert not surely_timestamps(texts) or all(text is None or checker("timestamp")(text) for text in texts)


def test_plain_timestamps_are_seen_in_one_go() -> None:
    assert surely_timestamps(["2026-11-15T10:00:00Z", "2026-11-15T10:00:00.5Z", "2026-11-15T10:00:00.123456Z"])


@pytest.mark.parametrize("values", [("1", "true"), ("1", "1.0"), ("0.0", "-0.0"), ('{"a":1}', '{"a":true}')])
@pytest.mark.parametrize("place", ["partition", "zone"])
@pytest.mark.parametrize("structured", [True, False])
def test_values_that_python_calls_equal_are_kept_as_they_were_written(
    values: tuple[str, str], place: str, structured: bool
) -> None:
    event = {"specversion": "1.0", "id": "1", "source": "/a", "type": "plain"}
    marks = {} if structured else {f"ce_{name}": value for name, value in event.items()}
    kind = "application/cloudevents+json" if structured else "application/json"
    data = {**event, "data": {"sensor": "s"}} if structured else {"sensor": "s"}
    metadata: dict[str, Any] = {"topic": "t", "partition": 7, "headers": {**marks, "content-type": kind, "zone": "x"}}
    (metadata if place == "partition" else metadata["headers"])[place] = "VALUE"
    record = json.dumps({"protocol": "KAFKA", "metadata": metadata, "payload": json.dumps(data)})
    agreed(*(record.replace('"VALUE"', value).encode() for value in values * 8))


def fixed(kind: str, **members: Any) -> dict[str, Any]:
    return {"envelope": EVENT, "envelopemetadata": {"type": {"value": kind}, **members}}


BASE = {"basemessage": "/messagegroups/g/messages/base"}


@pytest.mark.parametrize(
    "messages",
    [
        {"http": {**fixed("order.placed"), "protocol": "HTTP"}, "any": fixed("invoice.{what}")},
        {"http": {**fixed("order.placed"), "protocol": "HTTP"}, "any": fixed("order.{what}")},
        {
            "http": {**fixed("order.placed"), "protocol": "HTTP"},
            "any": {"envelope": EVENT, "envelopemetadata": {"type": {"type": "uri"}}},
        },
        {
            "base": fixed("order.placed", subject={"required": True}),
            "derived": {**BASE, "envelopemetadata": {"subject": {"required": False}}},
        },
    ],
    ids=["another type's template", "a template that binds", "a typed type", "a base with more rules"],
)
def test_a_definition_whose_rivals_have_another_protocol_or_fewer_rules(messages: dict[str, Any]) -> None:
    engine = Catalog({"specversion": "1.0-rc4", "messagegroups": {"g": {"messages": messages}}}).engine
    event = {"specversion": "1.0", "id": "1", "source": "/s", "type": "order.placed", "subject": "x"}
    lines = [json.dumps(event).encode()] * 3
    assert match_lines(engine, lines) == [[one.match for one in engine.sort_exactly(line)] for line in lines]
