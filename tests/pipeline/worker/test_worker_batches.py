"""Hauls are looked at in parts, and their rows are counted through."""

from __future__ import annotations

import json

import pytest

from postroom.catalog.catalog import Catalog
from postroom.messages.matching.columnar import judge_group
from postroom.pipeline.worker import worker_batches
from postroom.pipeline.worker.jsonl import Chunk
from postroom.pipeline.worker.worker_batches import Lines

MESSAGES = {
    name: {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": name}}} for name in ("oven", "press")
}
CATALOG = Catalog({"messagegroups": {"g": {"messages": MESSAGES}}})


@pytest.mark.parametrize("at_once", [1, 3, 100])
def test_rows_are_those_of_the_haul(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr(worker_batches, "AT_ONCE", at_once)
    events = [
        {"specversion": "1.0", "id": str(number), "source": "/x", "type": ["oven", "press", "boat"][number % 3]}
        for number in range(10)
    ]
    records = [json.dumps(event).encode() for event in events]
    lines = Lines([Chunk(["file"] * 10, list(range(10)), records)])
    found: dict[int, str] = {}
    left: list[int] = []
    for piles, others in lines.piles(CATALOG.engine):
        left += others
        for pile in piles:
            bundle, doubtful = judge_group(pile)
            left += doubtful
            found |= dict(zip(bundle.rows, bundle.attributes["id"], strict=True))
    assert found == {row: str(row) for row in range(10) if row % 3 != 2}
    assert sorted(left) == [2, 5, 8]
    assert [line for line, _ in lines.sort_exactly(CATALOG.engine, sorted(left))] == [
        records[2],
        records[5],
        records[8],
    ]
