"""Copies that are kept up to date by what the source's change log says."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from postroom.errors import ServiceRefused, ServiceUnreachable
from postroom.replication.replicas import follow as module
from postroom.replication.replicas.follow import LinkFollower
from postroom.replication.replicas.link import Link, read_state
from postroom.replication.replicas.peers.open import open_source, open_target
from postroom.replication.replicas.peers.peer import ReplicaSource, ReplicaTarget
from postroom.replication.replicas.pull import PullReport
from postroom.replication.replicas.scope import LinkScope
from postroom.settings import Settings
from tests.replication.catalogs import Kitchen, served, until, verify

BREAD = "/messagegroups/ovens/messages/bread.baked"


@pytest.fixture
def kitchens(tmp_path: Path) -> list[Kitchen]:
    return [Kitchen(tmp_path, name) for name in ("anna", "bert")]


@contextmanager
def followed(
    source: ReplicaSource, target: ReplicaTarget, link: str = "link", poll: float = 0.05
) -> Iterator[list[PullReport]]:
    """A link that goes on in a thread; what it did so far."""
    reports: list[PullReport] = []
    stopping = threading.Event()
    following = LinkFollower(source, target, Link(id=link), stopping)

    def run() -> None:
        for report in following.by_changes(poll):
            reports.append(report)  # noqa: PERF402

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield reports
    finally:
        stopping.set()


@pytest.mark.feature("REPL-007")
def test_exactly_what_changed_is_taken_with_one_request(kitchens: list[Kitchen]) -> None:
    anna, bert = kitchens
    anna.bake("cake.baked")
    with served(anna) as url:
        source = open_source(url, Settings())
        with followed(source, bert.side) as reports:
            until(lambda: len(reports) == 1)
            before = source.requests
            assert httpx.put(url + BREAD, json={"description": "warm"}).status_code == 201
            until(lambda: len(reports) == 2)
            assert reports[1].outcome.taken == [BREAD]
            assert source.requests - before <= 2  # the stream, which may have been opened just now, and the units
            before = source.requests
            assert httpx.delete(url + BREAD).status_code == 204
            until(lambda: len(reports) == 3)
            assert reports[2].outcome.deleted == [BREAD]
            assert source.requests - before == 1
    assert verify(anna.side, bert.side) == []


@pytest.mark.audit("services-C5")
def test_a_message_catalog_is_followed_by_its_events(kitchens: list[Kitchen]) -> None:
    anna, bert = kitchens
    anna.bake("cake.baked")
    with served(anna) as url:
        source = open_source(f"{url}/messagecatalog", Settings())
        with followed(source, bert.side, poll=1000) as reports:
            until(lambda: len(reports) == 1)
            assert httpx.put(url + "/schemagroups/loaves", json={}).status_code == 201
            assert httpx.put(url + BREAD, json={"envelope": "CloudEvents/1.0"}).status_code == 201
            until(lambda: len(reports) == 2)
            assert reports[1].outcome.taken == [BREAD]
            before = source.requests
            assert httpx.delete(url + BREAD).status_code == 204
            until(lambda: any(report.outcome.deleted == [BREAD] for report in reports))
            assert source.requests - before <= 4  # the group and the versions of the definition
        assert verify(open_source(f"{url}/messagecatalog", Settings()), bert.side) == []


@pytest.mark.audit("services-C5")
def test_a_follower_of_a_message_catalog_goes_on_where_it_was(kitchens: list[Kitchen]) -> None:
    anna, bert = kitchens
    with served(anna) as url:
        source = open_source(f"{url}/messagecatalog", Settings())
        following = LinkFollower(source, bert.side, Link(id="link", scope=LinkScope("/messagegroups/ovens")))
        list(following.pending())
        anna.bake("cake.baked", group="shops")
        anna.bake("bread.baked")
        later = open_source(f"{url}/messagecatalog", Settings())
        done = list(LinkFollower(later, bert.side, following.link).pending())
        assert [sorted(report.outcome.taken) for report in done] == [["/messagegroups/ovens", BREAD]]
        assert list(LinkFollower(later, bert.side, following.link).pending()) == []


@pytest.mark.audit("services-C5")
def test_names_that_only_a_message_catalog_has_are_followed(kitchens: list[Kitchen]) -> None:
    anna, bert = kitchens
    with served(anna) as url:
        with followed(open_source(f"{url}/messagecatalog", Settings()), bert.side, poll=1000) as reports:
            until(lambda: len(reports) == 1)
            assert httpx.put(f"{url}/messagecatalog/it's%20hot", json={"format": "NATS"}).status_code == 201
            at = f"{url}/messagecatalog/it's%20hot/messagedefinitions/a+b"
            assert httpx.post(at, json={"subject": "ovens"}).status_code == 201
            until(lambda: verify(open_source(f"{url}/messagecatalog", Settings()), bert.side) == [])
        events = httpx.get(f"{url}/changes", params={"events": "messagecatalog"}).json()["events"]
        assert events[-1]["subject"] == "/messagecatalog/it's%20hot/messagedefinitions/a+b/versions/1"


@pytest.mark.audit("services-C5")
def test_a_message_catalog_without_events_is_looked_at_again_and_again(
    kitchens: list[Kitchen], monkeypatch: pytest.MonkeyPatch
) -> None:
    anna, bert = kitchens
    anna.bake()
    with served(anna) as url:
        source = open_source(f"{url}/messagecatalog", Settings())
        ask = source.client.ask  # type: ignore[attr-defined]

        def without_changes(method: str, path: str, **more: Any) -> Any:
            return ask(method, path.replace("/-/changes", "/-/nothing"), **more)

        monkeypatch.setattr(source.client, "ask", without_changes)  # type: ignore[attr-defined]
        with followed(source, bert.side) as reports:
            until(lambda: len(reports) > 1)
            anna.bake("cake.baked")
            until(lambda: any("/messagegroups/ovens/messages/cake.baked" in one.outcome.taken for one in reports))


@pytest.mark.feature("REPL-002")
def test_every_change_is_pushed_as_it_happens(kitchens: list[Kitchen]) -> None:
    anna, bert = kitchens
    with served(bert) as url, followed(anna.side, open_target(url, Settings())) as reports:
        until(lambda: len(reports) == 1)
        anna.bake(description="warm")
        until(lambda: len(reports) == 2)
        assert sorted(reports[1].outcome.taken) == ["/messagegroups/ovens", BREAD]
        anna.bake(description="cold")
        until(lambda: len(reports) == 3)
        assert bert.version(BREAD)["description"] == "cold"
        state = read_state(bert.side.state("link"))
        assert state.cursor == reports[2].state.cursor
    assert verify(anna.side, bert.side) == []


@pytest.mark.feature("REPL-006")
def test_a_governed_hub_refuses_what_is_pushed(kitchens: list[Kitchen]) -> None:
    anna, bert = kitchens
    anna.bake()
    with served(bert, Settings(inbound="refuse")) as url:
        following = LinkFollower(anna.side, open_target(url, Settings()), Link(id="link"))
        with pytest.raises(ServiceRefused, match="answers 403: Replication into this registry"):
            list(following.pending())
    assert bert.show("/messagegroups") == {}


def test_a_change_that_came_by_a_link_is_not_sent_back(kitchens: list[Kitchen]) -> None:
    anna, bert = kitchens
    with served(anna) as theirs, served(bert) as ours:
        there, back = open_target(ours, Settings()), open_target(theirs, Settings())
        with followed(anna.side, there, "there") as to_bert, followed(bert.side, back, "back") as to_anna:
            until(lambda: bool(to_bert) and bool(to_anna))
            anna.bake()
            until(lambda: len(to_bert) >= 2 and len(to_anna) >= 2)
            anna.bake("cake.baked")
            until(lambda: len(to_bert) >= 3 and len(to_anna) >= 3)
            assert not any(report.outcome.taken or report.outcome.kept for report in to_anna)
    assert verify(anna.side, bert.side) == []


@pytest.mark.feature("REPL-004")
def test_a_source_without_a_change_log_is_looked_at_again_and_again(kitchens: list[Kitchen]) -> None:
    anna, bert = kitchens
    anna.bake()
    with served(anna) as url, followed(open_source(url, Settings(), plain=True), bert.side) as reports:
        until(lambda: len(reports) > 1)
        anna.bake("cake.baked")
        until(lambda: any("/messagegroups/ovens/messages/cake.baked" in report.outcome.taken for report in reports))


def test_a_source_that_is_away_is_waited_for(kitchens: list[Kitchen], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_PAUSE", 0.01)
    anna, bert = kitchens
    anna.bake()
    overview, failures = anna.side.overview, iter(range(3))

    def moody(*args: Any) -> Any:
        if next(failures, None) is not None:
            raise ServiceUnreachable("the service does not answer.", place="anna")
        return overview(*args)

    anna.side.overview = moody  # type: ignore[method-assign]
    with followed(anna.side, bert.side) as reports:
        until(lambda: len(reports) == 1)
    assert next(failures, None) is None
    assert verify(anna.side, bert.side) == []


def test_a_cursor_that_does_not_hold_means_a_full_comparison(kitchens: list[Kitchen]) -> None:
    anna, bert = kitchens
    anna.bake()
    following = LinkFollower(anna.side, bert.side, Link(id="link"))
    list(following.pending())
    state = read_state(bert.side.state("link"))
    state.cursor = "1-00000000"
    with bert.store.write() as tx:
        tx.put_record("linkstate", "link", msgspec.json.encode(state))
    anna.bake("cake.baked")
    reports = followed(anna.side, bert.side)
    with reports as done:
        until(lambda: any("/messagegroups/ovens/messages/cake.baked" in report.outcome.taken for report in done))
    assert read_state(bert.side.state("link")).resyncs == 1
    assert verify(anna.side, bert.side) == []


def test_a_group_goes_with_all_that_came_with_it(kitchens: list[Kitchen]) -> None:
    anna, bert = kitchens
    anna.bake("bread.baked")
    anna.bake("cake.baked", group="shops")
    with followed(anna.side, bert.side) as reports:
        until(lambda: len(reports) == 1)
        bert.bake("own.news")
        anna.delete("/messagegroups/ovens")
        anna.delete("/messagegroups/shops")
        until(lambda: list(bert.show("/messagegroups")) == ["ovens"])
    assert list(bert.show("/messagegroups/ovens/messages")) == ["own.news"]
    assert verify(anna.side, bert.side) == []


@pytest.mark.sqlite
def test_a_source_that_was_restored_is_compared_and_followed_back(kitchens: list[Kitchen], tmp_path: Path) -> None:
    anna, bert = kitchens
    anna.bake(description="old")
    anna.store.close()
    shutil.copytree(tmp_path, tmp_path.with_name(tmp_path.name + "-backup"))
    anna = Kitchen(tmp_path, "anna")
    anna.bake(description="new")
    list(LinkFollower(anna.side, bert.side, Link(id="link")).pending())
    assert bert.version(BREAD)["description"] == "new"
    restored = Kitchen(tmp_path.with_name(tmp_path.name + "-backup"), "anna")
    for number in range(3):  # its log is now longer than the one that the cursor was given for
        restored.bake("cake.baked", description=str(number))
    with served(restored) as url, followed(open_source(url, Settings()), bert.side) as reports:
        until(lambda: any(BREAD in report.outcome.taken for report in reports))
    assert read_state(bert.side.state("link")).resyncs == 1
    assert bert.version(BREAD)["description"] == "old"
    assert verify(restored.side, bert.side) == []
