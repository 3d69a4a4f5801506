"""Is a database sound, and does its change log tell how its entities came to be?"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from itertools import groupby, pairwise
from pathlib import Path

from postroom.catalog.open_store import open_store
from postroom.registry.entities import Change, Entity

CONFIGURATION = {"/model", "/modelsource", "/capabilities"}
REFERENCE = {"meta.xref", "meta.modifiedat"}


def check_file(database: Path) -> int:
    """The database is sound, its log tells exactly how its entities came to be; the number of changes."""
    if database.exists():
        with sqlite3.connect(database) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        connection.close()
    return check_registry(f"sqlite:///{database}")


def check_registry(url: str) -> int:
    """The log of a registry tells exactly how its entities came to be; the number of changes."""
    with open_store(url) as store, store.read() as tx:
        changes = tx.changes(0, 10**9)
        everyone = [tx.entity("/"), *tx.below("/")]
        kept = Counter({xid: len(tx.history(xid)) for xid in {change.xid for change in changes}})
    entities = {one.xid: one.epoch for one in everyone if one}
    check_log(changes, entities, +kept)
    check_events(changes)
    check_tree({one.xid: one for one in everyone if one})
    return len(changes)


def check_log(changes: list[Change], entities: dict[str, int], kept: Counter[str]) -> None:
    assert [change.sequence for change in changes] == list(range(1, len(changes) + 1))
    alive: dict[str, int] = {}
    superseded: Counter[str] = Counter()
    for change in filter(_is_of_entity, changes):
        assert (change.xid in alive) == (change.action != "created"), change
        if change.action == "updated":
            # The epoch of a Resource that stands for another is not shown, and waits until it is one of its own again.
            names = {name for name in change.changed if name.startswith("meta.")}
            waits = change.xid.count("/") == 4 and ("meta.xref" in names or names <= REFERENCE)
            assert change.epoch >= alive[change.xid] + (not waits), change
        superseded[change.xid] += change.action != "created"
        if change.action == "deleted":
            del alive[change.xid]
        else:
            alive[change.xid] = change.epoch
    assert alive == entities
    assert +superseded == Counter({xid: count for xid, count in kept.items() if xid not in CONFIGURATION})
    told = Counter((one.correlation, one.xid, one.action == "deprecation") for one in changes)
    assert max(told.values()) == 1, "an entity is told once per request (EVT-008, EVT-009)"
    starts = [one.correlation for one, before in _after(changes) if before is None or one.correlation != before]
    assert len(starts) == len(set(starts)), "the changes of one request stand together"


def check_events(changes: list[Change]) -> None:
    """What core/events.md says about events that come together."""
    for _, rows in groupby(changes[1:], key=lambda change: change.correlation):
        told = {change.xid: change for change in rows if change.action != "deprecation"}
        for change in told.values():
            if change.xid == "/" or change.xid in CONFIGURATION:
                assert "/" in told, change
                continue
            owner, plural = change.xid.rsplit("/", 2)[:2]
            shows = told.get(owner or "/")
            if shows is not None and shows.action != "updated":
                continue  # it came or went itself
            names = set(shows.changed) if shows else set()
            if change.action != "updated":
                stamps = {"meta.epoch", "meta.modifiedat"} if plural == "versions" else {"epoch", "modifiedat"}
                assert {plural, plural + "count", *stamps} <= names, (change, shows)
            elif change.xid.count("/") == 4 and not _is_of_entity(change):
                below = [one.changed for one in told.values() if one.xid.startswith(f"{change.xid}/versions/")]
                assert change.changed in below, (change, below)


def _is_of_entity(change: Change) -> bool:
    """Whether a stored entity changed: not its configuration, nor only what a Resource shows of its default Version."""
    shows = change.xid.count("/") == 4 and not any(name.startswith("meta.") for name in change.changed)
    is_shadow = change.action == "deprecation" or (change.action == "updated" and shows)
    return change.xid not in CONFIGURATION and not is_shadow


def _after(changes: list[Change]) -> Iterator[tuple[Change, str | None]]:
    yield from ((change, None) for change in changes[:1])
    yield from ((change, before.correlation) for before, change in pairwise(changes))


def check_tree(entities: dict[str, Entity]) -> None:
    for xid, one in entities.items():
        parts = xid.split("/")[1:]
        if len(parts) > 2:
            assert "/" + "/".join(parts[:-2]) in entities, xid
        if len(parts) == 4 and "xref" not in one.attributes:
            versions = [other for other in entities if other.startswith(f"{xid}/versions/")]
            assert f"{xid}/versions/{one.attributes['defaultversionid']}" in versions, xid
