"""Batches are judged slice by slice, and their rows are counted from the beginning of the batch."""

from __future__ import annotations

import json

import pytest

from postroom.catalog.catalog import Catalog
from postroom.messages.matching.columnar import judge_group
from postroom.pipeline.worker import jsonl
from postroom.pipeline.worker.jsonl import LineBatch, LineChunk

MESSAGES = {
    name: {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": name}}} for name in ("oven", "press")
}
CATALOG = Catalog({"messagegroups": {"g": {"messages": MESSAGES}}})


@pytest.mark.parametrize("at_once", [1, 3, 100])
def test_rows_are_counted_through_all_slices_of_a_batch(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr(jsonl, "SLICE_ROWS", at_once)
    events = [
        {"specversion": "1.0", "id": str(number), "source": "/x", "type": ["oven", "press", "boat"][number % 3]}
        for number in range(10)
    ]
    records = [json.dumps(event).encode() for event in events]
    lines = LineBatch([LineChunk(["file"] * 10, list(range(10)), records)])
    found: dict[int, str] = {}
    left: list[int] = []
    for groups, others in lines.event_groups(CATALOG.engine):
        left += others
        for group in groups:
            landed, doubtful = judge_group(group)
            left += doubtful
            found |= dict(zip(landed.rows, landed.attributes["id"], strict=True))
    assert found == {row: str(row) for row in range(10) if row % 3 != 2}
    assert sorted(left) == [2, 5, 8]
    assert [line for line, _ in lines.sort_exactly(CATALOG.engine, sorted(left))] == [
        records[2],
        records[5],
        records[8],
    ]
