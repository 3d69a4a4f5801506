"""The audit: what is kept, in batches and bounded, and what is found again."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from postroom.access import audit
from postroom.access.audit import (
    AuditJournal,
    AuditRecord,
    audit_grants,
    forget_audit,
    put_audit,
    read_audit,
)
from postroom.access.grants import Grant
from postroom.catalog.open_store import open_store
from postroom.errors import AccessRefused
from postroom.store.interface import Store

HOME, ELSEWHERE = "192.0.2.1", "203.0.113.9"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path}/registry.db") as opened:
        yield opened


def kept(store: Store, **chosen: object) -> list[AuditRecord]:
    with store.read() as tx:
        return read_audit(tx, **chosen)  # type: ignore[arg-type]


def test_nothing_is_written_while_nothing_happens(store: Store) -> None:
    version = store.version()
    AuditJournal().flush(store)
    assert store.version() == version


def test_what_happens_again_and_again_is_one_record_with_a_count(store: Store) -> None:
    journal = AuditJournal()
    for _ in range(1000):
        journal.note("refused", "key:ci", HOME, detail="this key is not known here")
    journal.note("refused", "key:ci", ELSEWHERE, detail="this key is not known here")
    journal.flush(store)
    assert [(one.address, one.count) for one in kept(store)] == [(ELSEWHERE, 1), (HOME, 1000)]


def test_somebody_who_stays_has_signed_in_once(store: Store) -> None:
    journal = AuditJournal()
    for address in (HOME, HOME, ELSEWHERE, HOME):
        journal.note_sign_in("key:ci", address, "key")
    journal.flush(store)
    assert [(one.event, one.address) for one in kept(store)] == [("signin", ELSEWHERE), ("signin", HOME)]


def test_too_many_different_refusals_are_counted_and_not_kept_one_by_one(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "MOST_PENDING", 3)
    journal = AuditJournal()
    for number in range(10):
        journal.note("refused", f"key:{number}", HOME)
    journal.flush(store)
    found = kept(store)
    assert len(found) == 4
    assert (found[0].detail, found[0].count) == ("too many to be kept one by one", 7)


def test_the_newest_that_fit_come_first(store: Store) -> None:
    begin = datetime.now(UTC) - timedelta(days=10)
    with store.write() as tx:
        for day, (event, who) in enumerate([("signin", "key:a"), ("refused", "key:b"), ("forbidden", "key:a")]):
            moment = (begin + timedelta(days=day)).isoformat()
            put_audit(tx, AuditRecord(time=moment, event=event, principal=who, address=HOME))  # type: ignore[arg-type]
        audit_grants(tx, "key:root", [Grant("key:a", "read", "/")], [Grant("key:b", "own", "/endpoints/x")])
    assert [one.event for one in kept(store)] == ["changed", "changed", "forbidden", "refused", "signin"]
    assert [one.detail for one in kept(store, event="changed")] == [
        "gave key:b own on /endpoints/x",
        "took key:a read on /",
    ]
    assert [one.event for one in kept(store, principal="key:a")] == ["forbidden", "signin"]
    assert [one.event for one in kept(store, address=HOME, limit=1)] == ["forbidden"]
    assert len(kept(store, since=begin + timedelta(hours=36))) == 3
    with pytest.raises(AccessRefused, match="no event of the audit"):
        kept(store, event="everything")


@pytest.mark.parametrize(("days", "most", "left"), [(0, 100, 5), (3, 100, 3), (0, 2, 2), (36500, 4, 4)])
def test_old_records_go_and_the_oldest_of_too_many(
    store: Store, monkeypatch: pytest.MonkeyPatch, days: int, most: int, left: int
) -> None:
    monkeypatch.setattr(audit, "MOST_KEPT", most)
    with store.write() as tx:
        for age in range(5):
            moment = datetime.now(UTC) - timedelta(days=age, hours=1)
            put_audit(tx, AuditRecord(time=moment.isoformat(), event="signin", principal=str(age)))
    forget_audit(store, days)
    assert [one.principal for one in kept(store)] == [str(age) for age in range(left)]
