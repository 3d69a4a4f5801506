"""Who is right: homes and their copies, edits of copies, collisions, loops, deletions, backups."""

from __future__ import annotations

import shutil
from pathlib import Path

import httpx
import pytest

from postroom.replication.replicas.conflict_policy import ConflictPolicy, decide, stamp_after
from postroom.replication.replicas.origins import UnitOrigin, living_origin
from postroom.replication.replicas.peers.open import open_source
from postroom.replication.replicas.replica_unit import Stamp, UnitEntry
from postroom.replication.replicas.service_links import remove_link
from postroom.settings import Settings
from tests.replication.catalogs import Kitchen, pull, served, verify

BREAD = "/messagegroups/ovens/messages/bread.baked"


@pytest.fixture
def kitchens(tmp_path: Path) -> list[Kitchen]:
    return [Kitchen(tmp_path, name) for name in ("anna", "bert", "cleo")]


def came(stamp: Stamp | None = None, deleted: bool = False) -> UnitOrigin:
    return UnitOrigin(
        home="anna",
        authority="urn:anna",
        path=BREAD,
        link="l",
        stamp=stamp or Stamp(0, "5"),
        digest="1",
        local="L",
        deleted=deleted,
    )


def shown(home: str = "anna", digest: str = "2", time: str = "6", imported: bool = False) -> UnitEntry:
    return UnitEntry(digest=digest, home=home, stamp=Stamp(0, time), imported=imported)


@pytest.mark.feature("REPL-012")
@pytest.mark.parametrize(
    ("incoming", "local", "origin", "verdict"),
    [
        (shown(), "", None, "take"),
        (shown(), "2", None, "same"),
        (shown(), "x", None, "collision"),
        (shown("here"), "x", None, "ours"),
        (shown("here"), "2", None, "same"),
        (shown("here"), "", None, "ours"),
        (shown(digest="1"), "L", came(), "same"),
        (shown(), "L", came(), "take"),
        (shown(time="4"), "L", came(), "take"),
        (shown(time="6", imported=True), "L", came(), "take"),
        (shown(time="5", imported=True), "L", came(), "older"),
        (shown(time="4", imported=True), "L", came(), "older"),
        (shown("cleo"), "L", came(), "collision"),
        (shown("cleo", digest="L"), "L", came(), "same"),
        (shown(digest="1"), "edited", came(), "take"),
        (shown(digest="1"), "", came(), "take"),
        (shown(time="5", imported=True), "", came(deleted=True), "older"),
        (shown(time="6", imported=True), "", came(deleted=True), "take"),
        (shown(time="5"), "", came(deleted=True), "take"),
        (shown("cleo", time="1", imported=True), "", came(deleted=True), "take"),
    ],
)
def test_the_table(incoming: UnitEntry, local: str, origin: UnitOrigin | None, verdict: str) -> None:
    assert decide(incoming, local, origin, "here", ConflictPolicy()) == verdict


def test_what_a_policy_changes() -> None:
    keeping = ConflictPolicy(keeps_edits=True)
    assert decide(shown(digest="1"), "edited", came(), "here", keeping) == "edited"
    assert decide(shown(digest="2"), "edited", came(), "here", keeping) == "take"
    assert decide(shown(), "x", None, "here", ConflictPolicy(adopts=True)) == "take"


def test_a_home_that_went_back_in_time_outdoes_itself() -> None:
    assert stamp_after(shown(time="6"), came()) == Stamp(0, "6")
    assert stamp_after(shown(time="4"), came()) == Stamp(1, "4")
    assert stamp_after(shown(time="5"), came()) == Stamp(1, "5")
    assert stamp_after(shown(time="6"), came(stamp=Stamp(1, "4"))) == Stamp(1, "6")


@pytest.mark.feature("REPL-001", "REPL-010")
def test_a_copy_says_whose_it_is_on_all_ways(kitchens: list[Kitchen]) -> None:
    anna, bert, cleo = kitchens
    anna.bake()
    with served(anna) as url:
        pull(open_source(url, Settings()), bert.side)
    pull(bert.side, cleo.side)
    for copy in (bert.version(BREAD), cleo.version(BREAD)):
        assert copy["authority"] == f"{url}/messagecatalog"
        assert copy["versionuri"] == f"{url}/messagecatalog/ovens/messagedefinitions/bread.baked/versions/1"
    assert "authority" not in anna.version(BREAD)
    assert verify(anna.side, cleo.side) == []


@pytest.mark.feature("REPL-005")
def test_versions_are_found_by_their_uri_wherever_they_are(kitchens: list[Kitchen]) -> None:
    anna, bert, _ = kitchens
    anna.bake(description="warm", envelopemetadata={"type": {"value": "bread.baked"}})
    with served(anna) as theirs, served(bert) as ours, httpx.Client() as client:
        pull(open_source(theirs, Settings()), bert.side)
        anna.bake(description="cold", envelopemetadata={"type": {"value": "bread.baked"}})
        pull(open_source(theirs, Settings()), bert.side)
        uris = [f"{theirs}/messagecatalog/ovens/messagedefinitions/bread.baked/versions/{n}" for n in (1, 2)]
        found = [client.get(f"{ours}/messagedefinition", params={"uri": uri}) for uri in uris]
        assert [one.status_code for one in found] == [200, 200]
        assert [one.headers["message-definition-description"] for one in found] == ["warm", "cold"]
        assert [one.headers["message-definition-uri"] for one in found] == uris


def test_an_explicit_authority_is_kept(kitchens: list[Kitchen]) -> None:
    anna, bert, cleo = kitchens
    anna.bake(authority="urn:corp:ovens")
    pull(anna.side, bert.side)
    pull(bert.side, cleo.side)
    assert cleo.version(BREAD)["authority"] == "urn:corp:ovens"
    assert verify(anna.side, cleo.side) == []


def test_an_edit_of_a_copy_is_refused(kitchens: list[Kitchen]) -> None:
    anna, bert, _ = kitchens
    anna.bake()
    pull(anna.side, bert.side)
    with served(bert) as url, httpx.Client(base_url=url) as client:
        refused = client.put(BREAD, json={"description": "mine"})
        assert refused.status_code == 400
        assert "It belongs to urn:xregistry:postroom-" in refused.text
        assert client.delete(BREAD).status_code == 400
        assert client.delete("/messagegroups/ovens").status_code == 400
        assert client.put("/messagegroups/ovens/messages/own.news", json={}).status_code == 201
        assert client.put("/messagegroups/ovens", json={"description": "mine"}).status_code == 400
    assert verify(anna.side, bert.side) == []


def test_or_it_is_a_flagged_divergence_until_its_home_says_something_new(kitchens: list[Kitchen]) -> None:
    anna, bert, _ = kitchens
    anna.bake()
    pull(anna.side, bert.side, keeps_edits=True)
    with served(bert, Settings(foreign_edits="flag")) as url:
        assert httpx.patch(url + BREAD, json={"description": "mine"}).status_code == 200
    report = pull(anna.side, bert.side, keeps_edits=True)
    assert (report.outcome.kept, report.state.kept) == ({BREAD: "edited"}, {BREAD: "edited"})
    assert [one.why for one in verify(anna.side, bert.side)] == ["edited"]
    anna.bake(description="news")
    assert pull(anna.side, bert.side, keeps_edits=True).outcome.taken == [BREAD]
    assert bert.version(BREAD)["description"] == "news"
    assert pull(anna.side, bert.side, keeps_edits=True).state.kept == {}


def test_an_edit_is_undone_where_edits_are_refused(kitchens: list[Kitchen]) -> None:
    anna, bert, _ = kitchens
    anna.bake(description="warm")
    pull(anna.side, bert.side)
    bert.patch(BREAD, {"description": "mine"})  # past the service
    assert pull(anna.side, bert.side).outcome.taken == [BREAD]
    assert bert.version(BREAD)["description"] == "warm"
    bert.delete(BREAD)
    assert pull(anna.side, bert.side).outcome.taken == [BREAD]


@pytest.mark.feature("REPL-006", "REPL-012")
def test_two_ways_without_echo(kitchens: list[Kitchen]) -> None:
    anna, bert, _ = kitchens
    anna.bake("bread.baked")
    bert.bake("cake.baked")
    for _ in range(2):
        pull(anna.side, bert.side, "to bert")
        pull(bert.side, anna.side, "to anna")
    assert verify(anna.side, bert.side) == verify(bert.side, anna.side) == []
    assert pull(anna.side, bert.side, "to bert").unchanged
    assert pull(bert.side, anna.side, "to anna").unchanged
    anna.delete("/messagegroups/ovens/messages/bread.baked")
    assert pull(bert.side, anna.side, "to anna").outcome.taken == []
    assert pull(anna.side, bert.side, "to bert").outcome.deleted == ["/messagegroups/ovens/messages/bread.baked"]
    assert list(bert.show("/messagegroups/ovens/messages")) == ["cake.baked"]


@pytest.mark.feature("REPL-006")
def test_a_ring_of_three_comes_to_rest(kitchens: list[Kitchen]) -> None:
    for number, kitchen in enumerate(kitchens):
        kitchen.bake(f"bread.{number}")
    ring = list(zip(kitchens, [*kitchens[1:], kitchens[0]], strict=True))
    for _ in range(3):
        for source, target in ring:
            pull(source.side, target.side, "ring")
    written = [kitchen.store.version() for kitchen in kitchens]
    kitchens[0].delete("/messagegroups/ovens/messages/bread.0")
    for _ in range(3):
        for source, target in reversed(ring):
            pull(source.side, target.side, "ring")
    assert all(list(one.show("/messagegroups/ovens/messages")) == ["bread.1", "bread.2"] for one in kitchens)
    assert all(verify(source.side, target.side, "ring") == [] for source, target in ring)
    assert written


def test_a_deleted_copy_does_not_come_back_on_a_longer_way(kitchens: list[Kitchen]) -> None:
    anna, bert, cleo = kitchens
    anna.bake("bread.baked")
    anna.bake("cake.baked")
    pull(anna.side, bert.side, "anna to bert")
    pull(bert.side, cleo.side, "bert to cleo")
    anna.delete(BREAD)
    pull(anna.side, bert.side, "anna to bert")
    assert pull(cleo.side, bert.side, "cleo to bert").outcome.taken == []
    pull(bert.side, cleo.side, "bert to cleo")
    assert list(cleo.show("/messagegroups/ovens/messages")) == ["cake.baked"]
    anna.bake("bread.baked")
    pull(anna.side, bert.side, "anna to bert")
    pull(bert.side, cleo.side, "bert to cleo")
    assert verify(anna.side, cleo.side) == []


def test_two_homes_that_claim_one_name_keep_what_they_have(kitchens: list[Kitchen]) -> None:
    anna, bert, _ = kitchens
    anna.bake(description="anna's")
    bert.bake(description="bert's")
    report = pull(anna.side, bert.side)
    assert (report.outcome.kept, report.state.kept) == ({BREAD: "collision"}, {BREAD: "collision"})
    assert bert.version(BREAD)["description"] == "bert's"
    assert [one.xid for one in verify(anna.side, bert.side)] == [BREAD]
    assert pull(anna.side, bert.side, adopts=True).outcome.taken == [BREAD]
    assert bert.version(BREAD)["description"] == "anna's"


@pytest.mark.sqlite
def test_a_home_that_was_restored_from_a_backup_is_followed_back(kitchens: list[Kitchen], tmp_path: Path) -> None:
    anna, bert, cleo = kitchens
    anna.bake(description="old")
    anna.store.close()
    shutil.copytree(tmp_path, tmp_path.with_name(tmp_path.name + "-backup"))
    anna = Kitchen(tmp_path, "anna")
    anna.bake(description="new")
    anna.bake("cake.baked")
    pull(anna.side, bert.side, "to bert")
    pull(bert.side, cleo.side, "to cleo")
    restored = Kitchen(tmp_path.with_name(tmp_path.name + "-backup"), "anna")
    pull(restored.side, bert.side, "to bert")
    pull(bert.side, cleo.side, "to cleo")
    for copy in (bert, cleo):
        assert copy.version(BREAD)["description"] == "old"
        assert verify(restored.side, copy.side) == []


def test_clocks_do_not_matter(kitchens: list[Kitchen]) -> None:
    anna, bert, cleo = kitchens
    anna.bake(createdat="2099-01-01T00:00:00Z", modifiedat="2099-01-01T00:00:00Z", description="from the future")
    pull(anna.side, bert.side, "to bert")
    pull(bert.side, cleo.side, "to cleo")
    anna.bake(modifiedat="1999-01-01T00:00:00Z", description="from the past")
    pull(anna.side, bert.side, "to bert")
    pull(bert.side, cleo.side, "to cleo")
    assert cleo.version(BREAD)["description"] == "from the past"
    with cleo.store.read() as tx:
        origin = living_origin(tx, BREAD)
    assert origin is not None
    assert origin.stamp.generation == 1


def test_a_new_link_takes_over_what_an_older_one_brought(kitchens: list[Kitchen]) -> None:
    anna, bert, cleo = kitchens
    anna.bake("bread.baked")
    anna.bake("cake.baked")
    pull(anna.side, bert.side, "first")
    pull(bert.side, cleo.side, "by bert")
    for copy in (bert, cleo):
        assert pull(anna.side, copy.side, "straight").outcome.taken == []
    anna.delete(BREAD)
    for copy in (bert, cleo):
        assert pull(anna.side, copy.side, "straight").outcome.deleted == [BREAD]
        assert verify(anna.side, copy.side, "straight") == []


def test_on_a_longer_way_only_when_the_older_link_is_gone(kitchens: list[Kitchen]) -> None:
    anna, bert, cleo = kitchens
    anna.bake()
    pull(anna.side, bert.side, "anna to bert")
    pull(bert.side, cleo.side, "first")
    pull(bert.side, cleo.side, "second")
    with cleo.store.write() as tx:
        before = living_origin(tx, BREAD)
        remove_link(tx, "first")
    pull(bert.side, cleo.side, "third")
    with cleo.store.read() as tx:
        after = living_origin(tx, BREAD)
    assert before is not None
    assert after is not None
    assert (before.link, after.link) == ("first", "third")


def test_a_catalog_that_is_linked_to_itself_is_left_alone(kitchens: list[Kitchen]) -> None:
    anna, _, _ = kitchens
    anna.bake()
    outcome = pull(anna.side, anna.side).outcome
    assert (outcome.taken, outcome.deleted, outcome.kept) == ([], [], {})
