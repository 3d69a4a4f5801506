"""What a store does about clocks that are wrong, logs that grow and requests without end."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from postroom.catalog.open_store import open_store
from postroom.catalog.wiring import RULES
from postroom.registry.operations import put_groups
from postroom.registry.problems import RegistryProblem
from postroom.registry.write.unit_of_work import UnitOfWork
from postroom.store.interface import Store
from postroom.store.sqlite import LARGE_LOG

OVENS = "/messagegroups/ovens"
MEGABYTE = b"x" * 1024 * 1024


def write(store: Store, now: str = "", **groups: object) -> None:
    with store.write() as tx:
        work = UnitOfWork(tx, now=now)
        put_groups(work, {"messagegroups": groups})
        work.finish()


@pytest.mark.parametrize("ahead", ["2199-12-31T23:59:59.5Z", "2199-12-31T23:59:59Z", "2199-12-31T23:59:59.123456Z"])
def test_a_clock_that_is_set_back_does_not_set_times_back(tmp_path: Path, ahead: str) -> None:
    with open_store(f"sqlite:///{tmp_path}/registry.db") as store:
        write(store, ahead, ovens={})
        write(store, ovens={"name": "Ovens"}, fridges={})
        with store.read() as tx:
            ovens, fridges, last = tx.entity(OVENS), tx.entity("/messagegroups/fridges"), tx.last_change()
    assert ovens is not None
    assert fridges is not None
    assert last is not None
    assert (ovens.createdat, ovens.modifiedat) == (ahead, ahead)
    assert (fridges.createdat, last.time) == (ahead, ahead)


def test_a_clock_that_is_right_is_believed(tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path}/registry.db") as store:
        write(store, "2001-01-01T00:00:00Z", ovens={})
        write(store, ovens={"name": "Ovens"})
        with store.read() as tx:
            ovens = tx.entity(OVENS)
    assert ovens is not None
    assert ovens.createdat == "2001-01-01T00:00:00Z"
    assert ovens.modifiedat > "2026"


def test_a_log_that_grew_beside_a_slow_reader_is_emptied_when_it_is_done(tmp_path: Path) -> None:
    log = tmp_path / "registry.db-wal"
    with open_store(f"sqlite:///{tmp_path}/registry.db", write_wait_s=0.2) as store:
        with store.read() as tx:
            assert tx.entity("/") is not None
            for number in range(12):
                with store.write() as writing:
                    writing.put_record("notes", str(number), MEGABYTE)
        assert log.stat().st_size > LARGE_LOG
        store._next_checkpoint = 0.0  # type: ignore[attr-defined]  # as if some seconds had passed
        with store.write() as writing:
            writing.put_record("notes", "last", b"")
        assert log.stat().st_size == 0
        with store.read() as tx:
            assert len(tx.records("notes")) == 13


def test_writes_wait_for_a_reader_that_stays_only_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postroom.store.sqlite.CHECKPOINT_SECONDS", 0.0)  # every wait is longer than that
    statements: list[str] = []
    with open_store(f"sqlite:///{tmp_path}/registry.db", write_wait_s=1) as store, store.read() as tx:
        assert tx.entity("/") is not None
        with store.write() as writing:
            writing.put_record("notes", "large", MEGABYTE * 9)
        store._writer.set_trace_callback(statements.append)  # type: ignore[attr-defined]  # what it does
        for number in range(8):
            with store.write() as writing:
                writing.put_record("notes", str(number), b"")
    assert sum("checkpoint" in statement for statement in statements) < 4


def test_a_request_writes_only_so_many_entities(tmp_path: Path) -> None:
    rules = msgspec.structs.replace(RULES, most_entities=10)
    with open_store(f"sqlite:///{tmp_path}/registry.db", rules=rules) as store:
        write(store, **{f"oven{number}": {} for number in range(9)})  # the Registry itself is the tenth
        with pytest.raises(RegistryProblem, match="at most 10 entities") as caught:
            write(store, **{f"fridge{number}": {} for number in range(10)})
        assert caught.value.status == 413
        with store.read() as tx:
            assert tx.count("/messagegroups") == 9
