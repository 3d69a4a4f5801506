"""What a principal may not read is nowhere to be found: by the work it makes, by spelling, by cursors, by tags."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from postroom.http.server.app import create_app
from postroom.registry.operations import import_document
from postroom.settings import Settings
from postroom.store.interface import Store
from postroom.store.sqlite import SqliteTransaction
from tests.http.access.conftest import MakeKey
from tests.http.requests import AsgiClient, Reply

SECRET = "S3CR3T"
HIDDEN, ABSENT = "ovens", "lathes"
SETTINGS = Settings(access="on", cache_mb=0, sink_hosts=("127.0.0.1",), sink_private=True)


class Anna:
    """Somebody who writes `fleet`, reads one message of `shared`, and knows of nothing else."""

    def __init__(self, app: AsgiClient, key: str) -> None:
        self._app = app
        self._credentials = {"authorization": f"Bearer {key}"}

    def ask(self, method: str, target: str, body: Any = b"", **headers: str) -> Reply:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        return self._app.ask(method, target, body, {**self._credentials, **given})


def message(type_: str, name: str) -> dict[str, Any]:
    return {"name": name, "envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": type_}}}


@pytest.fixture
def fleets(store: Store) -> Store:
    groups: dict[str, Any] = {
        one: {"name": name, "messages": {each: message(f"{one}.{each}", name) for each in ("moved", "stopped")}}
        for one, name in {"fleet": "Fleet", "fleet2": SECRET, HIDDEN: SECRET, "shared": "Shared"}.items()
    }
    groups["shared"]["messages"]["stopped"]["name"] = SECRET
    schemas = {HIDDEN: {"schemas": {"moved": {"format": "JSONSchema/draft-07", "schema": {"title": SECRET}}}}}
    endpoints = {HIDDEN: {"usage": ["producer"], "messages": {"moved": message("x", SECRET)}}}
    with store.write() as tx:
        import_document(tx, {"messagegroups": groups, "schemagroups": schemas, "endpoints": endpoints})
    return store


@pytest.fixture
def service(fleets: Store) -> AsgiClient:
    return AsgiClient(create_app(fleets, SETTINGS))


@pytest.fixture
def anna(service: AsgiClient, make_key: MakeKey) -> Anna:
    return Anna(service, make_key("anna", "write:/messagegroups/fleet", "read:/messagegroups/shared/messages/moved"))


@pytest.fixture
def root(service: AsgiClient, make_key: MakeKey) -> Anna:
    return Anna(service, make_key("root", "admin:/"))


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Reply]], tuple[Reply, int]]:
    """Does something, and counts the statements that the store runs for it."""
    run, ran = SqliteTransaction._run, [0]

    def counting(self: SqliteTransaction, statement: str, values: Sequence[Any] = ()) -> Any:
        ran[0] += 1
        return run(self, statement, values)

    monkeypatch.setattr(SqliteTransaction, "_run", counting)

    def count(work: Callable[[], Reply]) -> tuple[Reply, int]:
        ran[0] = 0
        return work(), ran[0]

    return count


PATHS = [
    "/messagegroups/GROUP",
    "/messagegroups/GROUP?inline=*",
    "/messagegroups/GROUP/messages",
    "/messagegroups/GROUP/messages?filter=name=*",
    "/messagegroups/GROUP/messages/moved",
    "/messagegroups/GROUP/messages/moved/meta",
    "/messagegroups/GROUP/messages/moved/versions",
    "/messagegroups/GROUP/messages/moved/versions/1",
    "/schemagroups/GROUP/schemas/moved",
    "/schemagroups/GROUP/schemas/moved$details",
    "/endpoints/GROUP/messages/moved?inline",
    "/messagegroups/GROUP/messages/moved?specversion=1.0-rc2",
    "/v0.5/definitionGroups/GROUP",
    "/v0.5/definitionGroups/GROUP/definitions/moved",
    "/messagecatalog/GROUP",
    "/messagecatalog/GROUP/messagedefinitions/moved",
    "/messagecatalog/GROUP/messagedefinitions/moved/versions",
    "/-/lint?xid=/messagegroups/GROUP/messages/moved",
    "/-/search?q=moved&group=/messagegroups/GROUP",
    "/-/fields?q=GROUP",
    "/changes?xid=/messagegroups/GROUP",
    "/changes?values&xid=/messagegroups/GROUP/messages/moved",
    "/-/replication/overview?scope=/messagegroups/GROUP",
]
WRITES: list[tuple[str, str, Any]] = [
    ("DELETE", "/messagegroups/GROUP", b""),
    ("DELETE", "/messagegroups/GROUP/messages/moved", b""),
    ("DELETE", "/messagegroups", {"GROUP": {}}),
    ("PUT", "/messagegroups/GROUP", {"name": "mine"}),
    ("PUT", "/messagegroups/GROUP/messages/moved", {"name": "mine"}),
    ("PATCH", "/messagegroups/GROUP/messages/moved/meta", {"labels": {"team": "mine"}}),
    ("POST", "/", {"messagegroups": {"GROUP": {"messages": {"moved": {}}}}}),
    ("PUT", "/messagegroups/fleet/messages/ref/meta", {"xref": "/messagegroups/GROUP/messages/moved"}),
    ("PUT", "/messagegroups/fleet/messages/based", {"basemessage": "/messagegroups/GROUP/messages/moved"}),
    ("PUT", "/messagecatalog/GROUP", {"format": "CloudEvents"}),
    ("POST", "/messagecatalog/GROUP/messagedefinitions/moved", {}),
    ("PUT", "/v0.5/definitionGroups/GROUP", {"id": "GROUP"}),
    ("POST", "/make", {"message": "/messagegroups/GROUP/messages/moved", "values": {"source": "/x"}}),
    ("POST", "/-/replication/units", ["/messagegroups/GROUP/messages/moved"]),
    ("POST", "/-/replication/entries", ["/messagegroups/GROUP"]),
    ("POST", "/-/grants", {"grants": [{"subject": "user:x", "role": "read", "prefix": "/messagegroups/GROUP"}]}),
]


@pytest.mark.parametrize(
    ("method", "target", "body"), [*(("GET", path, b"") for path in PATHS), *WRITES], ids=lambda one: str(one)[:60]
)
def test_what_is_hidden_makes_as_much_work_as_what_does_not_exist_and_is_answered_alike(
    anna: Anna, counted: Callable[[Callable[[], Reply]], tuple[Reply, int]], method: str, target: str, body: Any
) -> None:
    def asked(name: str) -> tuple[int, list[bytes], str, int]:
        given = body if isinstance(body, bytes) else json.dumps(body).replace("GROUP", name).encode()
        reply, statements = counted(lambda: anna.ask(method, target.replace("GROUP", name), given))
        assert SECRET.encode() not in reply.body
        shown = reply.body.decode().partition('"instance"')[0].replace(name, "…")
        return reply.status, [one for one, _ in reply.raw], shown, statements

    for _ in range(2):  # the first one who reads changes is noted, and what is committed makes grants be read anew
        asked(ABSENT)
    hidden, absent = asked(HIDDEN), asked(ABSENT)
    if target.startswith(("/messagegroups/fleet", "/changes", "/-/replication")):  # what is written differs by times
        assert (hidden[0], hidden[3]) == (absent[0], absent[3])
    else:
        assert hidden == absent


SPELLINGS = [
    "/messagegroups/%6fvens",
    "/messagegroups/%6Fvens",
    "/messagegroups/ov%65ns/messages/moved",
    "/messagegroups/OVENS",
    "/messagegroups/Ovens/messages/moved",
    "/MESSAGEGROUPS/ovens",
    "//messagegroups/ovens",
    "//messagegroups//ovens",
    "/messagegroups//ovens",
    "/messagegroups/ovens/",
    "/messagegroups/ovens//messages",
    "/messagegroups/fleet/../ovens",
    "/messagegroups/fleet/%2e%2e/ovens",
    "/messagegroups/fleet%2f..%2fovens",
    "/messagegroups/fleet%2Fmessages",
    "/messagegroups/./ovens",
    "/messagegroups/ovens%00",
    "/messagegroups/ovens%20",
    "/messagegroups/ovens;x=1",
    "/messagegroups/ovens%3Finline",
    "/messagegroups/ovens$details",
    "/messagegroups/%256fvens",
    "/messagegroups/fleet2",
    "/messagegroups/fleet2/messages/moved",
    "/messagegroups/fleet%32",
    "/messagegroups/flee",
    "/messagegroups/fleet*",
    "/messagegroups/*",
    "/messagegroups/shared/messages/stopped",
    "/messagegroups/shared/messages/MOVED2",
    "/messagegroups/shared/messages/moved/../stopped",
    "/-/messagegroups/ovens",
    "/-/../messagegroups/ovens",
    "/v0.5/../messagegroups/ovens",
    "/v0.5//definitionGroups/ovens",
    "/v0.5/definitionGroups/%6fvens",
    "/-/v0.5/definitionGroups/ovens",
    "/messagecatalog//ovens",
    "/messagecatalog/%6fvens/messagedefinitions/moved",
    "/-/messagecatalog/OVENS",
]


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "PUT", "PATCH", "POST"])
@pytest.mark.parametrize("target", SPELLINGS)
def test_no_spelling_of_a_path_leads_to_what_is_hidden(
    anna: Anna, root: Anna, fleets: Store, target: str, method: str
) -> None:
    before = root.ask("GET", "/export").body
    reply = anna.ask(method, target, b"" if method in ("GET", "HEAD", "DELETE") else {"name": "mine"})
    assert 300 < reply.status < 500, reply.body
    assert SECRET.encode() not in reply.body + str(reply.raw).encode()
    assert root.ask("GET", "/export").body == before


def next_page(page: Reply) -> str:
    """The target of the next page, nothing behind the last one."""
    found = re.search(r"<http://ovens\.localhost([^>]*)>;rel=next", page.headers["link"])
    return found[1] if found else ""


def test_a_cursor_shows_whoever_uses_it_what_they_may_read(anna: Anna, root: Anna) -> None:
    assert root.ask("PATCH", "/capabilities", {"pagination": True}).status == 200
    page = root.ask("GET", "/messagegroups?limit=1&sort=messagegroupid=desc")
    seen = []
    while target := next_page(page):
        theirs = anna.ask("GET", target)
        assert theirs.status == 200
        assert SECRET.encode() not in theirs.body
        assert set(theirs.json) <= {"fleet", "shared"}
        page = root.ask("GET", target)
        seen += list(page.json)
    assert HIDDEN in seen


@pytest.mark.parametrize(
    "path", ["/", "/messagegroups", "/messagegroups/shared", "/messagegroups/shared/messages", "/export"]
)
def test_a_tag_of_one_principal_s_answer_is_not_taken_for_another_s(anna: Anna, root: Anna, path: str) -> None:
    target = f"{path}?inline=*" if path != "/export" else path
    theirs, hers = root.ask("GET", target), anna.ask("GET", target)
    assert SECRET.encode() in theirs.body
    assert theirs.headers["etag"] != hers.headers["etag"]
    asked = anna.ask("GET", target, if_none_match=theirs.headers["etag"])
    assert (asked.status, asked.body) == (200, hers.body)
    assert anna.ask("GET", target, if_none_match=hers.headers["etag"]).status == 304
    assert root.ask("GET", target, if_none_match=hers.headers["etag"]).status == 200
