"""The ends of links: any xRegistry service by its own API, files, folders, and what they do on bad days."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from postroom.errors import DocumentRefused, ServiceRefused, ServiceUnreachable
from postroom.replication.replicas.peers.client import ReplicaClient
from postroom.replication.replicas.peers.open import open_source, open_target
from postroom.replication.replicas.peers.xregistry_source import XRegistrySource
from postroom.replication.replicas.scope import LinkScope
from postroom.settings import Settings
from postroom.urls import masked
from tests.replication.catalogs import Kitchen, pull, served, verify


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kitchen:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Kitchen(tmp_path, "here")


@pytest.fixture
def there(tmp_path: Path) -> Kitchen:
    kitchen = Kitchen(tmp_path, "there")
    for number in range(5):
        kitchen.bake(f"bread.{number}", description="warm")
    kitchen.bake("roll.baked", basemessage="/messagegroups/ovens/messages/bread.0")
    kitchen.put("/messagegroups/ovens/messages/bun.baked", {"meta": {"xref": "/messagegroups/ovens/messages/bread.0"}})
    kitchen.shape("1", "2")
    return kitchen


@pytest.mark.feature("REPL-011")
@pytest.mark.parametrize("flags", [None, ["inline"], []])
def test_any_service_is_read_by_its_own_api(here: Kitchen, there: Kitchen, flags: list[str] | None) -> None:
    if flags is not None:
        there.put("/", {"capabilities": {"flags": flags}}, patch=True)
    with served(there) as url:
        source = open_source(url, Settings(), plain=True)
        assert len(pull(source, here.side).outcome.taken) == 10
        assert verify(source, here.side) == []
        assert pull(source, here.side).outcome.taken == []
    there.bake("bread.1", description="cold")
    there.delete("/messagegroups/ovens/messages/bread.2")
    there.delete("/schemagroups/loaves/schemas/loaf/versions/1")
    with served(there) as url:
        done = pull(open_source(url, Settings(), plain=True), here.side).outcome
        assert (len(done.taken), len(done.deleted)) == (2, 1)
        assert verify(there.side, here.side) == []


@pytest.mark.feature("REPL-002")
def test_any_service_is_written_to_by_its_own_api(here: Kitchen, there: Kitchen) -> None:
    with served(here) as url:
        target = open_target(url, Settings(), plain=True)
        assert len(pull(there.side, target).outcome.taken) == 10
        target = open_target(url, Settings(), plain=True)
        assert verify(there.side, target) == []
        there.bake("bread.1", description="cold")
        there.delete("/messagegroups/ovens/messages/bread.2")
        there.delete("/schemagroups/loaves/schemas/loaf/versions/1")
        done = pull(there.side, target).outcome
        assert (len(done.taken), len(done.deleted)) == (2, 1)
        assert verify(there.side, open_target(url, Settings(), plain=True)) == []
        here.bake("bread.3", description="mine")
        here.bake("bread.new")
        there.bake("bread.new", description="theirs")
        conflict = pull(there.side, target).outcome
        assert conflict.taken == ["/messagegroups/ovens/messages/bread.3"]
        assert conflict.kept == {"/messagegroups/ovens/messages/bread.new": "collision"}


def test_pages_are_followed(here: Kitchen, there: Kitchen) -> None:
    with served(there) as url:
        client = ReplicaClient(url, Settings())
        side = XRegistrySource(client)
        ask = client.ask

        def paged(method: str, path: str, **more: Any) -> Any:
            return ask(method, path + "&limit=2" if path.endswith("?inline=*&binary") else path, **more)

        client.ask = paged  # type: ignore[method-assign]
        assert len(pull(side, here.side).outcome.taken) == 10


def event(name: str) -> dict[str, Any]:
    return {"envelopemetadata": {"type": {"value": f"example.{name}"}, "source": {"value": "/ovens"}}}


def test_a_message_catalog_is_read_from(here: Kitchen, tmp_path: Path) -> None:
    other = Kitchen(tmp_path, "other")
    for name in ("bread", "cake"):
        other.put("/messagegroups/ovens", {"envelope": "CloudEvents/1.0"})
        other.bake(name, **event(name))
    with served(other) as url:
        source = open_source(f"{url}/messagecatalog", Settings())
        assert len(pull(source, here.side).outcome.taken) == 3
        assert verify(source, here.side) == []
        copy = here.version("/messagegroups/ovens/messages/cake")
        assert copy["envelopemetadata"]["type"] == {"value": "example.cake"}
        assert copy["authority"] == f"{url}/messagecatalog"
        assert copy["versionuri"] == f"{url}/messagecatalog/ovens/messagedefinitions/cake/versions/1"
        assert pull(source, here.side).outcome.taken == []
        other.bake("cake", description="sweet", **event("cake"))
        other.delete("/messagegroups/ovens/messages/bread")
        done = pull(source, here.side).outcome
        assert (done.taken, done.deleted) == (
            ["/messagegroups/ovens/messages/cake"],
            ["/messagegroups/ovens/messages/bread"],
        )


@pytest.mark.feature("REPL-002")
def test_a_message_catalog_is_written_to(here: Kitchen, tmp_path: Path) -> None:
    other = Kitchen(tmp_path, "other")
    here.put("/messagegroups/ovens", {"envelope": "CloudEvents/1.0"})
    for name in ("bread", "cake"):
        here.bake(name, **event(name))
    here.shape("1")
    with served(other) as url:
        target = open_target(f"{url}/messagecatalog", Settings())
        report = pull(here.side, target)
        assert len(report.outcome.taken) == 3
        assert report.outcome.refused["/schemagroups/loaves"] == "a message catalog has message groups only."
        assert pull(here.side, open_target(f"{url}/messagecatalog", Settings())).outcome.taken == []
        here.bake("cake", description="sweet", **event("cake"))
        here.delete("/messagegroups/ovens/messages/bread")
        done = pull(here.side, target).outcome
        assert (done.taken, done.deleted) == (
            ["/messagegroups/ovens/messages/cake"],
            ["/messagegroups/ovens/messages/bread"],
        )
    copy = other.version("/messagegroups/ovens/messages/cake")
    assert copy["description"] == "sweet"
    assert copy["authority"].startswith("urn:xregistry:postroom-")


STRICT = {
    "groups": {
        "messagegroups": {
            "singular": "messagegroup",
            "resources": {
                "messages": {
                    "singular": "message",
                    "hasdocument": False,
                    "maxversions": 1,
                    "attributes": {
                        "envelope": {"type": "string"},
                        "priority": {"type": "integer", "required": True, "default": 5},
                    },
                }
            },
        }
    }
}
"""Like the published model: it fills defaults in, has no room for extensions, and not all of our types."""


@pytest.mark.parametrize("plain", [False, True])
def test_another_model_takes_what_it_knows_and_is_not_written_to_again(
    here: Kitchen, there: Kitchen, tmp_path: Path, plain: bool
) -> None:
    other = Kitchen(tmp_path, "other", "none")
    other.put("/", {"modelsource": STRICT}, patch=True)
    there.bake("cake.baked")
    with served(other) as url:
        target = open_target(url, Settings(), plain=plain)
        report = pull(there.side, target)
        assert len(report.outcome.taken) == 8
        refused = report.state.refused
        assert "basemessage" in refused["/messagegroups/ovens/messages/roll.baked"]
        assert any(xid.startswith("/schemagroups") for xid in refused)
        again = pull(there.side, target).outcome
        assert (again.taken, again.deleted) == ([], [])
        there.bake("cake.baked", group="shops")
        assert len(pull(there.side, target).state.refused) == len(refused)
        assert {one.why for one in verify(there.side, target)} == {"missing"}
    assert other.version("/messagegroups/ovens/messages/cake.baked")["priority"] == 5


@contextmanager
def answering(handle: Any) -> Iterator[str]:
    """A service that answers whatever a function writes."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            handle(self)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def _say(handler: BaseHTTPRequestHandler, body: bytes, status: int = 200, **headers: str) -> None:
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


def test_an_answer_without_end_is_not_read_to_its_end(here: Kitchen) -> None:
    def endless(handler: BaseHTTPRequestHandler) -> None:
        _say(handler, b"{")
        try:
            for _ in range(10_000):
                handler.wfile.write(b" " * 100_000)
        except OSError:
            return

    with answering(endless) as url, pytest.raises(DocumentRefused, match="more than the 1 MB"):
        pull(open_source(url, Settings(max_document_mb=1)), here.side)


def test_garbage_is_refused_in_a_sentence(here: Kitchen) -> None:
    bodies = [b"", b"[]", b"{", b'"x"', b"[" * 100_000, b"\xff", b'{"groups": 7}']
    with answering(lambda handler: _say(handler, bodies[0])) as url:
        while bodies:
            with pytest.raises(ServiceRefused):
                pull(open_source(url, Settings()), here.side)
            del bodies[0]
    assert here.show("/messagegroups") == {}


def test_a_source_leads_nowhere_else(here: Kitchen) -> None:
    pages = {
        "/": {"registryid": "trap"},
        "/model": {"groups": {"messagegroups": {"singular": "messagegroup"}}},
        "/messagegroups": {},
    }

    def trap(handler: BaseHTTPRequestHandler) -> None:
        path = handler.path.partition("?")[0]
        if path not in pages:
            _say(handler, b"", 404)
        else:
            _say(handler, json.dumps(pages[path]).encode(), Link="<http://elsewhere.example/next>;rel=next")

    with answering(trap) as url, pytest.raises(ServiceRefused, match=r"another host, http://elsewhere\.example"):
        pull(open_source(url, Settings()), here.side)


def test_a_source_that_dies_leaves_what_can_be_completed(here: Kitchen, there: Kitchen) -> None:
    units, side = there.side.units, there.side

    def dying(xids: Any) -> Iterator[Any]:
        for number, unit in enumerate(units(xids)):
            if number == 3:
                raise ServiceUnreachable("the service does not answer.", place="there")
            yield unit

    side.units = dying  # type: ignore[method-assign]
    with pytest.raises(ServiceUnreachable):
        pull(side, here.side)
    assert here.side.state("link") == b""
    side.units = units  # type: ignore[method-assign]
    pull(side, here.side)
    assert verify(side, here.side) == []


def test_no_secret_is_told(here: Kitchen) -> None:
    address = "http://ann:s3cret@127.0.0.1:9/catalog?token=t0ken"
    assert masked(address) == "http://127.0.0.1:9/catalog"
    with pytest.raises(ServiceUnreachable) as refused:
        pull(open_source(address, Settings(timeout_s=2)), here.side)
    assert "s3cret" not in str(refused.value)
    assert "t0ken" not in str(refused.value)


@pytest.mark.parametrize("name", ["catalog.json", "catalog.yaml", "catalog"])
def test_files_are_written_and_read(here: Kitchen, there: Kitchen, tmp_path: Path, name: str) -> None:
    path = str(tmp_path / "git" / name)
    for expected in (10, 0):
        target = open_target(path, Settings())
        assert len(pull(there.side, target).outcome.taken) == expected
        target.close()
    there.bake("bread.1", description="cold")
    there.delete("/messagegroups/ovens/messages/bread.2")
    target = open_target(path, Settings())
    done = pull(there.side, target).outcome
    assert (len(done.taken), len(done.deleted)) == (1, 1)
    target.close()
    source = open_source(path, Settings())
    pull(source, here.side)
    assert verify(source, here.side) == []
    source.close()
    # What bread.1 was before is in the history, which files do not have.
    assert [one.xid for one in verify(there.side, here.side)] == ["/messagegroups/ovens/messages/bread.1"]


def test_a_change_of_one_group_changes_one_file(there: Kitchen, tmp_path: Path) -> None:
    folder = tmp_path / "git"
    target = open_target(str(folder), Settings())
    pull(there.side, target)
    before = {file: file.stat().st_ino for file in folder.rglob("*.json")}
    there.bake("bread.1", description="cold")
    pull(there.side, target)
    changed = [file.name for file, inode in before.items() if file.stat().st_ino != inode]
    assert changed == ["ovens.json"]
    there.delete("/schemagroups/loaves")
    pull(there.side, target)
    assert [file.name for file in folder.rglob("*.json")] == ["ovens.json"]
    target.close()


def test_a_folder_that_somebody_else_writes_is_left_alone(there: Kitchen, tmp_path: Path) -> None:
    (tmp_path / "catalog.json").write_text('{"messagegroups": {}}')
    with pytest.raises(DocumentRefused, match=r"catalog\.json was not written by a link"):
        open_target(str(tmp_path), Settings())


def test_ids_that_differ_by_case_only_do_not_stop_the_rest(here: Kitchen) -> None:
    messages = {one: {"messageid": one} for one in ("oven.hot", "Oven.Hot", "roll.baked")}
    pages = {
        "/": {"registryid": "careless"},
        "/model": {
            "groups": {
                "messagegroups": {
                    "singular": "messagegroup",
                    "resources": {"messages": {"singular": "message", "hasdocument": False}},
                }
            }
        },
        "/messagegroups": {"ovens": {}},
        "/messagegroups/ovens": {},
        "/messagegroups/ovens/messages": {
            one: {**body, "meta": {}, "versions": {"1": {"ancestorid": "1"}}} for one, body in messages.items()
        },
    }

    def careless(handler: BaseHTTPRequestHandler) -> None:
        path = handler.path.partition("?")[0]
        _say(handler, json.dumps(pages[path]).encode() if path in pages else b"", 200 if path in pages else 404)

    with answering(careless) as url:
        done = pull(open_source(url, Settings()), here.side)
        assert len(done.outcome.taken) == 3
        assert "another case" in done.state.refused["/messagegroups/ovens/messages/Oven.Hot"]
        assert [one.why for one in verify(open_source(url, Settings()), here.side)] == ["missing"]


def test_a_source_that_sends_more_than_it_was_asked_for_is_not_believed(here: Kitchen, there: Kitchen) -> None:
    units = there.side.units
    there.side.units = lambda _: units(["/schemagroups/loaves", "/messagegroups/ovens"])  # type: ignore[method-assign]
    assert pull(there.side, here.side, scope=LinkScope("/messagegroups/ovens")).outcome.taken == [
        "/messagegroups/ovens"
    ]
