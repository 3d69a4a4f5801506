"""Records that are read together come to the same as records that are read one by one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postroom.catalog.catalog import Catalog
from postroom.formats.batch_decode import decode_all
from postroom.messages.matching.columnar import LandedEvents
from postroom.messages.matching.group_events import RecordColumns
from postroom.messages.matching.record_readers import LineReader
from postroom.settings import Settings
from tests.messages.matching.judges import KafkaColumns, without_nulls
from tests.messages.matching.test_columnar import BESIDE, PLAIN, agreed, attributes, data

STRUCTURED = "application/cloudevents+json"
kinds = st.sampled_from(["plain", "placed", "kafka", "free", "timed", "unknown"])
others = st.sampled_from(
    [{}, {}, {}, {"traceparent": "00-1"}, {"ce_data": "x"}, {"CE_subject": "m7"}, {"ce_more": "x"}, {"other": 7},
     {"Content-Type": "text/xml"}, {"ce_datacontenttype": "text/xml"}, {"content-type": ""}, {"ce_subject": None}]
)  # fmt: skip
members = st.sampled_from([{}, {}, {"topic": "t.oslo", "key": "m7"}, {"offset": 7}, {"partition": 1, "topic": "x"}])


@st.composite
def records(draw: st.DrawFn) -> bytes:
    event: dict[str, Any] = draw(attributes)
    event["type"] = draw(kinds)
    if draw(st.booleans()):
        event = {name: value for name, value in event.items() if isinstance(value, str) and name != "extra"}
    metadata: dict[str, Any] = dict(draw(members))
    if draw(st.booleans()):
        stated = {"content-type": event.pop("datacontenttype")} if "datacontenttype" in event else {}
        metadata["headers"] = {**{f"ce_{name}": value for name, value in event.items()}, **stated, **draw(others)}
        payload = json.dumps(draw(data))
    else:
        metadata["headers"] = {"content-type": STRUCTURED, **draw(others)}
        payload = json.dumps({**event, "data": draw(data)})
    record = {
        "protocol": draw(st.sampled_from(["KAFKA", "KAFKA", "KAFKA/0.11", "kafka", "HTTP"])),
        "metadata": metadata,
    }
    line = json.dumps({**record, "payload": payload}, ensure_ascii=draw(st.booleans())).encode()
    return line.replace(b"m7", b"m\xff") if draw(st.integers(0, 9)) == 0 else line


@settings(max_examples=150, deadline=None)
@given(st.lists(records(), min_size=1, max_size=6), st.integers(1, 3))
def test_records_read_together(lines: list[bytes], times: int) -> None:
    agreed(*lines * times)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(attributes, data, st.sampled_from([STRUCTURED, "application/json", ""])), min_size=1, max_size=5
    ),
    st.sampled_from([PLAIN, BESIDE]),
)
def test_columns_and_lines_agree(events: list[tuple[dict[str, Any], Any, str]], catalog: Catalog) -> None:
    """What is handed over by column, as Kafka's connector gives it, lands as the same records do as lines."""
    engine = catalog.engine
    lines, rows = [], []
    for event, value, stated in events:
        texts = {name: found for name, found in event.items() if isinstance(found, str) and name != "datacontenttype"}
        body = json.dumps({**event, "data": value} if stated == STRUCTURED else value)
        headers = {f"ce_{name}": found for name, found in texts.items()} | ({"content-type": stated} if stated else {})
        lines.append(
            json.dumps(
                {"protocol": "KAFKA", "metadata": {"topic": "t.oslo", "headers": headers}, "payload": body}
            ).encode()
        )
        rows.append((texts, stated, body.encode()))
    names = dict.fromkeys(name for texts, _, _ in rows for name in texts if engine.events.knows([name]))
    odd = frozenset(row for row, (texts, _, _) in enumerate(rows) if not engine.events.knows(texts))
    columns = {name: [texts.get(name) for texts, _, _ in rows] for name in names}
    metadata = [json.loads(line)["metadata"] for line in lines]
    stated, bodies = [stated for _, stated, _ in rows], [body for _, _, body in rows]
    given_columns = RecordColumns(list(range(len(lines))), columns, stated, bodies, metadata.__getitem__, odd)
    groups: list[LandedEvents] = []
    left = [judged.row for judged in engine.judge(KafkaColumns([given_columns], lines), groups.append)]
    for landed in groups:
        for place, row in enumerate(landed.rows):
            exact = engine.sort_exactly(lines[row])[0]
            found = {name: column[place] for name, column in landed.attributes.items()}
            assert (exact.match.outcome, exact.match.message) == ("landed", landed.definition.xid)
            assert without_nulls(found | landed.extensions.get(place, {})) == exact.attributes
            assert without_nulls(landed.data[place]) == without_nulls(exact.data)
            left.append(row)
    assert sorted(left) == list(range(len(lines)))


def test_records_of_one_type_with_different_headers_land_together() -> None:
    def columns(row: int, **more: list[str | None]) -> RecordColumns:
        event = {"specversion": ["1.0"], "id": ["1"], "source": ["/s"], "type": ["plain"], **more}
        return RecordColumns([row], event, ["application/json"], [b'{"sensor":"a"}'], lambda _: {})

    groups: list[LandedEvents] = []
    parts = [columns(0, subject=["s"]), columns(1), columns(2, zone=["north"])]
    assert list(PLAIN.engine.judge(KafkaColumns(parts, [b""] * 3), groups.append)) == []
    (landed,) = groups
    assert (landed.rows, landed.attributes["subject"]) == ([0, 1, 2], ["s", None, None])
    assert landed.extensions == {2: {"zone": "north"}}


def accepted(lines: list[bytes], catalog: Catalog = PLAIN) -> list[int]:
    groups: list[LandedEvents] = []
    left = [judged.row for judged in catalog.engine.judge(lines, groups.append)]
    landed = sorted(row for group in groups for row in group.rows)
    assert sorted([*landed, *left]) == list(range(len(lines)))
    return landed


@pytest.mark.parametrize("more", [{}, {"traceparent": "00-1", "retries": 3}])
def test_plain_records_are_judged_by_column(more: dict[str, Any]) -> None:
    event = {"ce_specversion": "1.0", "ce_id": "1", "ce_source": "/plants/o/machines/m", "ce_type": "placed"}
    headers = {**event, "content-type": "application/json", **more}
    line = json.dumps({"protocol": "KAFKA", "metadata": {"headers": headers}, "payload": '{"sensor":"a"}'}).encode()
    events = PLAIN.engine.events
    assert accepted([line] * 3) == [0, 1, 2]
    assert events.lines.read(line)  # whatever else there is in the headers was learned


def test_what_was_read_before_more_was_learned_is_still_known() -> None:
    reader = LineReader(("specversion", "type", "datacontenttype"))
    line = b'{"protocol": "KAFKA", "metadata": {"headers": {"ce_type": "t"}}, "payload": ""}'
    early = reader.read(line)
    reader.learn("KAFKA", {"headers": {"traceparent": "t"}})
    assert type(early) is not type(reader.read(line))
    assert reader.plain[type(early)] == "KAFKA"


def test_what_came_before_and_after_a_broken_text_is_read() -> None:
    doubts: set[int] = set()
    assert decode_all(bytes.decode, [b"a", b"\xff", b"b", b"\xff"], doubts) == ["a", None, "b", None]
    assert doubts == {1, 3}


def test_lines_that_are_too_long_are_left() -> None:
    catalog = Catalog(PLAIN.tree, settings=Settings(max_record_mb=1))
    event = {"specversion": "1.0", "id": "1", "source": "/s", "type": "plain", "data": {"sensor": "a"}}
    short, long = (json.dumps({**event, "subject": "x" * size}).encode() for size in (1, 1_100_000))
    assert accepted([short, long, short], catalog) == [0, 2]
    assert accepted([long], catalog) == []


def test_a_name_that_is_no_text_is_left() -> None:
    headers = [{"name": {"a": 1}, "value": "x"}]
    line = json.dumps({"protocol": "HTTP", "metadata": {"headers": headers}, "payload": "{}"}).encode()
    agreed(line)


def test_a_protocol_that_is_said_twice() -> None:
    event = {"ce_specversion": "1.0", "ce_id": "1", "ce_source": "/s", "ce_type": "plain"}
    tail = json.dumps({"metadata": {"headers": event}, "payload": '{"sensor":"a"}'})[1:]
    for first, second in (("KAFKA", "HTTP"), ("HTTP", "KAFKA"), ("KAFKA", "PIGEON")):
        agreed(f'{{"protocol": "{first}", "protocol": "{second}", {tail}'.encode())
