"""The lake on pages: tables, rows, dead letters with their reasons, the ledger, and what would land now."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from postroom.access.grants import parse_grant
from postroom.access.keys import create_key
from postroom.catalog.catalog import Catalog
from postroom.catalog.open_store import open_store
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.lake import create_lake
from postroom.pipeline.monitoring.stream_status import StreamStatusFile
from postroom.pipeline.sources.lag import Lag
from postroom.pipeline.worker.sort_task import write_batch
from postroom.settings import Settings
from postroom.ui.lake.replay_trial import TrialFolder
from postroom.ui.rendering.charts import MOST_BARS, time_charts
from tests.conftest import DEMO_CATALOG
from tests.http.running_service import locate, serving
from tests.ui.conftest import POSITION, Visitor, load, wait_for_parts

SAMPLE = DEMO_CATALOG.parent / "sample.jsonl"
PATHS = (
    "/ui/-/lake",
    "/ui/-/lake/dead",
    "/ui/-/lake/dying",
    "/ui/-/lake/ledger",
    "/ui/-/lake/replay",
    "/ui/-/lake/table?folder=fleet.telemetry/vehicle.telemetry.position",
    "/ui/-/lake/landed?xid=/messagegroups/fleet.telemetry/messages/vehicle.telemetry.position",
)


@pytest.fixture(scope="module")
def lake(demo_catalog: Catalog, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake with the demo's messages, sorted without Spark."""
    lake = create_lake(tmp_path_factory.mktemp("lake") / "lake")
    job = Job(str(lake.root), lake.keep_catalog(demo_catalog.compiled), "strict", "run1", 0, datetime.now(UTC))
    whole = pa.RecordBatch.from_pylist([{"path": str(SAMPLE), "start": 0, "length": SAMPLE.stat().st_size}])
    commit_batch(lake, job, str(SAMPLE), [write_batch(job, [whole])])
    StreamStatusFile(lake, ["kafka://broker/fleet"]).behind({"fleet": Lag(records=1200)})
    return lake.root


@pytest.fixture(scope="module")
def lake_pages(lake: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    database = f"sqlite:///{tmp_path_factory.mktemp('lake-pages')}/registry.db"
    load(database, DEMO_CATALOG)
    with serving(database, "--lake", str(lake)) as (_, url):
        yield url


@pytest.fixture
def visit_lake(page: Page, lake_pages: str) -> Iterator[Callable[..., Page]]:
    visitor = Visitor(page, lake_pages)
    yield visitor.open
    visitor.check()


def test_what_was_read_is_what_landed_and_what_is_dead(visit_lake: Callable[..., Page], lake_pages: str) -> None:
    page = visit_lake("/ui/")
    page.click("nav >> text=Lake")
    report = httpx.get(f"{lake_pages}/ui/-/lake/ledger?as=json").json()
    assert report["read"] == report["landed"] + report["dead"] > 0
    for count in (report["read"], report["landed"], report["dead"]):
        expect(page.locator(".balance")).to_contain_text(f"{count:,}")
    page.click("nav.tabs >> text=Ledger")
    expect(page.locator("main")).to_contain_text("sample.jsonl")
    expect(page.locator("main")).to_contain_text("fleet 1,200 behind")
    expect(page.locator("main tbody tr").last).to_contain_text("sort")


def test_the_first_page_says_what_is_dying(visit_lake: Callable[..., Page]) -> None:
    page = visit_lake("/ui/")
    page.click("aside .list a")
    assert page.inner_text("h1").startswith("Dead letters")


def test_a_table_shows_its_columns_and_some_rows(visit_lake: Callable[..., Page]) -> None:
    page = visit_lake("/ui/-/lake")
    page.click("text=fleet_telemetry__vehicle_telemetry_position")
    assert page.inner_text("h1") == "fleet_telemetry__vehicle_telemetry_position"
    expect(page.locator(".sample thead")).to_contain_text("data.speed_kmh")
    assert page.locator(".sample tbody tr").count() > 0
    expect(page.locator(".members")).to_contain_text("_record_id")
    page.click("dl.facts a")
    assert page.inner_text("h1") == "Position"


def test_a_definition_says_where_it_lands(visit_lake: Callable[..., Page]) -> None:
    page = visit_lake(f"/ui{POSITION}")
    page.click("aside >> text=fleet_telemetry__vehicle_telemetry_position")
    expect(page.locator("main")).to_contain_text("Some rows")


def test_the_graph_counts_the_rows_of_tables(visit_lake: Callable[..., Page], lake_pages: str) -> None:
    tables = httpx.get(f"{lake_pages}/ui/-/lake?as=json").json()["tables"]
    (rows,) = (one["rows"] for one in tables if one["definition"] == POSITION)
    page = visit_lake(f"/ui/-/graph?xid={POSITION}")
    expect(page.locator(".graph .count")).to_have_text(f"{rows:,}")
    page.locator(".graph rect + text", has_text="telemetry.position").click()
    expect(page.locator("main")).to_contain_text("Some rows")


def test_dead_letters_by_reason_and_what_would_land_of_them_now(visit_lake: Callable[..., Page]) -> None:
    page = visit_lake("/ui/-/lake/dead")
    group = page.locator("section.judged").first
    expect(group.locator("h2")).to_contain_text("letters")
    expect(group.locator(".finding").first).to_be_visible()
    expect(group.locator("pre")).not_to_be_empty()
    page.click(".filters >> text=invalid")
    expect(page.locator("section.judged .badge").first).to_have_text("invalid")
    page.locator("section.judged button", has_text="What would land now?").first.click()
    expect(page.locator("main")).to_contain_text("would stay dead", timeout=60_000)
    expect(page.locator("main")).to_contain_text("0 would land")
    command = page.locator("pre").last.inner_text()
    assert command.startswith("postroom replay --catalog http://")
    assert "outcome = " in command


def test_the_lake_is_read_without_scripts(browser: Browser, lake_pages: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{lake_pages}/ui{POSITION}")
    page.click("aside [data-part][href*='landed']")
    page.click("main >> text=fleet_telemetry__vehicle_telemetry_position")
    expect(page.locator(".sample thead")).to_contain_text("data.speed_kmh")
    for path in PATHS:
        answer = page.goto(lake_pages + path)
        assert answer is not None
        assert answer.status == 200, path
        assert len(page.inner_text("main")) > 40, path
        expect(page.locator("main [aria-busy], main load-part")).to_have_count(0)
    page.goto(f"{lake_pages}/ui/-/lake/dead")
    page.locator("section.judged button", has_text="What would land now?").first.click()
    for _ in range(600):
        if "would stay dead" in page.inner_text("main"):
            break
        page.click("renew-page a")
        time.sleep(0.1)
    expect(page.locator("main")).to_contain_text("0 would land")
    context.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 390)])
def test_pages_of_a_lake_are_for_everybody_and_fit_a_phone(
    browser: Browser, lake_pages: str, scheme: Any, width: int
) -> None:
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 844})
    page = context.new_page()
    for path in PATHS:
        page.goto(lake_pages + path)
        wait_for_parts(page)
        found = Axe().run(page).response["violations"]
        assert [(one["id"], [node["target"] for node in one["nodes"]]) for one in found] == [], path
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    context.close()


@pytest.mark.parametrize("path", PATHS)
def test_a_page_of_a_lake_has_a_twin_for_programs(lake_pages: str, path: str) -> None:
    text = httpx.get(lake_pages + path).text
    twin = text.split('type="application/json"')[0].rpartition('href="')[2].split('"')[0].replace("&amp;", "&")
    assert httpx.get(lake_pages + twin).json() is not None


def test_names_that_are_none_of_the_lake_reach_no_command(lake_pages: str) -> None:
    paths = {
        "table?folder=../../etc": 404,
        "table": 404,
        "dead?outcome=landed": 400,
        "dead?outcome=x'--": 400,
        "replay?outcome=invalid&code=x' OR 1=1": 400,
    }
    for path, status in paths.items():
        assert httpx.get(f"{lake_pages}/ui/-/lake/{path}").status_code == status, path


def test_rows_are_for_administrators_and_those_with_a_grant_for_them(lake: Path, tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path}/registry.db"
    load(database, DEMO_CATALOG)
    keys: dict[str, str] = {}
    with open_store(locate(database)) as store, store.write() as tx:
        for name, role, prefixes in (
            ("root", "admin", ["/"]),
            ("reader", "read", ["/"]),
            ("keeper", "read", ["/messagegroups", "/-/lake"]),
        ):
            grants = [parse_grant(f"key:{name}", role, prefix) for prefix in prefixes]
            keys[name] = create_key(tx, name, grants)[1]
    with serving(database, "--access", "on", "--lake", str(lake)) as (_, url):
        for path in PATHS:
            assert httpx.get(url + path).status_code == 401, path
            for name, status in (("root", 200), ("keeper", 200), ("reader", 403)):
                answer = httpx.get(url + path, headers={"Authorization": f"Bearer {keys[name]}"})
                assert answer.status_code == status, (name, path)
        assert "read on /-/lake" in answer.text
        reader = {"Authorization": f"Bearer {keys['reader']}"}
        assert "/-/lake/landed" not in httpx.get(f"{url}/ui{POSITION}", headers=reader).text
        assert httpx.post(f"{url}/ui/-/lake/replay", headers=reader, data={"do": "cancel"}).status_code == 403


def test_a_service_without_a_lake_has_no_such_pages(pages: str) -> None:
    assert "/-/lake" not in httpx.get(f"{pages}/ui/").text
    assert httpx.get(f"{pages}/ui/-/lake").status_code == 404


def test_what_is_no_lake_is_said_on_the_page(tmp_path: Path) -> None:
    with serving(f"sqlite:///{tmp_path}/registry.db", "--lake", str(tmp_path / "nowhere")) as (_, url):
        answer = httpx.get(f"{url}/ui/-/lake")
        assert answer.status_code == 200
        assert "there is no such folder" in answer.text


def test_a_trial_is_one_at_a_time_and_can_be_stopped(tmp_path: Path) -> None:
    settings = Settings(db=f"sqlite:///{tmp_path}/registry.db", lake=str(tmp_path))
    folder, of_another_process = TrialFolder(settings), TrialFolder(settings)
    folder.start([sys.executable, "-c", "import time; time.sleep(60)"], "invalid", "", b"{}")
    assert of_another_process.trial().status == "running"
    of_another_process.start([sys.executable, "-c", "print({})"], "unmatched", "", b"{}")
    assert of_another_process.trial().outcome == "invalid"
    of_another_process.cancel()
    assert folder.trial().status == "cancelled"
    folder.start([sys.executable, "-c", "print('{\"letters\": 3}')"], "", "", b"{}")
    until = time.monotonic() + 30
    while folder.trial().status == "running" and time.monotonic() < until:
        time.sleep(0.05)
    assert (folder.trial().status, folder.trial().answer) == ("done", {"letters": 3})


def test_a_trial_whose_process_is_gone_has_failed(tmp_path: Path) -> None:
    folder = TrialFolder(Settings(lake=str(tmp_path)))
    (folder.path / "trial.json").write_text(json.dumps({"status": "running"}))
    assert folder.trial().status == "failed"


def test_charts_cover_the_same_time_with_so_many_bars_at_most() -> None:
    day = 86_400
    long, short = time_charts([[(number * day, 1) for number in range(1_000)], [(999 * day, 7)]])
    assert (long.first, long.last) == (short.first, short.last)
    assert sum(bar.count for bar in long.bars) == 1_000
    assert len(long.bars) <= MOST_BARS
    assert short.bars[0].x == long.bars[-1].x
    assert short.bars[0].count == 7
