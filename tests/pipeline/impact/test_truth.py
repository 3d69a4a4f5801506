"""What `impact` predicts is what a sort of the same records by the new catalog does, message by message."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from postroom.catalog.catalog import Catalog
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.impact.judge_task import MOST_IN_RECORD
from postroom.pipeline.impact.study import ImpactStudy
from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.file_exchange import files_of
from postroom.pipeline.lake.lake import Lake, create_lake
from postroom.pipeline.worker.sort_task import write_batch
from postroom.pipeline.worker.table_layout import table_folder
from tests.pipeline.impact.random_plants import edits, plants, records


def sort(lake: Lake, fleet: Any, catalog: Catalog, batches: list[pa.RecordBatch], run: str) -> None:
    job: Job = msgspec.structs.replace(fleet.job(lake, catalog.compiled, run), keep_records=True)
    commit_batch(lake, job, "records", [write_batch(job, batches)])


def as_lines(found: list[Any]) -> pa.RecordBatch:
    lines = [json.dumps(one).encode() for one in found]
    columns = {"source": ["records"] * len(lines), "position": list(range(len(lines)))}
    return pa.RecordBatch.from_pydict(columns | {"value": pa.array(lines, pa.binary())})


def fates(lake: Lake, run: str) -> dict[str, tuple[str, str, str]]:
    """What became of each message of a run: outcome, definition (or the one that a letter names), and table."""
    found: dict[str, tuple[str, str, str]] = {}
    for place in lake.tables():
        for row in lake.table(place.folder).to_pyarrow_table().to_pylist():
            if row["_batch"].startswith(run):
                found[row["_record_id"]] = ("landed", row["_definition"], place.folder)
    if lake.has("_dead_letters"):
        for row in lake.table("_dead_letters").to_pyarrow_table().to_pylist():
            if row["_batch"].startswith(run):
                found[row["_record_id"]] = (row["outcome"], row["message"] or "", "")
    return found


def columns(lake: Lake, folder: str) -> dict[str, str]:
    return {field.name: str(field.type) for field in lake.table(folder).schema().to_arrow()}


@settings(max_examples=40, suppress_health_check=list(HealthCheck), deadline=None)
@given(st.data())
def test_what_is_predicted_is_what_a_sort_does(fleet: Any, data: st.DataObject) -> None:
    tree = data.draw(plants())
    old = Catalog(tree)
    new = Catalog(data.draw(edits(tree)))
    batches = [as_lines(data.draw(st.lists(records(), min_size=1, max_size=12)))]
    is_against = data.draw(st.booleans())
    with TemporaryDirectory() as folder:
        lake = create_lake(Path(folder) / "lake")
        sort(lake, fleet, old, batches, "first")
        copied = create_lake(shutil.copytree(lake.root, Path(folder) / "copy"))
        before = fates(lake, "first")
        study = ImpactStudy(lake, new, old if is_against else None)
        messages, verdicts, schemas = study.judged()
        sort(copied, fleet, new, batches, "second")
        after = fates(copied, "second")
        predicted = dict(before)
        tables = study.forecast(schemas)
        moved = {one.definition: one.table for one in tables}
        ids = record_numbers(lake, has_landed=bool(study.messages) and messages["is_letter"][0].as_py() is False)
        for row in messages.to_pylist():
            number, index = divmod(row["message"], MOST_IN_RECORD)
            name = ids[number] if row["is_letter"] or ids[number] in before else f"{ids[number]}-{index}"
            verdict = verdicts[row["next"]]
            base = verdicts[row["base"]]
            assert (base.outcome, base.message) == before[name][:2]
            table = moved.get(verdict.message) or table_folder(verdict.message) if verdict.outcome == "landed" else ""
            predicted[name] = (verdict.outcome, verdict.message, table)
        assert messages.num_rows == study.messages
        event(f"judged {messages.num_rows > 0}, changed {predicted != before}")
        assert predicted == after
        for table in tables:
            if table.kind == "columns_added":
                added = set(columns(copied, table.table)) - set(columns(lake, table.table))
                assert added == {name for name in table.detail.split(", ") if "." not in name}
            else:
                assert copied.has(table.table)
                assert not lake.has(table.table)
        report = study.report()
        assert report.landed == sum(outcome == "landed" for outcome, *_ in before.values())
        assert report.landed == report.unaffected + report.judged
        assert report.dying.count == sum(before[name][0] == "landed" != fate[0] for name, fate in after.items())
        assert report.reviving.count == sum(before[name][0] != "landed" == fate[0] for name, fate in after.items())


def record_numbers(lake: Lake, *, has_landed: bool) -> dict[int, str]:
    """The ids of records by their numbers: kept ones come first where landed messages are judged, then letters."""
    ids: list[str] = []
    for folder in ["_records", "_dead_letters"] if has_landed else ["_dead_letters"]:
        if lake.has(folder):
            for file in files_of(lake.table(folder)):
                ids += pq.read_table(lake.path(folder) / file.path)["_record_id"].to_pylist()
    return dict(enumerate(ids))
