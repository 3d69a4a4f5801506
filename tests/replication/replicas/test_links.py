"""Links that services run by themselves."""

from __future__ import annotations

import threading
from pathlib import Path

import httpx
import pytest

from postroom.cli.main import execute
from postroom.errors import ServiceUnreachable
from postroom.replication.replicas import follow
from postroom.replication.replicas.link import Link, read_state
from postroom.replication.replicas.peers.open import open_source
from postroom.replication.replicas.pull import Pull
from postroom.replication.replicas.scope import LinkScope
from postroom.settings import Settings
from tests.replication.catalogs import Kitchen, served, until, verify

BREAD = "/messagegroups/ovens/messages/bread.baked"
LINKS = "/-/replication/links"


@pytest.fixture
def kitchens(tmp_path: Path) -> list[Kitchen]:
    return [Kitchen(tmp_path, name) for name in ("anna", "bert")]


OPEN = Settings(link_hosts=("127.0.0.1",))


@pytest.mark.parametrize("mode", ["follow", "pull", "push"])
def test_a_link_brings_changes_as_long_as_the_service_runs(kitchens: list[Kitchen], mode: str) -> None:
    anna, bert = kitchens
    anna.bake("cake.baked")
    with served(anna, OPEN) as source, served(bert, OPEN) as target:
        place, remote = (source, target) if mode == "push" else (target, source)
        made = httpx.put(f"{place}{LINKS}/partner", json={"mode": mode, "remote": remote, "every": 0.2})
        assert made.status_code == 201
        until(lambda: bert.show("/messagegroups") != {})
        assert httpx.put(source + BREAD, json={"description": "warm"}).status_code == 201
        until(lambda: "bread.baked" in bert.show("/messagegroups/ovens/messages"))
        until(lambda: httpx.get(f"{place}{LINKS}/partner").json()["status"] == "running")
        assert httpx.delete(f"{place}{LINKS}/partner").status_code == 204
        assert httpx.get(f"{place}{LINKS}").json() == {}
    assert bert.version(BREAD)["authority"] == f"{source}/messagecatalog"
    assert verify(anna.side, bert.side, "partner") == []


def test_a_service_does_not_wait_for_the_next_change_when_it_stops(kitchens: list[Kitchen]) -> None:
    anna, bert = kitchens
    with served(anna) as source:
        side = open_source(source, Settings())
        Pull(side, bert.side, Link(id="link")).by_difference()
        heard: list[object] = []

        def listen() -> None:
            try:
                while True:
                    side.changes(read_state(bert.side.state("link")).cursor, LinkScope(), 10)
                    heard.append("a sign of life")
            except ServiceUnreachable as error:
                heard.append(error)

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        until(lambda: side.requests == 2)
        until(lambda: heard != [])
        side.close()
        until(lambda: not thread.is_alive())


def test_a_link_that_waits_says_why(kitchens: list[Kitchen], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "FIRST_PAUSE", 0.01)
    anna, _ = kitchens
    remote = {"mode": "follow", "remote": "http://127.0.0.1:9/"}
    with served(anna, OPEN) as url:
        assert httpx.put(f"{url}{LINKS}/partner", json=remote).status_code == 201
        until(lambda: httpx.get(f"{url}{LINKS}/partner").json()["status"] == "waiting")
        shown = httpx.get(f"{url}{LINKS}").text
        assert "does not answer" in shown
        assert httpx.put(f"{url}{LINKS}/partner", json={**remote, "off": True}).json()["status"] == "off"


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        ({"mode": "pull", "remote": "http://elsewhere.example"}, "elsewhere.example is no host that links may reach"),
        ({"mode": "pull", "remote": "http://127.0.0.1@elsewhere.example"}, "elsewhere.example is no host"),
        ({"mode": "pull", "remote": "http://ann:s3cret@127.0.0.1"}, "a password, and that is kept by reference"),
        ({"mode": "pull", "remote": "/etc/passwd"}, "must be a service"),
        ({"mode": "pull", "remote": "sqlite:///registry.db"}, "must be a service"),
        ({"mode": "pull", "remote": "http://127.0.0.1", "only": "ovens"}, "no xid"),
        ({"mode": "pull", "remote": "http://127.0.0.1", "every": 0}, "0.1 seconds"),
        ({"mode": "steal", "remote": "http://127.0.0.1"}, "Invalid enum value"),
        ({"mode": "pull", "remote": "http://127.0.0.1", "speed": 1}, "unknown field"),
        ([], "Expected"),
    ],
)
def test_what_cannot_be_a_link_is_refused(desk_url: str, link: object, sentence: str) -> None:
    refused = httpx.put(f"{desk_url}{LINKS}/partner", json=link)
    assert refused.status_code == 400
    assert sentence in refused.text
    assert "s3cret" not in refused.text


@pytest.fixture(scope="module")
def desk_url(tmp_path_factory: pytest.TempPathFactory) -> object:
    with served(Kitchen(tmp_path_factory.mktemp("desk"), "desk"), OPEN) as url:
        yield url


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", f"{LINKS}/nobody", 404),
        ("DELETE", f"{LINKS}/nobody", 404),
        ("PUT", f"{LINKS}/a b", 400),
        ("POST", LINKS, 405),
        ("GET", "/-/replication/nothing", 404),
        ("GET", "/-/replication/states/nobody", 404),
        ("GET", "/-/replication/overview?scope=x", 400),
        ("POST", "/-/replication/units", 400),
        ("POST", "/-/replication/batches", 400),
        ("GET", "/-/replication", 200),
        ("GET", "/replication/overview", 404),
    ],
)
def test_other_requests_get_a_clear_answer(desk_url: str, method: str, path: str, status: int) -> None:
    body = {"mode": "pull", "remote": "http://127.0.0.1"} if method == "PUT" else {"x": 1}
    assert httpx.request(method, desk_url + path, json=None if method == "GET" else body).status_code == status


def test_the_command_changes_links_in_a_store_and_over_http(
    kitchens: list[Kitchen], capsys: pytest.CaptureFixture[str], desk_url: str
) -> None:
    anna, _ = kitchens
    for where in (anna.url, desk_url):
        assert execute(["links", "add", "partner", "http://127.0.0.1:9", "--off", "--at", where]) == 0
        assert execute(["links", "list", "--at", where]) == 0
        assert "http://127.0.0.1:9" in capsys.readouterr().out
        assert execute(["links", "remove", "partner", "--at", where]) == 0
        assert execute(["links", "remove", "partner", "--at", where]) == 1
    assert execute(["links", "list"]) == 2


BODY = {"meta": {}, "versions": {"1": {}}}


@pytest.mark.parametrize(
    ("xid", "body"),
    [
        ("", BODY),
        ("/", BODY),
        ("x", BODY),
        ("/messagegroups", {}),
        ("/messagegroups/", {}),
        ("/messagegroups/a b", {}),
        ("/nothings/x", {}),
        ("/messagegroups/g", {"usage": 7, "labels": 7}),
        ("/messagegroups/g", {"messages": {"m": {}}}),
        ("/messagegroups/g/messages/m", {}),
        ("/messagegroups/g/messages/m", {"meta": 7, "versions": 7}),
        ("/messagegroups/g/messages/m", {"meta": {}, "versions": {}}),
        ("/messagegroups/g/messages/m", {"meta": {}, "versions": {"1": 7}}),
        ("/messagegroups/g/messages/m", {"meta": {"xref": 7}}),
        ("/messagegroups/g/messages/m", {"meta": {"createdat": 7}, "versions": {"1": {"modifiedat": []}}}),
        ("/messagegroups/g/messages/m", {"meta": {"defaultversionid": "9"}, "versions": {"1": {"ancestorid": "7"}}}),
        ("/messagegroups/g/messages/m/versions/1", BODY),
        ("/messagegroups/g/messages/m/meta", BODY),
        ("/schemagroups/g/schemas/s", {"meta": {}, "versions": {"1": {"format": "Avro", "schemabase64": "%"}}}),
        ("/messagegroups/g/messages/" + "m" * 500, BODY),
    ],
)
def test_a_push_of_nonsense_is_refused_by_name(desk_url: str, xid: str, body: object) -> None:
    unit = {"xid": xid, "body": body, "entry": {"digest": "d", "home": "elsewhere", "authority": "urn:elsewhere"}}
    answer = httpx.post(f"{desk_url}/-/replication/batches", json={"link": "l", "units": [unit], "gone": [xid]})
    assert answer.status_code == 200, answer.text
    assert answer.json()["taken"] == []
    assert list(answer.json()["refused"]) == [xid]
    again = httpx.get(f"{desk_url}/-/replication/overview")
    assert again.status_code == 200
