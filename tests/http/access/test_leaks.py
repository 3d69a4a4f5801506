"""Two registries, one with tenant B and one without, answer tenant A alike, whatever A asks.

What may differ, and is masked before replies are compared:

- times, and numbers that are drawn by lot: instances of problems, correlation ids, ids of subscriptions;
- `epoch` of the ancestors that A shares with B, the Registry and the Groups on the way to what A may read, and tags of
  answers (they are digests of bodies with times in them);
- numbers and marks of the change log, which count B's changes too.

Everything else (status, headers, body) is equal. `LEAKS=20000` asks as often; the seed is in the message of a failure.
"""

from __future__ import annotations

import base64
import difflib
import json
import os
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from postroom.access.grants import parse_grant
from postroom.access.keys import create_key
from postroom.catalog.open_store import open_store
from postroom.http.operations.server_process import ServerProcess
from postroom.http.server.app import create_app
from postroom.registry.operations import import_document
from postroom.registry.permissions import Prefixes
from postroom.settings import Settings
from postroom.store.interface import Store
from postroom.ui.website import open_pages
from tests.http.access.leak_requests import (
    FOREIGN,
    OWN,
    PUBLIC,
    SECRET,
    SHARED,
    LeakRequest,
    Requests,
    refer,
    tenant,
)
from tests.http.requests import AsgiClient, Reply

LEAKS = int(os.environ.get("LEAKS", "1200"))
PER_REGISTRY = 400
"""How many requests two registries are asked before there are new ones."""
SETTINGS = Settings(access="on", sink_hosts=("127.0.0.1",), sink_private=True)
GRANTS = {
    "a": {
        "read": f"/messagegroups/{SHARED}/messages/a* /messagegroups/{PUBLIC} /schemagroups/{PUBLIC}",
        "write": f"/messagegroups/a.* /schemagroups/a.* /endpoints/a.* /messagegroups/{SHARED}/messages/aw*",
    },
    "b": {"write": f"/messagegroups/b.* /schemagroups/b.* /endpoints/b.* /messagegroups/{SHARED}/messages/b*"},
    "root": {"admin": "/"},
}
MAY_WRITE = Prefixes(GRANTS["a"]["write"].split())

_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_MARK = re.compile(r"\b[0-9a-f]{1,15}-[0-9a-f]{8}\b")
_PAGE = re.compile(r"cursor=([A-Za-z0-9_-]+)")
_SHOWN = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|(?<=[?;]before=)\d+")
"""Times and sequence numbers on pages."""
_DIGESTS = frozenset({"etag"})
_SHARED = frozenset({"/", "/model", "/modelsource", "/capabilities", f"/messagegroups/{SHARED}"})
"""The model and the capabilities have the epoch of the Registry."""


class Tenant:
    """The holder of a key."""

    def __init__(self, app: AsgiClient, store: Store, name: str) -> None:
        self._app = app
        grants = [(role, prefix) for role, prefixes in GRANTS[name].items() for prefix in prefixes.split()]
        with store.write() as tx:
            key = create_key(tx, name, [parse_grant(f"key:{name}", *grant) for grant in grants])[1]
        self.credentials = {"authorization": f"Bearer {key}"}

    def ask(self, method: str, target: str, body: Any = b"", headers: dict[str, str] | None = None) -> Reply:
        """The reply to a request."""
        return self._app.ask(method, target, body, {**(headers or {}), **self.credentials})


class Registry:
    """One of the two, and what A was told by it."""

    def __init__(self, path: Path) -> None:
        self.store: Store = open_store(f"sqlite:///{path}")
        app = AsgiClient(create_app(self.store, SETTINGS, ServerProcess(pages=open_pages(SETTINGS))))
        self.a, self.b, self.admin = (Tenant(app, self.store, name) for name in GRANTS)
        self._told = {"etag": '"none"', "cursor": "", "subscription": "none", "page": "none"}
        with self.store.write() as tx:
            root = tx.entity("/")
            assert root is not None
            root.attributes["registryid"] = "registry"
            tx.put(root)

    def ask(self, request: LeakRequest) -> Reply:
        """A's request, with what this registry has told before in it."""
        headers = {name: self._filled(value) for name, value in request.headers.items()}
        if headers.get("if-match") == "{etag}" or "{etag}" in str(request.headers):
            self._told["etag"] = self.a.ask("GET", request.target.partition("?")[0]).headers.get("etag", '"none"')
            headers = {name: self._filled(value) for name, value in request.headers.items()}
        reply = self.a.ask(request.method, self._filled(request.target), request.body, headers)
        self._learn(request, reply)
        return reply

    def _filled(self, text: str) -> str:
        for name, value in self._told.items():
            text = text.replace("{" + name + "}", value)
        return text

    def _learn(self, request: LeakRequest, reply: Reply) -> None:
        if request.target.startswith("/changes") and reply.status == 200 and reply.body.startswith(b"{"):
            self._told["cursor"] = reply.json["cursor"]
        if found := _PAGE.search(reply.headers.get("link", "")):
            self._told["page"] = found[1]
        if request.target == "/subscriptions" and reply.status == 201:
            self._told["subscription"] = reply.json["id"]


def fill(registry: Registry, with_b: bool) -> None:
    """The same catalogs of A in both registries, and B's around them in one."""
    shared_a = {"name": "Shared", "messages": {"a1": {"name": "one"}, "aw1": {"name": "two"}}}
    public = {PUBLIC: {"name": "Public", "messages": {"moved": {"envelope": "CloudEvents/1.0"}}}}
    put(registry.store, {"messagegroups": {SHARED: shared_a, **public}})
    if with_b:
        put(registry.store, tenant("b", SECRET))
    put(registry.store, tenant("a", "alpha"))
    if with_b:
        b = registry.b
        body = {"b1": {"name": SECRET}, "b2": {"name": SECRET}}
        assert b.ask("POST", f"/messagegroups/{SHARED}/messages", body).status == 200
        strict = {"envelope": "CloudEvents/1.0", "messages": {"ref": refer(f"/messagegroups/{OWN[0]}/messages/moved")}}
        assert b.ask("PUT", "/messagegroups/b.strict", strict).status == 201  # it would accept no other envelope of A
    moved = refer(f"/messagegroups/{FOREIGN[1]}/messages/moved")["meta"]
    assert registry.admin.ask("PUT", f"/messagegroups/{OWN[1]}/messages/ref/meta", moved).status == 200
    assert registry.admin.ask("PATCH", "/capabilities", {"shortself": True, "pagination": True}).status == 200


def put(store: Store, tree: dict[str, Any]) -> None:
    with store.write() as tx:
        import_document(tx, tree)


class Neighbour:
    """B, who goes on working while A asks."""

    def __init__(self, b: Tenant, seed: int) -> None:
        self._b = b
        self._rng = random.Random(seed)

    def work(self) -> None:
        """Do something that A must not notice."""
        if self._rng.random() > 0.4:
            return
        group, one = self._rng.choice((*FOREIGN, "b.new")), self._rng.choice(("moved", "stopped", "b1", "new"))
        message = {"name": SECRET, "description": f"{SECRET} {self._rng.random()}", "versionuri": "urn:a:1"}
        reference = refer(f"/messagegroups/{OWN[0]}/messages/moved")
        method, target, body = self._rng.choice(
            [
                ("PUT", f"/messagegroups/{group}/messages/{one}", self._rng.choice((message, reference))),
                ("PATCH", f"/messagegroups/{group}", {"description": f"{SECRET} {self._rng.random()}"}),
                ("PUT", f"/messagegroups/{SHARED}/messages/b{self._rng.randrange(5)}", message),
                ("DELETE", f"/messagegroups/{SHARED}/messages/b{self._rng.randrange(5)}", b""),
                ("DELETE", "/messagegroups/b.new", b""),
                ("POST", "/subscriptions", {"sink": "http://127.0.0.1:1/x", "protocol": "HTTP"}),
                ("PUT", f"/schemagroups/{group}/schemas/{one}$details", {"name": SECRET}),
            ]
        )
        reply = self._b.ask(method, target, body)
        assert reply.status < 500, reply.body


def masked(reply: Reply) -> tuple[int, list[tuple[str, str]], Any]:
    """A reply without what may differ."""
    headers = [(name.decode(), _text(value.decode("latin-1"))) for name, value in reply.raw]
    headers = [(name, "…" if name in _DIGESTS else value) for name, value in headers]
    body: Any = _body(reply.body)
    if reply.headers.get("content-type") in ("text/event-stream", "application/x-ndjson"):
        body = [_body(line.removeprefix(b"data: ")) for line in reply.body.splitlines()]
    if reply.headers.get("content-type", "").startswith("text/html"):
        body = [_text(_SHOWN.sub("shown", line)) for line in reply.body.decode().splitlines()]
    return reply.status, [one for one in headers if one[0] != "content-length"], body


def _body(body: bytes) -> Any:
    try:
        return _json(json.loads(body)) if body else None
    except ValueError:
        return _text(body.decode("latin-1"))


def _text(text: str) -> str:
    text = _PAGE.sub(lambda found: f"cursor={_cursor(found[1])}", text)
    return _MARK.sub("mark", _UUID.sub("uuid", _TIME.sub("time", text)))


def _cursor(token: str) -> str:
    try:
        return _text(str(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()))
    except ValueError:
        return token


def _json(value: Any) -> Any:
    if isinstance(value, dict):
        made = {name: _json(member) for name, member in value.items()}
        if _is_shared(value):
            made |= {name: "…" for name in ("epoch",) if name in made}
            made |= {name: _without_epoch(made[name]) for name in ("values",) if name in made}
        return made
    if isinstance(value, list):
        return [_json(member) for member in value]
    return _text(value) if isinstance(value, str) else value


def _is_shared(entity: dict[str, Any]) -> bool:
    """Whether an object is one of the ancestors that are shared, in any dialect."""
    own = str(entity.get("self", "")).partition(".localhost")[2].removeprefix("/-").removeprefix("/v0.5")
    return str(entity.get("xid")) in _SHARED or (own in ("", f"/definitionGroups/{SHARED}") and "self" in entity)


def _without_epoch(values: Any) -> Any:
    return {name: value for name, value in values.items() if name != "epoch"}


def compare(with_b: Reply, without_b: Reply, where: str) -> None:
    """Fail with what differs."""
    texts = [json.dumps(masked(reply), indent=1).splitlines() for reply in (with_b, without_b)]
    assert texts[0] == texts[1], "\n".join([where, *list(difflib.unified_diff(*texts, "with B", "without", n=6))[:80]])


@pytest.fixture
def pairs(tmp_path: Path) -> Iterator[Callable[[int], tuple[Registry, Registry, Neighbour]]]:
    opened: list[Registry] = []

    def make(seed: int) -> tuple[Registry, Registry, Neighbour]:
        both = [Registry(tmp_path / f"{seed}-{name}.db") for name in ("with", "without")]
        fill(both[0], with_b=True)
        fill(both[1], with_b=False)
        opened.extend(both)
        return both[0], both[1], Neighbour(both[0].b, seed)

    yield make
    for registry in opened:
        registry.store.close()


@pytest.mark.parametrize("seed", range(max(1, LEAKS // PER_REGISTRY)))
def test_a_tenant_is_answered_as_if_there_were_no_other(
    seed: int, pairs: Callable[[int], tuple[Registry, Registry, Neighbour]]
) -> None:
    crowded, lonely, neighbour = pairs(seed)
    requests, is_secret = Requests(seed), True
    for number in range(PER_REGISTRY):
        neighbour.work()
        request = requests.next()
        where = f"seed {seed}, request {number}: {request}"
        with_b, without_b = crowded.ask(request), lonely.ask(request)
        assert with_b.status < 500, (where, with_b.body)
        compare(with_b, without_b, where)
        if SECRET not in str(request) and is_secret:
            assert SECRET.encode() not in with_b.body + str(with_b.raw).encode(), where
        # A may have written the word, and then reads it.
        is_secret = is_secret and not (SECRET in str(request.body) and with_b.status < 300)
    written = written_by_a(crowded)
    assert written
    assert not {xid for xid in written if xid not in _SHARED and not MAY_WRITE.covers(xid)}


def written_by_a(registry: Registry) -> set[str]:
    """Everything that A has changed, in however many steps and by whatever route."""
    with registry.store.read() as tx:
        return {row.xid for row in tx.changes(0, 2**40) if row.actor == "key:a"}


def test_a_tenant_who_deletes_everything_deletes_what_they_see(
    pairs: Callable[[int], tuple[Registry, Registry, Neighbour]],
) -> None:
    crowded, lonely, _ = pairs(0)
    for target in ("/messagegroups", "/schemagroups", "/endpoints"):
        request = LeakRequest("DELETE", target)
        assert masked(crowded.ask(request)) == masked(lonely.ask(request))
    assert set(FOREIGN) <= set(crowded.admin.ask("GET", "/messagegroups").json)
