"""Rows of Kafka's columns land as the same records do as lines."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postroom.catalog.catalog import Catalog
from postroom.messages.matching.columnar import Land, LandedEvents
from postroom.messages.matching.outcome import JudgedRecord
from postroom.pipeline.worker import kafka_columns
from postroom.pipeline.worker.kafka_columns import KafkaBatch, is_kafka

SOURCE = {"type": "uritemplate", "value": "/plants/{plant}/machines/{machine}"}
SCHEMA = {"type": "object", "required": ["sensor"], "properties": {"sensor": {"type": "string"}}}


def message(kind: str, **more: Any) -> dict[str, Any]:
    metadata = {"type": {"value": kind}, "source": SOURCE, "subject": {}}
    payload = {"dataschemaformat": "JsonSchema/draft-07", "dataschema": SCHEMA}
    return {"envelope": "CloudEvents/1.0", "envelopemetadata": metadata, **payload, **more}


OVEN = message("oven", protocol="KAFKA", protocoloptions={"topic": {"value": "ovens.{plant}"}})
CATALOG = Catalog({"messagegroups": {"g": {"messages": {"press": message("press"), "oven": OVEN}}}})

headers = st.fixed_dictionaries(
    {
        "ce_specversion": st.sampled_from(["1.0", "1.0", "0.3"]),
        "ce_id": st.just("1"),
        "ce_source": st.sampled_from(["/plants/oslo/machines/m7", "/plants/oslo/machines/m7", "/x"]),
        "ce_type": st.sampled_from(["press", "press", "oven", "boat"]),
    },
    optional={
        "ce_subject": st.just("s"),
        "ce_level": st.just("7"),
        "traceparent": st.just("00"),
        "content-type": st.sampled_from(["application/json", "text/xml", "application/cloudevents+json"]),
    },
)
rows = st.lists(
    st.tuples(headers, st.sampled_from([b'{"sensor": "a"}', b'{"sensor": "a"}', b"{", b"\xff", None]), st.booleans()),
    min_size=1,
    max_size=12,
)


def batch_of(records: list[tuple[dict[str, str], bytes | None, bool]]) -> pa.RecordBatch:
    pairs = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
    found = [[{"key": name, "value": value.encode()} for name, value in named.items()] for named, _, _ in records]
    count = len(records)
    return pa.RecordBatch.from_pydict(
        {
            "source": pa.array(["file"] * count),
            "position": pa.array(range(count)),
            "topic": pa.array(["ovens.oslo" if right else "other" for _, _, right in records]),
            "partition": pa.array([0] * count, pa.int32()),
            "offset": pa.array(range(count)),
            "key": pa.array([b"k"] * count),
            "headers": pa.array(found, pairs),
            "value": pa.array([body for _, body, _ in records], pa.binary()),
        }
    )


@settings(max_examples=100, deadline=None)
@given(rows, st.randoms(use_true_random=False))
def test_rows_land_as_lines_do(records: list[tuple[dict[str, str], bytes | None, bool]], rng: random.Random) -> None:
    for named, _, _ in records[1:]:
        if rng.random() < 0.2:
            named.pop(rng.choice(list(named)))
    assert_like_lines(batch_of(records))


@pytest.mark.parametrize(
    "timestamps",
    [
        pa.array([5, 17 * 10**17, -(2**63)]),
        pa.array([5, 10**18 + 1, None], pa.timestamp("us")),
        pa.array([5, 17 * 10**17 + 1, None], pa.timestamp("ns")),
        pa.array(["yesterday"] * 3),
        pa.nulls(3),
    ],
)
def test_rows_with_any_time_land_as_lines_do(timestamps: pa.Array) -> None:
    named = {"ce_specversion": "1.0", "ce_id": "1", "ce_source": "/plants/oslo/machines/m7", "ce_type": "press"}
    batch = batch_of([(named, b'{"sensor": "a"}', True)] * 3)
    assert assert_like_lines(batch.append_column("timestamp", timestamps)) == [0, 1, 2]


@pytest.fixture(autouse=True, scope="module")
def few_at_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kafka_columns, "SLICE_ROWS", 5)
        yield


def assert_like_lines(batch: pa.RecordBatch) -> list[int]:
    """What lands by column lands the same way by line; the rows that landed by column come back."""
    assert is_kafka(batch.schema)
    kafka = KafkaBatch([batch.slice(start, 3) for start in range(0, batch.num_rows, 3)])
    lines = []
    for judged in judge(kafka, refuse)[1]:
        assert judged.messages == CATALOG.engine.sort_exactly(judged.line)
        lines.append(judged.line)
    assert len(lines) == batch.num_rows
    groups: list[LandedEvents] = []
    landed, left = judge(kafka, groups.append)
    for group, rows in zip(groups, landed, strict=True):
        for place, row in enumerate(rows):
            (exact,) = CATALOG.engine.sort_exactly(lines[row])
            attributes = {name: column[place] for name, column in group.attributes.items()}
            attributes |= group.extensions.get(place, {})
            assert (exact.match.outcome, exact.match.message) == ("landed", group.definition.xid)
            assert {name: value for name, value in attributes.items() if value is not None} == exact.attributes
            assert {name: column[place] for name, column in group.variables.items()} == exact.match.variables
            assert {name: column[place] for name, column in group.metadata.items()} == exact.metadata
    landed_rows = sorted(row for rows in landed for row in rows)
    assert sorted([*landed_rows, *(judged.row for judged in left)]) == list(range(batch.num_rows))
    return landed_rows


def judge(kafka: KafkaBatch, land: Land) -> tuple[list[list[int]], list[JudgedRecord]]:
    """The rows of a batch that land by column, group by group, and the records that are judged one by one."""
    landed: list[list[int]] = []
    left: list[JudgedRecord] = []
    for start, records in kafka.slices():
        groups: list[LandedEvents] = []
        left += (one._replace(row=start + one.row) for one in CATALOG.engine.judge(records, both(land, groups.append)))
        landed += ([start + row for row in group.rows] for group in groups)
    return landed, left


def both(first: Land, second: Land) -> Land:
    def land(events: LandedEvents) -> None:
        first(events)
        second(events)

    return land


def refuse(events: LandedEvents) -> None:
    raise ValueError(events.definition.xid)


PLAIN: dict[str, str] = {"ce_specversion": "1.0", "ce_id": "1", "ce_source": "/plants/o/machines/m", "ce_type": "press"}
BODY: bytes | None = b'{"sensor": "a"}'


def test_batches_with_other_columns_meet_in_one_batch_of_a_worker() -> None:
    rows = [({**PLAIN, "ce_id": str(number)}, BODY, True) for number in range(2)]
    batch = batch_of(rows)
    at = batch.schema.get_field_index("partition")
    wider = batch.set_column(at, "partition", batch.column("partition").cast(pa.int64()))
    kafka = KafkaBatch([batch, batch.drop_columns(["key"]), wider, batch])
    landed: list[LandedEvents] = []
    rows_landed, left = judge(kafka, landed.append)
    assert (sorted(row for some in rows_landed for row in some), left) == (list(range(8)), [])
    lines = [judged.line for judged in judge(kafka, refuse)[1]]
    assert [b'"key"' in line for line in lines] == [True, True, False, False, True, True, True, True]


def test_names_of_headers_that_are_no_text_are_shown() -> None:
    batch = batch_of([(PLAIN, BODY, True)] * 2)
    found: list[Any] = batch.column("headers").to_pylist()
    found[1].append({"key": "x", "value": b"y"})
    pairs = [[{"key": p["key"].encode().replace(b"x", b"\xff"), "value": p["value"]} for p in row] for row in found]
    kind = pa.list_(pa.struct([("key", pa.binary()), ("value", pa.binary())]))
    at = batch.schema.get_field_index("headers")
    assert assert_like_lines(batch.set_column(at, "headers", pa.array(pairs, kind))) == [0, 1]


def test_a_part_of_a_batch_is_read_from_where_it_begins() -> None:
    rows = [({**PLAIN, "ce_id": str(number)}, BODY, True) for number in range(6)]
    assert assert_like_lines(batch_of(rows).slice(2, 3)) == [0, 1, 2]


def test_rows_without_headers_and_headers_without_values_are_left_alone() -> None:
    batch = batch_of([(PLAIN, BODY, True)] * 4)
    pairs = batch.schema.field("headers").type
    found: list[Any] = batch.column("headers").to_pylist()
    found[1] = None
    found[2] = [*found[2], {"key": "ce_subject", "value": None}, None]
    found[3][1]["value"] = b"\xff"
    at = batch.schema.get_field_index("headers")
    assert 0 in assert_like_lines(batch.set_column(at, "headers", pa.array(found, pairs)))


def test_rows_of_very_many_headers_or_shapes_are_taken_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kafka_columns, "SLICE_ROWS", 1000)
    many = {**PLAIN, **{f"h{number}": "" for number in range(100)}}
    shapes = [({**PLAIN, f"h{number}": "1"}, BODY, True) for number in range(400)]
    landed = assert_like_lines(batch_of([(PLAIN, BODY, True)] * 2 + [(many, BODY, True), *shapes]))
    assert landed[:2] == [0, 1]
    assert 2 not in landed
    assert 200 < len(landed) < 300


def test_plain_rows_land_by_column() -> None:
    with_subject = {**PLAIN, "ce_subject": "s"}
    rows = [(PLAIN, BODY, True)] * 5 + [(with_subject, BODY, True)] * 2
    landed: list[LandedEvents] = []
    _, left = judge(KafkaBatch([batch_of(rows)]), landed.append)
    assert left == []
    (group,) = landed  # whatever shapes the headers have
    assert sorted(group.rows) == list(range(7))
    assert sorted(map(str, group.attributes["subject"])) == ["None"] * 5 + ["s"] * 2
