"""Batches are judged slice by slice, and their rows are counted from the beginning of the batch."""

from __future__ import annotations

import json

import pytest

from postroom.catalog.catalog import Catalog
from postroom.messages.matching.columnar import LandedEvents
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
    left: dict[int, bytes] = {}
    for start, some in lines.slices():
        landed: list[LandedEvents] = []
        left |= {start + judged.row: judged.line for judged in CATALOG.engine.judge(some, landed.append)}
        for group in landed:
            found |= {start + row: name for row, name in zip(group.rows, group.attributes["id"], strict=True)}
    assert found == {row: str(row) for row in range(10) if row % 3 != 2}
    assert left == {row: records[row] for row in (2, 5, 8)}
