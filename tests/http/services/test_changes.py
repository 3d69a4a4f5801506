"""`/changes`: pages, values, and streams that go on."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from postroom.catalog.open_store import open_store
from postroom.http.server import event_streams
from postroom.http.server.app import create_app
from postroom.http.services.changes import ChangeStream
from postroom.replication.changes.events import events_of
from postroom.settings import Settings
from postroom.store.interface import Store
from postroom.store.retention import Retention
from tests.http.requests import AsgiClient, Reply
from tests.http.running_service import kill, serving

OVENS = "/messagegroups/ovens"
STREAM = {"Accept": "text/event-stream"}
MADE = partial(events_of, base="http://ovens.localhost")
PATIENT = httpx.Timeout(60)


def refusal(reply: Reply) -> tuple[int, str]:
    assert reply.problem == "bad_request"
    return reply.status, reply.json["args"].get("code", "")


@pytest.mark.feature("EVT-001", "EVT-003", "EVT-004")
def test_a_page_has_events_and_leads_to_the_next(asgi: AsgiClient) -> None:
    for name in ("ovens", "mixers", "ovens2"):
        asgi.ask("PUT", f"/messagegroups/{name}", {})
    first = asgi.ask("GET", "/changes?limit=4")
    assert first.json["more"] is True
    assert [event["subject"] for event in first.json["events"]] == ["/", OVENS, "/"]  # the first row is no event
    link = first.headers["link"].split(", ")[-1]
    assert link == f"<http://ovens.localhost/changes?after={first.json['cursor']}&limit=4>;rel=next"
    second = asgi.ask("GET", link[len("<http://ovens.localhost") : link.index(">")])
    assert [event["subject"] for event in second.json["events"]] == [
        "/messagegroups/mixers",
        "/",
        "/messagegroups/ovens2",
    ]
    assert second.json["more"] is False
    assert "rel=next" not in second.headers["link"]
    event = second.json["events"][0]
    assert event["source"] == "http://ovens.localhost"
    shown = asgi.ask("GET", event["source"].removeprefix("http://ovens.localhost") + event["subject"])
    assert shown.json["xid"] == event["subject"]


def test_nothing_new_costs_a_tag(asgi: AsgiClient) -> None:
    asgi.ask("PUT", OVENS, {})
    cursor = asgi.ask("GET", "/changes").json["cursor"]
    quiet = asgi.ask("GET", f"/changes?after={cursor}")
    assert quiet.json == {"events": [], "cursor": cursor, "more": False}
    again = asgi.ask("GET", f"/changes?after={cursor}", headers={"If-None-Match": quiet.headers["etag"]})
    assert again.status == 304
    asgi.ask("PUT", "/messagegroups/mixers", {})
    new = asgi.ask("GET", f"/changes?after={cursor}", headers={"If-None-Match": quiet.headers["etag"]})
    assert len(new.json["events"]) == 2


def test_a_page_can_be_of_one_entity_and_what_is_below(asgi: AsgiClient) -> None:
    for message in ("heated", "cooled"):
        asgi.ask("PUT", f"{OVENS}/messages/{message}", {})
    for xid in (f"{OVENS}/messages/heated", f"{OVENS}/messages/heated/", f"{OVENS}/messages/heated/meta"):
        page = asgi.ask("GET", f"/changes?xid={xid}").json
        assert [event["subject"].partition("/versions")[0] for event in page["events"]] == [
            f"{OVENS}/messages/heated"
        ] * 2
    assert asgi.ask("GET", "/changes?xid=/messagegroups/nobody").json["events"] == []
    everything = asgi.ask("GET", "/changes").json
    assert asgi.ask("GET", "/changes?xid=/messagegroups/nobody").json["cursor"] == everything["cursor"]
    assert asgi.ask("GET", "/changes?xid=/").json == everything


@pytest.mark.feature("REPL-008", "REPL-009")
def test_a_page_can_have_the_message_catalog_s_events(asgi: AsgiClient) -> None:
    asgi.ask("PUT", OVENS, {})
    asgi.ask("DELETE", OVENS)
    page = asgi.ask("GET", "/changes?events=messagecatalog").json
    assert [(event["type"].split(".")[3], event["subject"]) for event in page["events"]] == [
        ("updated", "/messagecatalog/ovens"),
        ("deleted", "/messagecatalog/ovens"),
    ]
    assert page["cursor"] == asgi.ask("GET", "/changes?events=xregistry").json["cursor"]


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("after=garbage", "bad_request"),
        ("after=%00%FF", "bad_request"),
        ("after=" + "9" * 5000, "bad_request"),
        ("limit=0", "bad_request"),
        ("limit=-1", "bad_request"),
        ("limit=many", "bad_request"),
        ("limit=²", "bad_request"),
        ("events=all", "bad_request"),
        ("xid=ovens", "malformed_xid"),
        ("xid=", "malformed_xid"),
        ("xid=//", "malformed_xid"),
        ("xid=/a//b", "malformed_xid"),
        ("xid=/a/b/c/d/e/f/g", "malformed_xid"),
        ("xid=/%27;DROP TABLE change", "malformed_xid"),
    ],
)
def test_bad_questions_are_refused(asgi: AsgiClient, query: str, problem: str) -> None:
    reply = asgi.ask("GET", f"/changes?{query}")
    assert reply.status == 400
    assert reply.problem == problem


def test_other_methods_and_paths_are_not_there(asgi: AsgiClient) -> None:
    assert asgi.ask("POST", "/changes").problem == "action_not_supported"
    assert asgi.ask("OPTIONS", "/changes").headers["allow"] == "GET, HEAD, OPTIONS"
    assert asgi.ask("HEAD", "/changes").body == b""
    assert asgi.ask("GET", "/changes/1").problem == "api_not_found"
    assert asgi.ask("GET", "/-/changes").json["events"] == []


def test_a_huge_limit_is_the_largest_there_is(asgi: AsgiClient) -> None:
    assert asgi.ask("GET", f"/changes?limit={10**19}").status == 200


def test_cursors_that_do_not_hold_say_why(tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path}/r.db", retention=Retention(count=2)) as store:
        asgi = AsgiClient(create_app(store, Settings()))
        asgi.ask("PUT", OVENS, {})
        cursor = asgi.ask("GET", "/changes?after=last").json["cursor"]
        for name in ("a", "b", "c"):
            asgi.ask("PUT", f"/messagegroups/{name}", {})
        assert refusal(asgi.ask("GET", f"/changes?after={cursor}")) == (410, "cursor_too_old")
        assert refusal(asgi.ask("GET", f"/changes?after={cursor}", headers=STREAM)) == (410, "cursor_too_old")
        assert refusal(asgi.ask("GET", "/changes?after=ffff-00000000")) == (409, "cursor_foreign")
        assert refusal(asgi.ask("GET", "/changes?after=x")) == (400, "cursor_broken")
        assert "Read the whole registry anew" in asgi.ask("GET", f"/changes?after={cursor}").json["detail"]
        assert len(asgi.ask("GET", "/changes").json["events"]) == 2


@pytest.mark.feature("EVT-011")
def test_names_of_attributes_can_stay_within(store: Store) -> None:
    asgi = AsgiClient(create_app(store, Settings(changes_name_attributes=False)))
    asgi.ask("PATCH", "/", {"name": "secret"})
    assert [event.get("data") for event in asgi.ask("GET", "/changes").json["events"]] == [None]


def test_an_audit_has_the_values(asgi: AsgiClient) -> None:
    asgi.ask("PUT", f"{OVENS}/messages/heated", {"name": "one"})
    asgi.ask("PATCH", f"{OVENS}/messages/heated", {"name": "two"})
    page = asgi.ask("GET", f"/changes?xid={OVENS}/messages/heated/versions/1&values").json
    assert [entry["action"] for entry in page["changes"]] == ["created", "updated"]
    assert page["changes"][1]["values"]["name"] == {"old": "one", "new": "two"}
    assert page["changes"][1]["epoch"] == 2


def test_an_audit_of_large_values_has_more_pages(asgi: AsgiClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postroom.http.services.changes.AUDITED_BYTES", 2000)
    names = [letter * 1500 for letter in "abcd"]
    for name in names:
        asgi.ask("PUT", OVENS, {"name": name})
    found, path = [], f"/changes?xid={OVENS}&values"
    while path:
        page = asgi.ask("GET", path).json
        assert 1 <= len(page["changes"]) <= 2
        found += [entry["values"]["name"]["new"] for entry in page["changes"]]
        path = f"/changes?xid={OVENS}&values&after={page['cursor']}" if page["more"] else ""
    assert found == names


def test_a_trusted_proxy_says_who_it_was_and_nobody_else(store: Store) -> None:
    settings = Settings(actor_header="X-Forwarded-User", trusted_proxies=("10.0.0.7",))
    asgi = AsgiClient(create_app(store, settings))
    headers = {"X-Forwarded-User": "zoë".encode().decode("latin-1")}
    asgi.ask("PUT", OVENS, {}, headers, peer="10.0.0.7")
    asgi.ask("PUT", "/messagecatalog/mixers", {"format": "CloudEvents"}, headers, peer="10.0.0.7")
    asgi.ask("PUT", "/messagegroups/fans", {}, headers)
    page = asgi.ask("GET", "/changes?xid=/messagegroups&values").json["changes"]
    assert [(entry["xid"], entry.get("actor", "")) for entry in page] == [
        (OVENS, "zoë"),
        ("/messagegroups/mixers", "zoë"),
        ("/messagegroups/fans", ""),
    ]


@pytest.mark.feature("EVT-007")
def test_writes_name_their_events_as_soon_as_somebody_reads_them(asgi: AsgiClient) -> None:
    header = "xregistry-xregcorrelationid"
    assert header not in asgi.ask("PUT", OVENS, {}).headers
    cursor = asgi.ask("GET", "/changes?after=last").json["cursor"]
    told = asgi.ask("PATCH", OVENS, {"name": "hot"}).headers[header]
    assert {event["xregcorrelationid"] for event in asgi.ask("GET", f"/changes?after={cursor}").json["events"]} == {
        told
    }


class Listener:
    """A client of a stream; its events, one at a time."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self.last_id = ""
        self._lines = response.iter_lines()

    def frame(self) -> dict[str, str]:
        """The fields of the next frame; a comment is the field without a name."""
        fields: dict[str, str] = {}
        for line in self._lines:
            if not line:
                self.last_id = fields.get("id", self.last_id)
                return fields
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")
        raise EOFError

    def event(self) -> Any:
        """The next event."""
        while "data" not in (fields := self.frame()):
            continue
        return json.loads(fields["data"])

    def subjects(self, count: int) -> list[str]:
        return [self.event()["subject"] for _ in range(count)]


@pytest.fixture
def bakery(tmp_path: Path) -> Iterator[str]:
    with serving(f"sqlite:///{tmp_path}/registry.db", POSTROOM_MAX_STREAMS="2") as (_, url):
        yield url


def test_a_stream_tells_what_was_and_what_comes_and_is_resumed(bakery: str) -> None:
    with httpx.Client(base_url=bakery, timeout=PATIENT) as client:
        client.put(OVENS, json={})
        with client.stream("GET", "/changes", headers=STREAM) as response:
            assert response.headers["content-type"] == "text/event-stream"
            assert "content-length" not in response.headers
            assert "etag" not in response.headers
            listener = Listener(response)
            assert listener.subjects(2) == ["/", OVENS]
            client.put("/messagegroups/mixers", json={})
            assert listener.subjects(2) == ["/", "/messagegroups/mixers"]
        client.put("/messagegroups/fans", json={})
        with client.stream("GET", "/changes", headers={**STREAM, "Last-Event-ID": listener.last_id}) as response:
            again = Listener(response)
            event = again.event()
            assert event["subject"] == "/"
            assert event["id"] == again.last_id
            assert event["data"]["changed"] == ["epoch", "messagegroups", "messagegroupscount", "modifiedat"]
            assert again.subjects(1) == ["/messagegroups/fans"]
        page = client.get("/changes", params={"after": listener.last_id}).json()
        assert page["events"][0] == event


@pytest.mark.audit("services-C5")
def test_a_stream_of_the_message_catalog_s_events_is_resumed(bakery: str) -> None:
    with httpx.Client(base_url=bakery, timeout=PATIENT) as client:
        client.put(OVENS, json={})
        query = {"events": "messagecatalog"}
        with client.stream("GET", "/changes", params=query, headers=STREAM) as response:
            listener = Listener(response)
            assert listener.subjects(1) == ["/messagecatalog/ovens"]
        client.put("/messagegroups/fans", json={})
        resumed = {**STREAM, "Last-Event-ID": listener.last_id}
        with client.stream("GET", "/changes", params=query, headers=resumed) as response:
            assert Listener(response).subjects(1) == ["/messagecatalog/fans"]


def test_streams_are_bounded_and_filtered_and_give_their_place_back(bakery: str) -> None:
    with httpx.Client(base_url=bakery, timeout=PATIENT) as client:
        query = {"after": "last", "xid": OVENS}
        with client.stream("GET", "/changes", params=query, headers=STREAM) as one:
            with client.stream("GET", "/changes", params=query, headers=STREAM) as two:
                busy = client.get("/changes", params=query, headers=STREAM)
                assert busy.status_code == 503
                assert busy.headers["retry-after"]
                assert busy.json()["type"].endswith("#server_busy")
                assert client.get("/changes").status_code == 200
                client.put("/messagegroups/mixers", json={})
                client.put(OVENS, json={})
                assert Listener(two).subjects(1) == [OVENS]
            assert Listener(one).subjects(1) == [OVENS]
            for _ in range(600):  # until the service has seen that the second is gone; nothing is written meanwhile
                with client.stream("GET", "/changes", params=query, headers=STREAM) as three:
                    status = three.status_code
                if status == 200:
                    break
                time.sleep(0.1)
            assert status == 200


def test_a_service_forgets_as_it_is_told_and_a_stream_ends_when_it_stops(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path}/registry.db"
    with (
        serving(database, POSTROOM_CHANGES_KEPT="2") as (process, url),
        httpx.Client(base_url=url, timeout=PATIENT) as client,
    ):
        cursor = client.get("/changes").json()["cursor"]
        for name in ("a", "b"):
            client.put(f"/messagegroups/{name}", json={})
        assert client.get("/changes", params={"after": cursor}).status_code == 410
        with client.stream("GET", "/changes?after=last", headers=STREAM) as response:
            listener = Listener(response)
            assert listener.frame() == {"retry": "2000"}
            process.send_signal(signal.SIGTERM)
            assert list(listener.frame()) == ["id"]  # where the client goes on
            with pytest.raises(EOFError):  # ended in good order, not broken off
                listener.frame()
        assert process.wait(60) == 0


def test_a_cursor_holds_over_kill_9_and_for_every_worker(tmp_path: Path) -> None:
    database, seen, after = f"sqlite:///{tmp_path}/registry.db", [], ""
    for round_, workers in enumerate((1, 2)):
        with (
            serving(database, "--workers", str(workers)) as (process, url),
            httpx.Client(base_url=url, timeout=60) as client,
        ):
            for number in range(4):
                client.put(f"/messagegroups/g{round_}-{number}", json={}).raise_for_status()
            headers = {**STREAM, **({"Last-Event-ID": after} if after else {})}
            with client.stream("GET", "/changes", headers=headers) as response:
                listener = Listener(response)
                seen += listener.subjects(6)  # of eight; the others come after the next start
                after = listener.last_id
            kill(process)
    with open_store(database) as store, store.read() as tx:
        rows = [change.xid for change in tx.changes(1, 1000)]
    assert seen == rows[: len(seen)]
    assert len(rows) == 16


def test_a_stream_that_falls_behind_what_is_kept_says_so_and_ends(tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path}/r.db", retention=Retention(count=1)) as store:
        asgi = AsgiClient(create_app(store, Settings()))
        following = ChangeStream(store, "", "/", MADE)
        assert following.pull().data == b"retry: 2000\n\n"
        for name in ("a", "b"):
            asgi.ask("PUT", f"/messagegroups/{name}", {})
        piece = following.pull()
        assert piece.ends
        assert piece.data.startswith(b'event: error\ndata: {"type":')
        assert json.loads(piece.data.partition(b"data: ")[2])["status"] == 410


def test_a_heartbeat_moves_a_filtered_stream_on(store: Store) -> None:
    asgi = AsgiClient(create_app(store, Settings()))
    following = ChangeStream(store, "last", OVENS, MADE)
    following.pull()
    asgi.ask("PUT", "/messagegroups/mixers", {})
    assert following.pull().data == b""
    cursor = asgi.ask("GET", "/changes?after=last").json["cursor"]
    assert following.beat() == f"id: {cursor}\n\n".encode()
    assert following.beat() == b":\n\n"


def test_a_quiet_stream_gives_signs_of_life(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    monkeypatch.setattr(event_streams, "HEARTBEAT_SECONDS", 0.01)
    sent: list[bytes] = []
    enough = threading.Event()

    async def main() -> None:
        gone = asyncio.Event()

        async def receive() -> dict[str, Any]:
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message.get("body", b""))
            if sent.count(b":\n\n") == 3:
                enough.set()
                gone.set()

        following = ChangeStream(store, "last", "/", MADE)
        following.pull()
        following.beat()
        await asyncio.wait_for(event_streams.Streams(store, 1).serve(following, [], {}, receive, send), 60)

    asyncio.run(main())
    assert enough.is_set()
    assert sent[-1] == b""
