"""Nothing of a record is lost when it lands: its columns, `_extra` and `_rescued` have all that it had."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from postroom.catalog.catalog import Catalog
from postroom.messages.definitions.definition import CompiledCatalog
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.dead_letters.replay import replay
from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.lake import Lake, create_lake
from postroom.pipeline.sources.dataframe import record_lines
from postroom.pipeline.worker import table_builder, table_layout
from postroom.pipeline.worker.sort_task import open_engine, write_batch
from postroom.protocols.protocol import pairs
from postroom.protocols.protocol_table import wire_named

SCHEMA = {
    "type": "object",
    "required": ["sensor"],
    "properties": {
        "sensor": {"type": "string"},
        "place": {"type": "object", "properties": {"floor": {"type": "integer"}}},
        "readings": {"type": "array", "items": {"type": "object", "properties": {"value": {"type": "number"}}}},
        "limits": {
            "type": "object",
            "additionalProperties": {"type": "object", "properties": {"low": {"type": "integer"}}},
        },
        "note": {},
    },
}
PAYLOAD = {"dataschemaformat": "JsonSchema/draft-07", "dataschema": SCHEMA}
EVENT = {
    "envelope": "CloudEvents/1.0",
    "envelopemetadata": {"type": {"value": "reading"}, "source": {}, "subject": {}, "level": {"type": "string"}},
    **PAYLOAD,
}
DECLARED = {
    "KAFKA": {"headers": {"site": {}}, "key": {}},
    "MQTT/5.0": {"qos": {"type": "integer"}},
    "AMQP/1.0": {"properties": {"subject": {}}},
    "NATS": {"reply-to": {}},
    "HTTP": {"method": {}, "headers": {"site": {}}},
}


def catalog_of(protocol: str) -> CompiledCatalog:
    """An event of any protocol, one that only this protocol has with options of its own, and one without envelope."""
    typed = {**EVENT, "envelopemetadata": {**EVENT["envelopemetadata"], "type": {"value": "typed"}}}  # type: ignore[dict-item]
    channel = {"KAFKA": "topic", "MQTT/5.0": "topic_name", "NATS": "subject", "HTTP": "path"}.get(protocol)
    plain = {"protocol": protocol, **PAYLOAD}
    if channel is not None:
        plain["protocoloptions"] = {channel: {"value": "plain/{name}"}}
    else:
        plain["protocoloptions"] = {"properties": {"to": {"value": "plain/{name}"}}}
    messages = {
        "any": EVENT,
        "typed": {**typed, "protocol": protocol, "protocoloptions": DECLARED[protocol]},
        "plain": plain,
    }
    return Catalog({"messagegroups": {"g": {"messages": messages}}}).compiled


CATALOGS = {protocol: catalog_of(protocol) for protocol in DECLARED}

names = st.sampled_from(["a", "b", "é", "trace", "x-y"])
texts = st.sampled_from(["1", "", "é", "a b", '"q"', "{}"])
numbers = st.sampled_from(["1.10", "12345678901234567890123", "-0.0", "0.1000000000000000000001"])
scalars = st.one_of(texts.map(json.dumps), numbers, st.sampled_from(["null", "true", '[1, {"z": 2}]', '{"low": 1}']))


def an_object(**declared: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """The text of an object with some declared members and some others."""

    def written(found: tuple[dict[str, str], dict[str, str]]) -> str:
        return "{" + ", ".join(f"{json.dumps(name)}: {value}" for name, value in {**found[1], **found[0]}.items()) + "}"

    return st.tuples(st.fixed_dictionaries({}, optional=declared), st.dictionaries(names, scalars, max_size=2)).map(
        written
    )


def lists(items: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(items, max_size=3).map(lambda found: f"[{', '.join(found)}]")


payloads = an_object(
    place=an_object(floor=st.just("3")),
    readings=lists(an_object(value=st.just("1.5"))),
    limits=st.dictionaries(names, an_object(low=st.just("1")), max_size=2).map(
        lambda found: "{" + ", ".join(f"{json.dumps(name)}: {value}" for name, value in found.items()) + "}"
    ),
    note=st.sampled_from(['{"free": [1]}', '"x"']),
).map(lambda text: '{"sensor": "s"' + (", " if text != "{}" else "") + text[1:])
headers = st.lists(st.tuples(st.sampled_from(["trace", "Trace", "site", "b3", "x"]), texts), max_size=4)


@st.composite
def records(draw: st.DrawFn, protocol: str) -> dict[str, Any]:
    """A record that lands: an event in binary or structured mode, or a plain message."""
    wire = wire_named(protocol)
    kind = draw(st.sampled_from(["binary", "binary", "structured", "plain"]))
    event = {"specversion": "1.0", "id": "1", "source": "/s", "type": draw(st.sampled_from(["reading", "typed"]))}
    event |= draw(
        st.fixed_dictionaries({}, optional={"subject": st.just("s"), "level": st.just("7"), "other": st.just("o")})
    )
    metadata: dict[str, Any] = draw(OPTIONS[protocol])
    payload = draw(payloads)
    more = draw(headers)
    if kind == "plain":
        name = "plain/n"
        metadata = {
            **metadata,
            **(
                {"properties": {**metadata.get("properties", {}), "to": name}}
                if protocol == "AMQP/1.0"
                else {wire.channel[0]: name}
            ),
        }
    elif kind == "structured":
        event_type = "application/cloudevents+json"
        metadata, more = with_content_type(
            protocol, metadata, more, draw(st.sampled_from([event_type, f"{event_type}; charset=utf-8"]))
        )
        payload = json.dumps(event)[:-1] + f', "data": {payload}}}'
    else:
        metadata, more = with_content_type(protocol, metadata, more, "application/json")
        carried = [(wire.prefixes[0] + name, value) for name, value in event.items()]
        more = draw(st.permutations([*carried, *more]))
        if protocol == "MQTT/5.0":  # where a property without a prefix is an attribute
            known = {*event}
            more = [pair for pair in more if pair[0] in known]
    if protocol == "AMQP/1.0":
        metadata["application-properties"] = dict(more)
    elif protocol == "KAFKA" and draw(st.booleans()):
        metadata["headers"] = dict(more)
    elif more or draw(st.booleans()):
        metadata[wire.headers] = [{"name": name, "value": value} for name, value in more]
    return {"protocol": protocol, "metadata": metadata, "payload": payload}


def with_content_type(
    protocol: str, metadata: dict[str, Any], more: list[Any], stated: str
) -> tuple[dict[str, Any], list[Any]]:
    if protocol == "AMQP/1.0":
        return {**metadata, "properties": {**metadata.get("properties", {}), "content-type": stated}}, more
    if protocol == "MQTT/5.0":
        return {**metadata, "content_type": stated}, more
    return metadata, [*more, ("content-type", stated)]


def options(**optional: Any) -> st.SearchStrategy[dict[str, Any]]:
    found = {
        name.replace("__", "-"): value if isinstance(value, st.SearchStrategy) else st.just(value)
        for name, value in optional.items()
    }
    return st.fixed_dictionaries({}, optional=found)


OPTIONS = {
    "KAFKA": options(
        topic="t", partition=3, key="k", timestamp=st.sampled_from([1_790_000_000_123, -1]), later={"a": [1]}
    ),
    "MQTT/5.0": options(topic_name="t/1", qos=1, retain=False, correlation_data="AQ==", later=[1], **{"": "x"}),
    "AMQP/1.0": options(
        properties=options(to="q", subject="s", creation__time=1_790_000_000_123, group__sequence=7),
        header={"durable": True, "priority": 4},
        later="x",
    ),
    "NATS": options(subject="a.b", reply__to="r", later=None),
    "HTTP": options(method="POST", path="/p", query=[{"name": "q", "value": "1"}, {"name": "q", "value": "2"}]),
}


def landed(folder: Path, batch: pa.RecordBatch, catalog: CompiledCatalog, keep: bool = True) -> list[dict[str, Any]]:
    lake = create_lake(folder)
    job = Job(str(lake.root), lake.keep_catalog(catalog), "strict", "r", 0, datetime.now(UTC), keep_undeclared=keep)
    written = write_batch(job, [batch])
    return rows_of(lake, written)


def rows_of(lake: Lake, written: Any) -> list[dict[str, Any]]:
    rows = []
    for file in written.files:
        found = pq.ParquetFile(lake.path(file.folder) / file.path).read().to_pylist()
        rows += [{"_table": file.folder, **row} for row in found]
    return sorted(rows, key=lambda row: str(row.get("_position")))


def lines_of(found: list[dict[str, Any]]) -> pa.RecordBatch:
    values = [json.dumps(record).encode() for record in found]
    return pa.RecordBatch.from_pydict({"source": ["f"] * len(found), "position": range(len(found)), "value": values})


def merged(declared: Any, left: Any) -> Any:
    """A value with what was undeclared in it put back."""
    if isinstance(declared, list) and isinstance(left, list):
        rest = [*left, *[None] * (len(declared) - len(left))]
        return [merged(one, other) for one, other in zip(declared, rest, strict=True)]
    if isinstance(declared, dict) and isinstance(left, dict):
        return {**declared, **{name: merged(declared.get(name), value) for name, value in left.items()}}
    return declared if left is None and declared is not None else left


def rebuilt_payload(data: dict[str, Any], rescued: str | None) -> Any:
    found = {name: value for name, value in data.items() if value is not None}
    if found.get("note") is not None:
        found["note"] = read(found["note"])
    if found.get("limits") is not None:
        found["limits"] = dict(found["limits"])
    found = without_nulls(found)
    return merged(found, read(rescued) if rescued else {})


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_nulls(member) for name, member in value.items() if member is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def read(text: str) -> Any:
    """JSON with numbers as they are written."""
    return json.loads(text, parse_float=str, parse_int=str)


def as_text(value: Any) -> Any:
    return json.loads(json.dumps(value), parse_float=str, parse_int=str)


def assert_nothing_lost(record: dict[str, Any], row: dict[str, Any]) -> None:
    wire = wire_named(record["protocol"])
    metadata = record["metadata"]
    extra = json.loads(row.get("_extra") or "{}")
    assert row["_protocol"] == record["protocol"]
    payload = json.loads(record["payload"])
    structured = "specversion" in payload
    text = record["payload"]
    if structured:
        text = text[text.index('"data": ') + 8 : -1]
    assert as_text(rebuilt_payload(row["data"], row.get("_rescued"))) == read(text)
    attributes = {name[3:]: value for name, value in row.items() if name.startswith("ce_") and value is not None}
    attributes |= dict(row.get("_extensions") or {})
    if structured:
        assert {name: value for name, value in payload.items() if name != "data"}.items() <= attributes.items()
    told = set(attributes) if not structured and row["_table"] != "g/plain" else set()
    seen = dict(metadata)
    container = seen.pop(wire.headers, None)
    left = extra.pop(wire.headers, None)
    assert_headers(wire, row, container, left, attributes if told else {})
    for path, column in ((wire.channel, "_channel"), (wire.key, "_key"), (wire.sent, "_sent_at")):
        value = wire.lookup(metadata, path) if path else None
        if value is None or path[0] == wire.headers:
            continue
        shown = row.get(column)
        shown = shown.decode() if isinstance(shown, bytes) else shown
        shown = int(shown.timestamp() * 1000 + 0.5) if isinstance(shown, datetime) else shown
        found = wire.lookup(extra, path)
        assert (value == shown) != (value == found), (path, row)
    for name, value in seen.items():
        members = {(name, inner): one for inner, one in value.items()} if name == "properties" else {(name,): value}
        for path, one in members.items():
            is_shown = path in (wire.channel, wire.key, wire.sent)
            is_told = path == wire.contenttype and attributes.get("datacontenttype") == one and told
            column = "meta_" + "_".join(path)
            if not is_shown and not is_told and row.get(column) is None:
                assert wire.lookup(extra, path) == one or (path[0] in extra and one is None), path


def assert_headers(wire: Any, row: dict[str, Any], container: Any, left: Any, attributes: dict[str, Any]) -> None:
    """Every header is the one that an attribute or a declared column shows, or is among those that are left."""
    rest = pairs(left)
    for name, value in reversed(pairs(container)):
        if (name, value) in rest:
            rest.remove((name, value))
            continue
        attribute = next((name[len(p) :].lower() for p in wire.prefixes if name.lower().startswith(p.lower())), "")
        shown = {attributes.get(attribute), row.get(f"meta_{wire.headers}_{name.lower()}")}
        if name.lower() == "content-type":
            shown.add(attributes.get("datacontenttype"))
        assert value in shown, (name, value, row)
    assert rest == []


@pytest.mark.audit("messages-D17")
@pytest.mark.parametrize("protocol", DECLARED)
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(data=st.data())
def test_all_of_a_record_is_in_its_row(
    protocol: str, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    found = data.draw(st.lists(records(protocol), min_size=1, max_size=8))
    rows = landed(tmp_path_factory.mktemp("lake"), lines_of(found), CATALOGS[protocol])
    dead = [row for row in rows if row["_table"] == "_dead_letters"]
    assert [json.loads(row["record"]) for row in dead] == [found[row["_position"]] for row in dead]
    good = [row for row in rows if row["_table"] != "_dead_letters"]
    assert len(good) + len(dead) == len(found)
    assert all(reason["code"] in ("fits_as_well", "missing") for row in dead for reason in row["reasons"]), dead
    for row in good:
        assert_nothing_lost(found[row["_position"]], row)


def test_a_time_that_is_no_moment_stays_in_extra_and_teaches_nothing_of_records_alike(tmp_path: Path) -> None:
    metadata = {"topic": "plain/n", "partition": 9}
    found = [
        {"protocol": "KAFKA", "metadata": {**metadata, "timestamp": sent}, "payload": '{"sensor": "s"}'}
        for sent in (-1, 1_790_000_000_123)
    ]
    rows = landed(tmp_path, lines_of(found), CATALOGS["KAFKA"])
    assert [row["_extra"] for row in rows] == ['{"partition":9,"timestamp":-1}', '{"partition":9}']
    assert [row["_sent_at"] is None for row in rows] == [True, False]


kafka_headers = st.lists(
    st.tuples(
        st.sampled_from(["trace", "site", "Trace", "Site", "ce_subject", "ce_other", "CE_Subject"]),
        st.sampled_from([b"1", b"", b"\xff\x00", None, "é".encode()]),
    ),
    max_size=3,
)


@st.composite
def kafka_rows(draw: st.DrawFn) -> dict[str, Any]:
    """A row of Kafka's columns: an event in binary or structured mode, or a plain message."""
    event = {"specversion": "1.0", "id": "1", "source": "/s", "type": draw(st.sampled_from(["reading", "typed"]))}
    kind, payload = draw(st.sampled_from(["binary", "binary", "structured", "plain"])), draw(payloads)
    found = draw(kafka_headers)
    if kind == "binary":
        more = [("content-type", b"application/json")] if draw(st.booleans()) else []
        found = [*((f"ce_{name}", value.encode()) for name, value in event.items()), *more, *found]
    elif kind == "structured":
        found = [("content-type", b"application/cloudevents+json"), *found]
        payload = json.dumps(event)[:-1] + f', "data": {payload}}}'
    return {
        "topic": "plain/n" if kind == "plain" else draw(st.sampled_from(["t", "u"])),
        "partition": draw(st.sampled_from([0, 7])),
        "key": draw(st.sampled_from([None, b"k", b"\xff"])),
        "timestamp": draw(st.sampled_from([None, 1_790_000_000_123_000, 1_790_000_000_123_456, -1000])),
        "headers": [{"key": name, "value": value} for name, value in found],
        "value": payload.encode(),
    }


def columns_of(found: list[dict[str, Any]]) -> pa.RecordBatch:
    count = len(found)
    kinds = {
        "topic": pa.string(),
        "partition": pa.int32(),
        "key": pa.binary(),
        "timestamp": pa.timestamp("us", "UTC"),
        "headers": pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())])),
        "value": pa.binary(),
    }
    columns = {name: pa.array([row[name] for row in found], kind) for name, kind in kinds.items()}
    places = {"source": pa.array(["f"] * count), "position": pa.array(range(count)), "offset": pa.array(range(count))}
    return pa.RecordBatch.from_pydict(places | columns)


@pytest.mark.audit("messages-D17")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(kafka_rows(), min_size=1, max_size=8))
def test_rows_of_kafka_s_columns_land_as_their_lines_do(
    tmp_path_factory: pytest.TempPathFactory, found: list[dict[str, Any]]
) -> None:
    batch = columns_of(found)
    places = {"source": batch.column("source"), "position": batch.column("position")}
    lines = pa.RecordBatch.from_pydict({**places, "value": pa.array(record_lines(batch), pa.binary())})
    by_column = landed(tmp_path_factory.mktemp("columns"), batch, CATALOGS["KAFKA"])
    by_line = landed(tmp_path_factory.mktemp("lines"), lines, CATALOGS["KAFKA"])
    for rows in (by_column, by_line):
        for row in rows:
            row.pop("_landed_at", None)
            row.pop("_dead_at", None)
    assert by_column == by_line
    for row in by_column:
        if row["_table"] != "_dead_letters":
            assert_like_columns(found[row["_position"]], row)


def assert_like_columns(record: dict[str, Any], row: dict[str, Any]) -> None:
    extra = json.loads(row.get("_extra") or "{}")
    assert (row["_protocol"], row["_channel"], row.get("_key")) == ("KAFKA", record["topic"], record["key"])
    sent = row.get("_sent_at")
    told = extra.get("timestamp", None if sent is None else round(sent.timestamp() * 1_000_000) / 1000)
    assert told == (None if record["timestamp"] is None else record["timestamp"] / 1000)
    assert extra["partition"] == record["partition"]
    left = extra.get("headers", [])
    for header in record["headers"]:
        name, value = header["key"], header["value"]
        shown = {row.get(f"ce_{name[3:]}"), dict(row.get("_extensions") or {}).get(name[3:])}
        shown |= {row.get("meta_headers_site")} if name == "site" else set()
        shown |= {row.get("ce_datacontenttype")} if name == "content-type" else set()
        pair = next((pair for pair in left if pair["name"] == name and exact(pair) == value), None)
        if pair is not None:
            left.remove(pair)
        else:
            assert value is not None
            assert value.decode() in shown, (name, value, row)
    assert left == []


def exact(pair: dict[str, Any]) -> bytes | None:
    if "value_base64" in pair:
        return base64.b64decode(pair["value_base64"])
    return None if pair["value"] is None else str(pair["value"]).encode()


RECORD = {
    "protocol": "KAFKA",
    "metadata": {
        "topic": "t",
        "partition": 3,
        "headers": {"ce_specversion": "1.0", "ce_id": "1", "ce_source": "/s", "ce_type": "reading", "trace": "1"},
    },
    "payload": '{"sensor": "s", "more": 1.10}',
}


PAIRS = [{"name": "tenant", "value": "a"}, {"name": "tenant", "value": "b"}]


@pytest.mark.audit("messages-D17")
@pytest.mark.parametrize(
    ("protocol", "metadata", "channel", "key", "extra"),
    [
        (
            "KAFKA",
            {"topic": "plain/n", "key": "k", "partition": 3, "headers": {"trace": "1", "tenant": "a"}},
            "plain/n", b"k", {"partition": 3, "headers": {"trace": "1", "tenant": "a"}},
        ),
        (
            "AMQP/1.0",
            {"properties": {"to": "plain/n", "message-id": "7"}, "application-properties": {"tenant": "a"}},
            "plain/n", None, {"properties": {"message-id": "7"}, "application-properties": {"tenant": "a"}},
        ),
        (
            "MQTT/5.0",
            {"topic_name": "plain/n", "content_type": "application/json", "user_properties": PAIRS},
            "plain/n", None, {"content_type": "application/json", "user_properties": PAIRS},
        ),
        ("NATS", {"subject": "plain/n", "headers": PAIRS}, "plain/n", None, {"headers": PAIRS}),
        ("HTTP", {"path": "plain/n", "headers": PAIRS}, "plain/n", None, {"headers": PAIRS}),
    ],
)  # fmt: skip
def test_a_row_says_protocol_channel_and_key_and_keeps_what_its_definition_does_not_declare(
    tmp_path: Path, protocol: str, metadata: Any, channel: str, key: bytes | None, extra: Any
) -> None:
    found = {"protocol": protocol, "metadata": metadata, "payload": '{"sensor": "s"}'}
    (row,) = landed(tmp_path, lines_of([found]), CATALOGS[protocol])
    assert (row["_protocol"], row["_channel"], row.get("_key")) == (protocol, channel, key)
    assert json.loads(row["_extra"]) == extra


@pytest.mark.audit("messages-D17")
@pytest.mark.parametrize(("protocol", "names"), [("HTTP", ("X", "X")), ("HTTP", ("X", "x")), ("NATS", ("X", "X"))])
def test_a_header_that_is_declared_twice_keeps_all_its_values(
    tmp_path: Path, protocol: str, names: tuple[str, str]
) -> None:
    channel = wire_named(protocol).channel[0]
    declared = [{"name": name, "value": value} for name, value in zip(names, "12", strict=True)]
    message = {"protocol": protocol, "protocoloptions": {channel: "p", "headers": declared}}
    catalog = Catalog({"messagegroups": {"g": {"messages": {"m": message}}}}).compiled
    sent = [{"name": "X", "value": value} for value in "123"]
    found = {"protocol": protocol, "metadata": {channel: "p", "headers": sent}, "payload": "x"}
    (row,) = landed(tmp_path, lines_of([found]), catalog)
    assert row["meta_headers_X"] == "1"
    assert json.loads(row["_extra"]) == {"headers": sent[1:]}


def test_the_setting_switches_it_off(tmp_path: Path) -> None:
    (kept,) = landed(tmp_path / "kept", lines_of([RECORD]), CATALOGS["KAFKA"])
    assert (kept["_extra"], kept["_rescued"]) == ('{"headers":{"trace":"1"},"partition":3}', '{"more":1.10}')
    (row,) = landed(tmp_path / "not", lines_of([RECORD]), CATALOGS["KAFKA"], keep=False)
    assert (row.get("_extra"), row.get("_rescued"), row["_channel"]) == (None, None, "t")


@pytest.mark.parametrize(("keep", "extra"), [(True, '{"partition":3}'), (False, None)])
def test_kafka_s_own_columns_tell_what_came_with_their_rows(tmp_path: Path, keep: bool, extra: str | None) -> None:
    told = {"ce_specversion": "1.0", "ce_id": "1", "ce_source": "/s", "ce_type": "reading"}
    headers = [{"key": name, "value": value.encode()} for name, value in told.items()]
    sent = datetime(2026, 11, 16, tzinfo=UTC)
    row = {"topic": "t", "partition": 3, "key": b"k", "timestamp": sent, "headers": headers, "value": b'{"sensor":"s"}'}
    rows = [row, row | {"topic": "u", "key": None}]
    found = landed(tmp_path / "lake", columns_of(rows), CATALOGS["KAFKA"], keep=keep)
    shown = [(row["_channel"], row["_key"], row["_sent_at"], row.get("_extra")) for row in found]
    assert shown == [("t", b"k", sent, extra), ("u", None, sent, extra)]


def test_where_nothing_is_undeclared_there_is_nothing(tmp_path: Path) -> None:
    event = {"specversion": "1.0", "id": "1", "source": "/s", "type": "reading", "data": {"sensor": "s"}}
    (row,) = landed(tmp_path / "lake", lines_of([event]), CATALOGS["KAFKA"])
    assert [row.get(name) for name in ("_protocol", "_channel", "_key", "_sent_at", "_extra", "_rescued")] == [None] * 6


def test_a_replay_keeps_what_came_with_a_letter(tmp_path: Path) -> None:
    lake = create_lake(tmp_path / "lake")
    sent = datetime(2026, 3, 1, tzinfo=UTC)
    headers = [{"key": f"ce_{n}", "value": v} for n, v in (("id", b"1"), ("source", b"/s"), ("specversion", b"1.0"))]
    headers += [{"key": "ce_type", "value": b"later"}, {"key": "x", "value": b"\xff"}]
    row = {"topic": "t", "partition": 1, "key": b"\xfe", "timestamp": sent, "headers": headers, "value": b"{}"}
    job = Job(str(lake.root), lake.keep_catalog(CATALOGS["KAFKA"]), "strict", "r", 0, sent)
    commit_batch(lake, job, "kafka", [write_batch(job, [columns_of([row])])])
    later = {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "later"}}}
    catalog = Catalog({"messagegroups": {"g": {"messages": {"later": later}}}})
    assert replay(None, catalog, lake.root).landed == {"/messagegroups/g/messages/later": 1}
    (found,) = DeltaTable(lake.path("g/later")).to_pyarrow_table().to_pylist()
    assert (found["_channel"], found["_key"], found["_sent_at"]) == ("t", b"\xfe", sent)
    assert json.loads(found["_extra"]) == {
        "partition": 1,
        "headers": [{"name": "x", "value": "\\xff", "value_base64": "/w=="}],
    }


def test_tables_of_older_lakes_get_the_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = create_lake(tmp_path / "lake")
    new = {"_protocol", "_channel", "_key", "_sent_at", "_extra", "_rescued"}
    with monkeypatch.context() as patch:
        old = tuple(column for column in table_layout.CONTROL if column.name not in new)
        patch.setattr(table_layout, "CONTROL", old)
        patch.setattr(table_builder, "_transport", lambda *_, **__: {})
        add(lake, "old")
    assert not new & set(DeltaTable(lake.path("g/any")).schema().to_arrow().names)
    open_engine.cache_clear()
    add(lake, "new")
    found = DeltaTable(lake.path("g/any")).to_pyarrow_table().sort_by("_batch").to_pylist()
    assert [row["_rescued"] for row in found] == ['{"more":1.10}', None]
    assert [row["data"]["sensor"] for row in found] == ["s", "s"]


def add(lake: Lake, run: str) -> None:
    job = Job(str(lake.root), lake.keep_catalog(CATALOGS["KAFKA"]), "strict", run, 0, datetime.now(UTC))
    commit_batch(lake, job, "f", [write_batch(job, [lines_of([RECORD])])])
