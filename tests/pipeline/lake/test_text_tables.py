"""Tables with times as text go on so; new tables have typed times, or text where that is asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest
from deltalake import DeltaTable

from postroom.errors import LakeRefused
from postroom.pipeline.lake.backfill_rescued import backfill
from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.lake import Lake
from postroom.pipeline.lake.text_tables import FILE, begin_text_tables, text_tables

TABLE = "fleet/vehicle.position"
SEEN = {"seen": {"type": "string", "format": "date-time"}}
EXACT, INEXACT = "2026-05-04T10:00:00Z", "2026-05-04T10:00:00.123456789Z"


def batch(fleet: Any, lake: Lake, folder: Path, number: int, *, properties: Any, data: Any = None, **job: Any) -> None:
    """Sort two positions, by a job that knows what a sorter would know, unless it is told otherwise."""
    events = [fleet.position(number, data={"lat": 1.5, "lon": 2.5, **more}) for more in data or ({}, {})]
    records = fleet.write(folder / f"{number}.jsonl", events)
    planned = fleet.job(lake, fleet.compiled(**properties), batch=number)
    planned = msgspec.structs.replace(planned, **{"text_tables": begin_text_tables(lake), **job})
    commit_batch(lake, planned, "records", [fleet.task(planned, records)])


def seen(lake: Lake, folder: str = TABLE) -> pa.ChunkedArray:
    return (
        DeltaTable(lake.path(folder))
        .to_pyarrow_table()
        .sort_by("_record_id")
        .column("data")
        .combine_chunks()
        .field("seen")
    )


def rescued(lake: Lake) -> list[Any]:
    table = DeltaTable(lake.path(TABLE)).to_pyarrow_table()
    return sorted(json.loads(text)["seen"] for text in table.column("_rescued").to_pylist() if text)


def test_new_tables_have_typed_times(fleet: Any, lake: Lake, tmp_path: Path) -> None:
    batch(fleet, lake, tmp_path, 1, properties=SEEN, data=[{"seen": EXACT}, {"seen": INEXACT, "note": 1.10}])
    assert seen(lake).type == pa.timestamp("us", tz="UTC")
    assert seen(lake).null_count == 1
    (text,) = [text for text in DeltaTable(lake.path(TABLE)).to_pyarrow_table().column("_rescued").to_pylist() if text]
    assert text == f'{{"note":1.1,"seen":"{INEXACT}"}}'
    assert text_tables(lake) == frozenset()


def test_what_is_no_exact_time_is_kept_also_where_nothing_else_is(fleet: Any, lake: Lake, tmp_path: Path) -> None:
    data = [{"seen": EXACT, "note": 1}, {"seen": INEXACT, "note": 1}]
    batch(fleet, lake, tmp_path, 1, properties=SEEN, data=data, keep_undeclared=False)
    assert rescued(lake) == [INEXACT]


def test_a_table_that_began_with_text_goes_on_so(fleet: Any, lake: Lake, tmp_path: Path) -> None:
    batch(fleet, lake, tmp_path, 1, properties=SEEN, data=[{"seen": EXACT}, {"seen": "x"}], times="text")
    assert text_tables(lake) == {TABLE}
    more = SEEN | {"until": {"type": "string", "format": "date"}}
    batch(fleet, lake, tmp_path, 2, properties=more, data=[{"seen": INEXACT}, {"until": "2026-05-04"}])
    assert sorted(filter(None, seen(lake).to_pylist())) == [INEXACT, EXACT, "x"]
    assert [table.folder for table in lake.tables()] == [TABLE]


def test_a_lake_of_the_time_before_has_text_everywhere(fleet: Any, lake: Lake, tmp_path: Path) -> None:
    batch(fleet, lake, tmp_path, 1, properties=SEEN, data=[{"seen": EXACT}, {}], times="text")
    lake.storage.delete([FILE])
    batch(fleet, lake, tmp_path, 2, properties=SEEN, data=[{"seen": INEXACT}, {}])
    assert seen(lake).type == pa.string()
    assert text_tables(lake) == {TABLE}


def test_text_that_is_declared_as_a_time_later_stays_text(fleet: Any, lake: Lake, tmp_path: Path) -> None:
    batch(fleet, lake, tmp_path, 1, properties={"seen": {"type": "string"}}, data=[{"seen": "x"}, {}])
    with pytest.raises(LakeRefused, match="has times as text"):
        batch(fleet, lake, tmp_path, 2, properties=SEEN, data=[{"seen": EXACT}, {}])
    batch(fleet, lake, tmp_path, 2, properties=SEEN, data=[{"seen": EXACT}, {}])
    assert sorted(filter(None, seen(lake).to_pylist())) == [EXACT, "x"]
    assert [table.folder for table in lake.tables()] == [TABLE]


def test_rescued_texts_are_backfilled_into_columns_of_times(fleet: Any, lake: Lake, tmp_path: Path) -> None:
    batch(fleet, lake, tmp_path, 1, properties={}, data=[{"seen": EXACT}, {"seen": INEXACT}])
    (report,) = backfill(lake.root, fleet.compiled(**SEEN)).tables
    assert (report.members, report.misfits) == (1, 1)
    assert [value for value in seen(lake).cast(pa.string()).to_pylist() if value] == ["2026-05-04 10:00:00.000000Z"]
    assert rescued(lake) == [INEXACT]
    again = backfill(lake.root, fleet.compiled(**SEEN))
    assert again.entry is None
