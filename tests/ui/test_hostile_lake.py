"""What a lake holds is shown as text: records, sources and reasons full of scripts neither run nor load anything."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from playwright.sync_api import Page, expect

from postroom.catalog.catalog import Catalog
from postroom.messages.making.make import AUTO
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.lake import create_lake
from postroom.pipeline.worker.sort_task import write_batch
from tests.http.running_service import serving
from tests.ui.conftest import Visitor
from tests.ui.test_hostile_text import HIDDEN, HOSTILE


@pytest.fixture(scope="module")
def hostile_lake(demo_catalog: Catalog, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake with dead letters and a landed row that want to do harm, from a source with such a name."""
    folder = tmp_path_factory.mktemp("hostile-lake")
    records = folder / "<img src=x onerror=document.title='taken'>.jsonl"
    event = {"specversion": "1.0", "id": HOSTILE, "source": HIDDEN, "type": HOSTILE, "data": {HOSTILE: "x" * 500_000}}
    position = demo_catalog.message("vehicle.telemetry.position").make({"depot": "oslo", "vin": "HM1"}, data=AUTO)
    position["metadata"]["headers"]["ce_id"] = HOSTILE
    records.write_text(
        "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in (event, position)) + HOSTILE + "\n"
    )
    lake = create_lake(folder / "lake")
    job = Job(str(lake.root), lake.keep_catalog(demo_catalog.compiled), "strict", "run1", 0, datetime.now(UTC))
    whole = pa.RecordBatch.from_pylist([{"path": str(records), "start": 0, "length": records.stat().st_size}])
    commit_batch(lake, job, str(records), [write_batch(job, [whole])])
    return lake.root


def test_nothing_in_a_lake_runs_loads_or_hides(page: Page, hostile_lake: Path, tmp_path: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    with serving(f"sqlite:///{tmp_path}/registry.db", "--lake", str(hostile_lake)) as (_, url):
        visitor = Visitor(page, url)
        for path in ("", "/dead", "/dying", "/ledger", "/table?folder=fleet.telemetry/vehicle.telemetry.position"):
            visitor.open(f"/ui/-/lake{path}")
            assert page.title() != "taken", path
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
            expect(page.locator("main iframe, main img, main script, main style")).to_have_count(0)
        expect(page.locator("table.sample")).to_contain_text("<script>")
        visitor.open("/ui/-/lake/dead")
        expect(page.locator("main")).to_contain_text("⟨U+202E⟩")
        visitor.check()
