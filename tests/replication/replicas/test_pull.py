"""Pulling by difference: what is taken, what stays, and how little is asked when nothing changed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from postroom.errors import SourceChanged
from postroom.replication.replicas import pull as pulling
from postroom.replication.replicas.apply_units import BatchResult, ReplicaBatch
from postroom.replication.replicas.peers.open import open_source, open_target
from postroom.replication.replicas.scope import LinkScope
from postroom.settings import Settings
from tests.replication.catalogs import Kitchen, pull, served, verify


@pytest.fixture
def here(tmp_path: Path) -> Kitchen:
    return Kitchen(tmp_path, "here")


@pytest.fixture
def there(tmp_path: Path) -> Kitchen:
    kitchen = Kitchen(tmp_path, "there")
    kitchen.bake("bread.baked", description="warm")
    kitchen.bake("cake.baked")
    kitchen.shape("1", "2")
    return kitchen


@pytest.fixture
def url(there: Kitchen) -> Iterator[str]:
    with served(there) as url:
        yield url


@pytest.mark.feature("REPL-004")
def test_everything_is_taken_once_and_differences_after_that(here: Kitchen, there: Kitchen) -> None:
    first = pull(there.side, here.side)
    assert len(first.outcome.taken) == 5
    assert verify(there.side, here.side) == []
    assert pull(there.side, here.side).unchanged
    there.bake("bread.baked", description="cold")
    there.delete("/messagegroups/ovens/messages/cake.baked")
    there.shape("3")
    assert {one.why for one in verify(there.side, here.side)} == {"different", "surplus"}
    second = pull(there.side, here.side)
    assert sorted(second.outcome.taken) == [
        "/messagegroups/ovens/messages/bread.baked",
        "/schemagroups/loaves/schemas/loaf",
    ]
    assert second.outcome.deleted == ["/messagegroups/ovens/messages/cake.baked"]
    assert here.version("/messagegroups/ovens/messages/bread.baked")["description"] == "cold"
    assert here.show("/schemagroups/loaves/schemas/loaf/meta")["defaultversionid"] == "3"
    assert verify(there.side, here.side) == []


def test_documents_keep_their_bytes_and_entities_their_times(here: Kitchen, there: Kitchen) -> None:
    pull(there.side, here.side)
    there.put("/schemagroups/loaves/schemas/loaf/versions/2", {"format": "JsonSchema/draft-07", "description": "new"})
    pull(there.side, here.side)
    for xid in ("/schemagroups/loaves/schemas/loaf", "/schemagroups/loaves/schemas/loaf/versions/1"):
        with there.store.read() as theirs, here.store.read() as ours:
            one, other = theirs.entity(xid), ours.entity(xid)
        assert one
        assert other
        assert (one.createdat, one.modifiedat, one.document) == (other.createdat, other.modifiedat, other.document)


def test_versions_that_are_gone_go(here: Kitchen, there: Kitchen) -> None:
    pull(there.side, here.side)
    there.delete("/schemagroups/loaves/schemas/loaf/versions/1")
    there.delete("/messagegroups/ovens/messages/bread.baked")
    there.put("/messagegroups/ovens/messages/bread.baked", {"versionid": "7"})
    pull(there.side, here.side)
    assert list(here.show("/schemagroups/loaves/schemas/loaf/versions")) == ["2"]
    assert list(here.show("/messagegroups/ovens/messages/bread.baked/versions")) == ["7"]
    assert verify(there.side, here.side) == []


def test_a_reference_comes_as_a_reference(here: Kitchen, there: Kitchen) -> None:
    there.put(
        "/messagegroups/ovens/messages/roll.baked", {"meta": {"xref": "/messagegroups/ovens/messages/bread.baked"}}
    )
    pull(there.side, here.side)
    assert here.show("/messagegroups/ovens/messages/roll.baked/meta")["xref"].endswith("/bread.baked")
    there.put("/messagegroups/ovens/messages/roll.baked", {"meta": {"xref": None}, "name": "rolls"})
    pull(there.side, here.side)
    assert here.version("/messagegroups/ovens/messages/roll.baked")["name"] == "rolls"
    assert verify(there.side, here.side) == []


@pytest.mark.feature("REPL-003")
@pytest.mark.parametrize(
    ("only", "taken"),
    [
        ("/schemagroups/loaves", ["/schemagroups/loaves", "/schemagroups/loaves/schemas/loaf"]),
        (
            "/messagegroups/ovens/messages/cake.baked",
            ["/messagegroups/ovens", "/messagegroups/ovens/messages/cake.baked"],
        ),
    ],
)
def test_a_part_may_be_meant(here: Kitchen, there: Kitchen, only: str, taken: list[str]) -> None:
    assert pull(there.side, here.side, scope=LinkScope(only)).outcome.taken == taken
    assert pull(there.side, here.side, scope=LinkScope(only)).unchanged
    there.bake("bread.baked", description="not meant")
    there.delete(only)
    deleted = pull(there.side, here.side, scope=LinkScope(only)).outcome.deleted
    assert deleted == [xid for xid in reversed(taken) if xid.startswith(only)]


@pytest.mark.feature("REPL-005")
def test_names_may_differ_and_references_follow(here: Kitchen, there: Kitchen) -> None:
    there.bake("roll.baked", basemessage="/messagegroups/ovens/messages/bread.baked")
    here.bake("own.news")
    scope = LinkScope("/", (("/messagegroups/ovens", "/messagegroups/partner"),))
    pull(there.side, here.side, scope=scope)
    copy = here.version("/messagegroups/partner/messages/roll.baked")
    assert copy["basemessage"] == "/messagegroups/partner/messages/bread.baked"
    assert copy["versionuri"].endswith("messagegroups/ovens/messages/roll.baked/versions/1")
    assert verify(there.side, here.side, scope=scope) == []
    assert pull(there.side, here.side, scope=scope).unchanged
    there.delete("/messagegroups/ovens")
    assert len(pull(there.side, here.side, scope=scope).outcome.deleted) == 4
    assert list(here.show("/messagegroups")) == ["ovens"]


def test_nothing_changed_costs_one_request(here: Kitchen, url: str) -> None:
    source = open_source(url, Settings())
    assert pull(source, here.side).requests == 3
    again = pull(source, here.side)
    assert (again.requests, again.unchanged) == (1, True)
    source = open_source(url, Settings())
    assert pull(source, here.side).requests == 1


def test_a_service_is_pulled_from_and_pushed_to(here: Kitchen, there: Kitchen, url: str, tmp_path: Path) -> None:
    source = open_source(url, Settings())
    pull(source, here.side)
    third = Kitchen(tmp_path, "third")
    with served(third) as other:
        target = open_target(other, Settings())
        assert len(pull(here.side, target).outcome.taken) == 5
        assert verify(source, target) == []
        here.bake("own.news")
        there.bake("bread.baked", description="colder")
        pull(source, here.side)
        assert len(pull(here.side, target).outcome.taken) == 2
        assert pull(here.side, target).unchanged
    entry = third.side.entries(["/messagegroups/ovens"])["/messagegroups/ovens/messages/bread.baked"]
    assert (entry.authority, entry.imported) == (url + "/messagecatalog", True)


def test_another_registry_at_the_same_address_is_a_mistake(here: Kitchen, there: Kitchen, tmp_path: Path) -> None:
    pull(there.side, here.side)
    with pytest.raises(SourceChanged, match="nothing was changed"):
        pull(Kitchen(tmp_path, "other").side, here.side)
    assert verify(there.side, here.side) == []


@pytest.mark.parametrize("deadly", range(6))
def test_a_pull_that_is_cut_off_anywhere_is_completed_by_the_next(
    here: Kitchen, there: Kitchen, monkeypatch: pytest.MonkeyPatch, deadly: int
) -> None:
    """As kill -9 would: what was committed stays, everything else is as if it had never begun."""
    monkeypatch.setattr(pulling, "BATCH_UNITS", 2)
    apply, calls = here.side.apply, iter(range(100))

    def dying(batch: ReplicaBatch) -> BatchResult:
        if next(calls) == deadly:
            raise KeyboardInterrupt
        return apply(batch)

    here.side.apply = dying  # type: ignore[method-assign]
    for _ in range(2):
        with suppress(KeyboardInterrupt):
            pull(there.side, here.side)
        there.bake("bread.baked", description="cold")
    there.delete("/messagegroups/ovens/messages/cake.baked")
    pull(there.side, here.side)
    assert verify(there.side, here.side) == []
    assert pull(there.side, here.side).unchanged


LIBRARY = {
    "groups": {
        "shelves": {
            "singular": "shelf",
            "resources": {"books": {"singular": "book", "maxversions": 0}, "notes": {"singular": "note"}},
        }
    }
}


def test_any_model_is_copied_with_documents_of_any_kind(tmp_path: Path) -> None:
    one, other = (Kitchen(tmp_path, name, "none") for name in ("one", "other"))
    for kitchen in (one, other):
        kitchen.put("/", {"modelsource": LIBRARY}, patch=True)
    one.put("/shelves/a/books/b/versions/v1", {"bookbase64": "AP8=", "contenttype": "image/png"})
    one.put("/shelves/a/books/b/versions/v2", {"book": {"title": "Bread"}})
    one.put("/shelves/a/books/c", {"bookurl": "https://books.example/c"})
    one.put("/shelves/a/notes/n", {"note": "half an hour"})
    one.put("/shelves/a/notes/empty", {"labels": {"kind": "empty"}})
    assert len(pull(one.side, other.side).outcome.taken) == 5
    assert verify(one.side, other.side) == []
    with served(one) as url:
        plain = open_source(url, Settings(), plain=True)
        assert verify(plain, other.side) == []
    with one.store.read() as theirs, other.store.read() as ours:
        for entity in theirs.below("/shelves"):
            copy = ours.entity(entity.xid)
            assert copy is not None
            assert copy.document == entity.document


def test_what_was_refused_is_tried_again_when_the_rest_is_there(here: Kitchen, there: Kitchen) -> None:
    apply, refused = here.side.apply, []

    def picky(batch: ReplicaBatch) -> BatchResult:
        early = [unit for unit in batch.units if unit.xid.endswith("bread.baked") and not refused]
        if not early:
            return apply(batch)
        refused.append(early[0].xid)
        outcome = apply(msgspec.structs.replace(batch, units=tuple(u for u in batch.units if u not in early)))
        outcome.refused[refused[0]] = "it misses something"
        return outcome

    here.side.apply = picky  # type: ignore[method-assign]
    report = pull(there.side, here.side)
    assert refused
    assert (report.outcome.refused, report.state.refused) == ({}, {})
    assert verify(there.side, here.side) == []
