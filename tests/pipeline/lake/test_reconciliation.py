from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from postroom.pipeline.lake import reconciliation
from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.lake import DEAD_LETTERS, Lake
from postroom.pipeline.lake.ledger import read_ledger
from postroom.pipeline.lake.reconciliation import balance_of, differences


def test_a_lake_is_what_its_ledger_says(sorted_lake: Lake) -> None:
    assert str(balance_of(read_ledger(sorted_lake))) == "read 24 = landed 19 + dead 5"
    assert list(differences(sorted_lake)) == []


def test_an_empty_lake_is_in_balance(lake: Lake) -> None:
    assert list(differences(lake)) == []


def test_rows_that_are_gone_are_noticed(sorted_lake: Lake) -> None:
    DeltaTable(sorted_lake.path("shop/order.placed")).delete("ce_id = 'o1'")
    DeltaTable(sorted_lake.path(DEAD_LETTERS)).delete("outcome = 'malformed'")
    assert list(differences(sorted_lake)) == [
        "/messagegroups/shop/messages/order.placed: the ledger has 6 rows, its tables have 5.",
        "The ledger has 5 dead letters, their table has 4.",
    ]


def a_file(lake: Lake, folder: str) -> Path:
    return next(lake.path(folder).glob("part-*.parquet"))


def test_a_file_with_fewer_rows_than_the_log_says_is_noticed(sorted_lake: Lake) -> None:
    file = a_file(sorted_lake, "shop/order.placed")
    pq.write_table(pq.read_table(file).slice(1), file)
    assert list(differences(sorted_lake)) == [
        f"shop/order.placed/{file.name}: by the log the file has 6 rows, by its footer 5."
    ]


def test_files_that_are_gone_or_broken_are_noticed(sorted_lake: Lake) -> None:
    gone, broken = a_file(sorted_lake, "shop/order.placed"), a_file(sorted_lake, DEAD_LETTERS)
    gone.unlink()
    broken.write_bytes(b"PAR1, cut")
    first, second = differences(sorted_lake)
    assert first == f"shop/order.placed/{gone.name}: this file is gone."
    assert second.startswith(f"{DEAD_LETTERS}/{broken.name}: this file cannot be read: ")


def test_a_table_that_does_not_open_is_noticed_and_the_others_are_looked_at(sorted_lake: Lake) -> None:
    (log,) = sorted_lake.path("fleet/vehicle.position").glob("_delta_log/*.json")
    log.write_text("{ half a line")
    gone = a_file(sorted_lake, "shop/order.placed")
    gone.unlink()
    first, second, *_ = differences(sorted_lake)
    assert first.startswith("fleet/vehicle.position: this table cannot be opened: ")
    assert second == f"shop/order.placed/{gone.name}: this file is gone."


def test_of_many_files_some_are_looked_at_from_all_times(
    fleet: Any, lake: Lake, records: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconciliation, "SAMPLED_FILES", 2)
    for batch in range(5):
        job = fleet.job(lake, fleet.compiled(), batch=batch)
        commit_batch(lake, job, "records", [fleet.task(job, records)])
        a_file(lake, "shop/order.placed").unlink()
    gone = [sentence for sentence in differences(lake) if sentence.endswith("gone.")]
    assert len(gone) == 2
