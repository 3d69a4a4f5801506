from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from postroom.errors import BadFlag, PortBusy
from postroom.pipeline.lake.ledger import LedgerEntry
from postroom.pipeline.lake.manifest import SchemaChange
from postroom.pipeline.monitoring.batch_log import BatchLog, showing_batches
from postroom.pipeline.monitoring.metrics_port import metrics_port, parse_address
from postroom.pipeline.monitoring.sort_metrics import FAMILIES, SortMetrics
from postroom.pipeline.monitoring.watcher import Watchers
from postroom.pipeline.sources.lag import Lag

POSITION = "/messagegroups/fleet/messages/vehicle.position"


def entry(batch: int, **changes: Any) -> LedgerEntry:
    began = datetime(2026, 3, 1, 10, tzinfo=UTC)
    known: dict[str, Any] = {
        "run": "run1",
        "batch": batch,
        "source": "inbox",
        "catalog": "c",
        "read": 10,
        "landed": {POSITION: 8},
        "dead": {"invalid": 2},
        "changes": (),
        "started": began,
        "committed": began + timedelta(seconds=4),
        "files": 3,
        "bytes": 1500,
    }
    return LedgerEntry(**known | changes)


def values(metrics: SortMetrics) -> dict[str, float]:
    found = (sample for family in text_string_to_metric_families(metrics.text()) for sample in family.samples)
    return {sample.name + "".join(sorted(sample.labels.values())): sample.value for sample in found}


def test_batches_add_up() -> None:
    metrics = SortMetrics()
    metrics.report(entry(0, changes=(SchemaChange("fleet/vehicle.position", "created"),)))
    metrics.report(entry(1, dead={"unmatched": 2}))
    metrics.behind({"inbox": Lag(files=2, bytes=70)})
    metrics.behind({"orders": Lag(records=1200)})
    found = values(metrics)
    assert found["postroom_sort_messages_read_totalinbox"] == 20
    assert found[f"postroom_sort_messages_landed_total{POSITION}"] == 16
    assert found["postroom_sort_messages_dead_totalinvalid"] == found["postroom_sort_messages_dead_totalunmatched"] == 2
    assert found["postroom_sort_messages_dead_totalambiguous"] == 0
    assert (found["postroom_sort_files_written_total"], found["postroom_sort_bytes_written_total"]) == (6, 3000)
    assert found["postroom_sort_table_changes_totalcreated"] == 1
    assert found["postroom_sort_batch_duration_seconds_countinbox"] == 2
    assert found["postroom_sort_batch_duration_seconds_suminbox"] == 8
    assert (found["postroom_sort_lag_filesinbox"], found["postroom_sort_lag_bytesinbox"]) == (2, 70)
    assert found["postroom_sort_lag_recordsorders"] == 1200


def test_upkeep_is_counted_beside_the_batches() -> None:
    metrics = SortMetrics()
    metrics.report(entry(0))
    metrics.report(entry(0, kind="tidy", source="tidy", read=0, landed={}, dead={}))
    found = values(metrics)
    assert (found["postroom_sort_batches_totalsort"], found["postroom_sort_batches_totaltidy"]) == (1, 1)
    assert found["postroom_sort_files_written_total"] == 3
    assert "postroom_sort_messages_read_totaltidy" not in found


def test_a_source_that_is_away_is_down_until_it_is_back() -> None:
    metrics = SortMetrics()
    metrics.report(entry(0))
    assert values(metrics)["postroom_sort_source_upinbox"] == 1
    watchers = Watchers([metrics, BatchLog()])
    watchers.away("inbox", True)
    metrics.report(entry(1))
    assert values(metrics)["postroom_sort_source_upinbox"] == 0
    watchers.away("inbox", False)
    assert values(metrics)["postroom_sort_source_upinbox"] == 1


def test_before_the_first_batch_there_are_zeros_and_every_family_has_its_help() -> None:
    metrics = SortMetrics()
    text = metrics.text()
    assert [line.split()[2] for line in text.splitlines() if line.startswith("# HELP")] == [
        one.name for one in FAMILIES
    ]
    assert values(metrics)["postroom_sort_log_messages_totalwarning"] == 0


def test_warnings_of_the_log_are_counted() -> None:
    metrics, logger = SortMetrics(), logging.getLogger("postroom.test_of_metrics")
    logger.addHandler(metrics)
    logger.warning("the catalog cannot be opened")
    logger.error("worse")
    logger.info("nothing")
    logger.removeHandler(metrics)
    found = values(metrics)
    assert found["postroom_sort_log_messages_totalwarning"] == found["postroom_sort_log_messages_totalerror"] == 1


def test_a_scraper_gets_the_metrics_and_others_the_way_there() -> None:
    metrics = SortMetrics()
    with metrics_port("0", metrics.text) as url:
        assert url.startswith("http://127.0.0.1:")
        answer = httpx.get(url)
        assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (200, "text/plain")
        assert answer.text == metrics.text()
        lost = httpx.get(url.removesuffix("/metrics"))
        assert (lost.status_code, lost.text) == (404, "The metrics are at /metrics.\n")
        taken = url.removesuffix("/metrics").rpartition(":")[2]
        with pytest.raises(PortBusy, match="cannot listen there"), metrics_port(taken, metrics.text):
            pass
    with pytest.raises(httpx.ConnectError):
        httpx.get(url)


@pytest.mark.parametrize(
    ("address", "parsed"),
    [
        ("9464", ("127.0.0.1", 9464)),
        ("metrics.example:1", ("metrics.example", 1)),
        ("[::1]:80", ("::1", 80)),
        (":80", ("127.0.0.1", 80)),
    ],
)
def test_an_address_is_a_port_or_a_host_and_a_port(address: str, parsed: tuple[str, int]) -> None:
    assert parse_address(address) == parsed


@pytest.mark.parametrize("address", ["", "x", "host:", "70000", "127.0.0.1:99999", "-1"])
def test_what_is_no_port_is_refused(address: str) -> None:
    with pytest.raises(BadFlag, match="this is no port"):
        parse_address(address)


def test_a_batch_is_a_line_of_the_log_with_what_is_still_to_do(caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("postroom")
    before = logger.propagate
    logger.propagate = True
    try:
        watchers = Watchers([BatchLog()])
        with showing_batches(shown=True):
            watchers.behind({"orders": Lag(records=1200), "in": Lag()})
            watchers.report(entry(7))
            watchers.report(entry(0, kind="tidy"))
        with showing_batches(shown=False):
            watchers.report(entry(8))
    finally:
        logger.propagate = before
    line, tidied = caplog.records
    assert tidied.message == "tidied: 3 files (1.5 kB) in place of smaller ones"
    assert line.message == (
        "batch 7 of inbox: 10 read, 8 landed, 2 dead (2 invalid), in 4.0 s; 3 files (1.5 kB) written; "
        "orders 1,200 behind"
    )
    assert line.fields["dead"] == {"invalid": 2}  # type: ignore[attr-defined]
