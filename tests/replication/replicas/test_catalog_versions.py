"""Versions of the message catalog in copies: the same numbers, bytes, content types, URIs and times."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from postroom.registry.changes.original_documents import Original, store_original
from postroom.registry.read.resource_history import read_states
from postroom.replication.replicas.follow import LinkFollower
from postroom.replication.replicas.link import Link
from postroom.replication.replicas.peers.open import open_source, open_target
from postroom.replication.replicas.peers.peer import ReplicaSource, ReplicaTarget
from postroom.replication.replicas.peers.store import StoreEndpoint
from postroom.replication.replicas.scope import LinkScope
from postroom.settings import Settings
from tests.replication.catalogs import Kitchen, pull, served, verify

HEATED = "/messagegroups/ovens/messages/heated"
AT = "/messagecatalog/ovens/messagedefinitions/heated"
TYPE = "application/vnd.oven+json; charset=utf-8"

Ends = Callable[[Kitchen, str, Kitchen, str], tuple[ReplicaSource, ReplicaTarget]]

WAYS: dict[str, Ends] = {
    "from a store": lambda there, source, here, _: (StoreEndpoint(there.store, "there", source), here.side),
    "from a service": lambda _, source, here, __: (open_source(source, Settings()), here.side),
    "into a service": lambda there, source, _, target: (
        StoreEndpoint(there.store, "there", source),
        open_target(target, Settings()),
    ),
    "from a message catalog": lambda _, source, here, __: (
        open_source(f"{source}/messagecatalog", Settings()),
        here.side,
    ),
    "into a message catalog": lambda _, source, __, target: (
        open_source(source, Settings()),
        open_target(f"{target}/messagecatalog", Settings()),
    ),
    "between message catalogs": lambda _, source, __, target: (
        open_source(f"{source}/messagecatalog", Settings()),
        open_target(f"{target}/messagecatalog", Settings()),
    ),
}


class Catalogs:
    """Two catalogs with their services."""

    def __init__(self, there: Kitchen, source: str, here: Kitchen, target: str) -> None:
        self.there, self.source, self.here, self.target = there, source, here, target

    def ends(self, way: str) -> tuple[ReplicaSource, ReplicaTarget]:
        """The ends of a link, opened anew."""
        return WAYS[way](self.there, self.source, self.here, self.target)

    def shown(self, base: str, at: str = AT) -> list[tuple[int, bytes, str, str]]:
        """All versions of a definition: number, bytes, content type, URI."""
        numbers = httpx.get(f"{base}{at}/versions").json()
        answers = [httpx.get(f"{base}{at}/versions/{number}") for number in numbers]
        return [
            (number, one.content, one.headers["content-type"], one.headers["message-definition-uri"])
            for number, one in zip(numbers, answers, strict=True)
        ]

    def times(self, base: str) -> list[str]:
        """When each version was made."""
        count = len(httpx.get(f"{base}{AT}/versions").json())
        answers = [httpx.get(f"{base}{AT}/versions/{number}") for number in range(1, count + 1)]
        return [one.headers["message-definition-createdtimeutc"] for one in answers]


@pytest.fixture
def catalogs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Catalogs]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with ExitStack() as stack:
        there, here = Kitchen(tmp_path, "there"), Kitchen(tmp_path, "here")
        yield Catalogs(there, stack.enter_context(served(there)), here, stack.enter_context(served(here)))


def document(subject: str) -> bytes:
    """A document that nobody would lay out so."""
    return b'{ "attributes" : {"type":"oven.heated",\n\t"subject":"%s"} }' % subject.encode()


def post(base: str, *subjects: str, at: str = AT, **headers: str) -> None:
    """Add versions to a definition."""
    httpx.put(f"{base}/messagecatalog/{at.split('/')[2]}", json={"format": "CloudEvents"}).raise_for_status()
    for subject in subjects:
        sent = {"Content-Type": TYPE, **headers}
        httpx.post(base + at, content=document(subject), headers=sent).raise_for_status()


@pytest.mark.audit("services-C1")
@pytest.mark.parametrize("way", WAYS)
def test_a_copy_has_all_versions_with_their_bytes_and_content_types(catalogs: Catalogs, way: str) -> None:
    post(catalogs.source, "hall 1", "hall 2", "hall 3")
    expected = catalogs.shown(catalogs.source)
    assert len(expected) == 3
    assert pull(*catalogs.ends(way)).outcome.refused == {}
    assert catalogs.shown(catalogs.target) == expected
    assert verify(*catalogs.ends(way)) == []
    assert pull(*catalogs.ends(way)).outcome.taken == []


@pytest.mark.audit("services-C1")
@pytest.mark.parametrize("way", WAYS)
def test_every_version_of_a_copy_is_found_by_its_uri(catalogs: Catalogs, way: str) -> None:
    post(catalogs.source, "hall 1", "hall 2")
    post(catalogs.source, "hall 3", **{"Message-Definition-Id": "https://bakery.example/heated/3"})
    pull(*catalogs.ends(way))
    for _, content, kind, uri in catalogs.shown(catalogs.source):
        found = httpx.get(f"{catalogs.target}/messagedefinition", params={"uri": uri})
        assert (found.status_code, found.content, found.headers["content-type"]) == (200, content, kind)
        assert found.headers["message-definition-authority"] == f"{catalogs.source}/messagecatalog"
        assert found.headers["message-definition-id"] == uri


@pytest.mark.audit("services-C1")
@pytest.mark.parametrize("second", ["into a message catalog", "between message catalogs"])
@pytest.mark.parametrize("first", WAYS)
def test_a_copy_is_the_same_copy_by_whatever_way_it_came(catalogs: Catalogs, first: str, second: str) -> None:
    post(catalogs.source, "hall 1", "hall 2")
    pull(*catalogs.ends(first), first)
    assert pull(*catalogs.ends(second), second).outcome.kept == {}
    assert verify(*catalogs.ends(second), second) == []
    post(catalogs.source, "hall 3")
    for way in (second, first, second):  # the first may be refused: a copy is renewed by the link that keeps it
        assert pull(*catalogs.ends(way), way).outcome.kept == {}
    assert catalogs.shown(catalogs.target) == catalogs.shown(catalogs.source)
    assert verify(*catalogs.ends(first), first) == []
    assert verify(*catalogs.ends(second), second) == []


@pytest.mark.audit("services-C1")
@pytest.mark.parametrize("way", WAYS)
def test_versions_that_came_since_are_added_to_those_of_the_copy(catalogs: Catalogs, way: str) -> None:
    post(catalogs.source, "hall 1")
    pull(*catalogs.ends(way))
    post(catalogs.source, "hall 2", "hall 3")
    assert HEATED in pull(*catalogs.ends(way)).outcome.taken
    httpx.patch(catalogs.source + HEATED, json={"labels": {"hall": "3"}}).raise_for_status()
    post(catalogs.source, "hall 3")
    pull(*catalogs.ends(way))
    shown = catalogs.shown(catalogs.target)
    assert [one[0] for one in shown] == [1, 2, 3, 4, 5]
    assert [one for one in shown if one[2] == TYPE] == [
        one for one in catalogs.shown(catalogs.source) if one[2] == TYPE
    ]
    assert verify(*catalogs.ends(way)) == []
    deleted = "io.cloudevents.messagecatalog.deleted.v1"
    events = httpx.get(f"{catalogs.target}/changes", params={"events": "messagecatalog"}).json()["events"]
    assert [one for one in events if one["type"] == deleted] == []


@pytest.mark.audit("services-C1")
@pytest.mark.parametrize("way", ["from a store", "from a service", "into a service", "from a message catalog"])
def test_superseded_versions_keep_the_time_when_they_were_made(catalogs: Catalogs, way: str) -> None:
    post(catalogs.source, "hall 1", "hall 2")
    pull(*catalogs.ends(way))
    post(catalogs.source, "hall 3")
    pull(*catalogs.ends(way))
    assert catalogs.times(catalogs.target) == catalogs.times(catalogs.source)
    assert len(set(catalogs.times(catalogs.target))) == 3


@pytest.mark.audit("services-C1")
@pytest.mark.parametrize("way", WAYS)
def test_a_definition_that_began_anew_begins_anew_in_the_copy(catalogs: Catalogs, way: str) -> None:
    post(catalogs.source, "hall 1", "hall 2", "hall 3")
    pull(*catalogs.ends(way))
    httpx.delete(catalogs.source + AT).raise_for_status()
    post(catalogs.source, "hall 8", "hall 9")
    assert pull(*catalogs.ends(way)).outcome.refused == {}
    assert catalogs.shown(catalogs.target) == catalogs.shown(catalogs.source)
    assert verify(*catalogs.ends(way)) == []


@contextmanager
def changed(kitchen: Kitchen, number: int, **values: Any) -> Iterator[None]:
    """The document of a version as somebody made it who reached into the store."""
    with kitchen.store.write() as tx:
        state = read_states(tx, HEATED)[number - 1]
        kept = Original(content=document(f"hall {number}"), contenttype=TYPE)
        store_original(tx, state.version, msgspec.structs.replace(kept, **values))
    fresh = Kitchen(Path(kitchen.url.removeprefix("sqlite:///")).parent, "here")
    kitchen.store, kitchen.side = fresh.store, fresh.side  # digests are kept as long as no change is logged
    yield


@pytest.mark.audit("services-C1")
@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize(
    "values", [{"content": b'{"attributes":{"type":"oven.heated"}}'}, {"contenttype": "text/json"}]
)
@pytest.mark.parametrize("way", ["from a store", "from a message catalog", "between message catalogs"])
def test_verify_finds_versions_with_other_bytes_or_another_content_type(
    catalogs: Catalogs, way: str, number: int, values: dict[str, Any]
) -> None:
    post(catalogs.source, "hall 1", "hall 2", "hall 3")
    pull(*catalogs.ends(way))
    with changed(catalogs.here, number, **values):
        assert [one.xid for one in verify(*catalogs.ends(way))] == [HEATED]


@pytest.mark.audit("services-C1")
def test_verify_finds_versions_that_are_missing(catalogs: Catalogs) -> None:
    post(catalogs.source, "hall 1", "hall 2")
    pull(catalogs.there.side, catalogs.here.side)
    post(catalogs.source, "hall 1")
    post(catalogs.source, "hall 2")  # its newest version is the same again
    assert [(one.xid, one.why) for one in verify(*catalogs.ends("from a service"))] == [(HEATED, "different")]


@pytest.mark.audit("services-C1")
def test_an_edit_of_a_copy_leaves_no_version_when_it_is_undone(catalogs: Catalogs) -> None:
    post(catalogs.source, "hall 1", "hall 2")
    pull(catalogs.there.side, catalogs.here.side)
    catalogs.here.put(HEATED, {"description": "mine"}, patch=True)
    assert [one.why for one in verify(catalogs.there.side, catalogs.here.side)] == ["edited"]
    assert pull(catalogs.there.side, catalogs.here.side).outcome.taken == [HEATED]
    assert [one[:3] for one in catalogs.shown(catalogs.target)] == [one[:3] for one in catalogs.shown(catalogs.source)]
    assert verify(catalogs.there.side, catalogs.here.side) == []


@pytest.mark.audit("services-C1")
def test_a_change_of_the_definition_alone_is_no_version(catalogs: Catalogs) -> None:
    post(catalogs.source, "hall 1", "hall 2")
    pull(*catalogs.ends("from a service"))
    httpx.patch(f"{catalogs.source}{HEATED}/meta", json={"deprecated": {}}).raise_for_status()
    assert pull(*catalogs.ends("from a service")).outcome.taken == [HEATED]
    assert catalogs.here.show(f"{HEATED}/meta")["deprecated"] == {}
    assert catalogs.shown(catalogs.target) == catalogs.shown(catalogs.source)
    assert verify(*catalogs.ends("from a service")) == []


@pytest.mark.audit("services-C1")
def test_a_definition_that_stood_for_another_has_its_own_versions_again(catalogs: Catalogs) -> None:
    post(catalogs.source, "hall 1", "hall 2")
    cold = "/messagegroups/ovens/messages/cold"
    at = AT.replace("heated", "cold")
    catalogs.there.put(cold, {"meta": {"xref": HEATED}})
    pull(*catalogs.ends("from a service"))
    assert [one[:3] for one in catalogs.shown(catalogs.target, at)] == [
        one[:3] for one in catalogs.shown(catalogs.source, at)
    ]
    catalogs.there.delete(cold)
    post(catalogs.source, "cellar 1", "cellar 2", "cellar 3", at=at)
    pull(*catalogs.ends("from a service"))
    assert catalogs.shown(catalogs.target, at) == catalogs.shown(catalogs.source, at)
    assert verify(*catalogs.ends("from a service")) == []


@pytest.mark.audit("services-C1")
def test_every_version_goes_through_a_hub(catalogs: Catalogs, tmp_path: Path) -> None:
    far = Kitchen(tmp_path, "far")
    with served(far) as url:
        for subjects in (("hall 1", "hall 2"), ("hall 3", "hall 4")):
            post(catalogs.source, *subjects)
            pull(open_source(catalogs.source, Settings()), catalogs.here.side, "first")
            pull(open_source(catalogs.target, Settings()), far.side, "second")
        assert catalogs.shown(url) == catalogs.shown(catalogs.source)
        assert verify(open_source(catalogs.source, Settings()), far.side, "second") == []


@pytest.mark.audit("services-C1")
def test_a_follower_takes_versions_over_one_by_one(catalogs: Catalogs) -> None:
    source, target = catalogs.ends("from a service")
    following = LinkFollower(source, target, Link(id="link"))
    list(following.pending())
    for hall in ("hall 1", "hall 2", "hall 3"):
        post(catalogs.source, hall)
        list(following.pending())
    assert catalogs.shown(catalogs.target) == catalogs.shown(catalogs.source)
    subjects = [
        one["subject"]
        for one in httpx.get(f"{catalogs.target}/changes", params={"events": "messagecatalog"}).json()["events"]
    ]
    assert [one for one in subjects if "/versions/" in one] == [f"{AT}/versions/{number}" for number in (1, 2, 3)]


@pytest.mark.audit("services-C1")
def test_versions_keep_their_names_under_another_name(catalogs: Catalogs) -> None:
    post(catalogs.source, "hall 1", "hall 2")
    scope = LinkScope(renames=(("/messagegroups/ovens", "/messagegroups/partner"),))
    pull(catalogs.ends("from a service")[0], catalogs.here.side, scope=scope)
    renamed = AT.replace("ovens", "partner")
    assert catalogs.shown(catalogs.target, renamed) == catalogs.shown(catalogs.source)
    assert verify(catalogs.ends("from a service")[0], catalogs.here.side, scope=scope) == []


@pytest.mark.audit("services-C1")
def test_what_files_cannot_hold_is_not_taken_again(catalogs: Catalogs, tmp_path: Path) -> None:
    post(catalogs.source, "hall 1", "hall 2")
    for expected in (2, 0):
        target = open_target(str(tmp_path / "git"), Settings())
        assert len(pull(catalogs.there.side, target).outcome.taken) == expected
        assert verify(catalogs.there.side, target) == []
        target.close()


@pytest.mark.audit("services-C1")
def test_a_source_without_versions_leaves_those_that_it_made_here(catalogs: Catalogs) -> None:
    """Files and other xRegistry services know the present state only; each that a copy was in is a version here."""
    post(catalogs.source, "hall 1")
    for hall in ("hall 2", "hall 3"):
        pull(open_source(catalogs.source, Settings(), plain=True), catalogs.here.side)
        post(catalogs.source, hall)
    pull(open_source(catalogs.source, Settings(), plain=True), catalogs.here.side)
    assert [one[0] for one in catalogs.shown(catalogs.target)] == [1, 2, 3]


FORMATS: dict[str, Any] = {
    "MQTT": {"publish": {"mqttversion": "3.1.1", "topicname": "ovens"}},
    "AMQP": {"properties": {"subject": "ovens"}},
    "NATS": {"subject": "ovens"},
    "KAFKA": {"anything": 1},
    "Acme": {"anything": 1},
}


@pytest.mark.audit("services-C2")
@pytest.mark.parametrize("way", WAYS)
def test_groups_keep_their_format_with_and_without_definitions(catalogs: Catalogs, way: str) -> None:
    groups = {f"{prefix}.{form}": form for form in FORMATS for prefix in ("empty", "full")}
    for group, form in groups.items():
        httpx.put(f"{catalogs.source}/messagecatalog/{group}", json={"format": form}).raise_for_status()
        if group.startswith("full"):
            at = f"{catalogs.source}/messagecatalog/{group}/messagedefinitions/heated"
            httpx.post(at, json=FORMATS[form]).raise_for_status()
    report = pull(*catalogs.ends(way))
    assert (len(report.outcome.taken), report.outcome.refused) == (3 * len(FORMATS), {})
    for group, form in groups.items():
        assert httpx.get(f"{catalogs.target}/messagecatalog/{group}").json()["format"] == form
        if group.startswith("full"):
            copy = httpx.get(f"{catalogs.target}/messagecatalog/{group}/messagedefinitions/heated")
            assert copy.headers["message-definition-format"] == form
    assert verify(*catalogs.ends(way)) == []


ODD = [
    (b"oven := hot\n", "text/x-acme"),
    (b"\x00\xff\xfe", "application/octet-stream"),
    (b'["a", "list"]', "application/json"),
    (b'{"Not A Name": 1, "envelopemetadata": {}}', "application/json"),
]


@pytest.mark.audit("services-C3")
@pytest.mark.parametrize("way", WAYS)
def test_a_definition_in_a_format_of_its_own_does_not_stop_the_others(catalogs: Catalogs, way: str) -> None:
    httpx.put(f"{catalogs.source}/messagecatalog/acme", json={"format": "Acme/1"}).raise_for_status()
    places = [f"/messagecatalog/acme/messagedefinitions/odd{number}" for number in range(len(ODD))]
    for at, (content, kind) in zip(places, ODD, strict=True):
        for body in (content, content + b" "):
            httpx.post(catalogs.source + at, content=body, headers={"Content-Type": kind}).raise_for_status()
    post(catalogs.source, "hall 1")
    assert pull(*catalogs.ends(way)).outcome.refused == {}
    for at in (*places, AT):
        assert catalogs.shown(catalogs.target, at) == catalogs.shown(catalogs.source, at)
    assert verify(*catalogs.ends(way)) == []


@pytest.mark.audit("services-C1")
def test_a_definition_with_more_than_the_target_reads_does_not_stop_the_others(
    catalogs: Catalogs, tmp_path: Path
) -> None:
    for number in range(4):
        post(catalogs.source, "long " * 80_000 + str(number))
        post(catalogs.source, "hall 1", at=f"/messagecatalog/ovens/messagedefinitions/cold{number}")
    with served(Kitchen(tmp_path, "small"), Settings(max_body_mb=1)) as url:
        report = pull(catalogs.ends("from a service")[0], open_target(url, Settings()))
        assert len(report.outcome.taken) == 5
        assert "max_body_mb" in report.outcome.refused[HEATED]
        assert "max_body_mb" in report.state.refused[HEATED]
        found = verify(catalogs.ends("from a service")[0], open_target(url, Settings()))
        assert [(one.xid, one.why) for one in found] == [(HEATED, "missing")]
