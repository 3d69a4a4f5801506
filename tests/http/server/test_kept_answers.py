"""What is kept of answers is what would be answered anew, whatever was written, by this process or another one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from postroom.access.grants import parse_grant
from postroom.access.keys import create_key
from postroom.catalog.open_store import open_store
from postroom.http.server.app import create_app
from postroom.registry.permissions import UNRESTRICTED
from postroom.settings import Settings
from postroom.store.change_follower import MOST_RESOURCES
from postroom.store.interface import Store
from postroom.store.retention import Retention
from tests.http.principals import BASE, Principal, permitted
from tests.http.requests import AsgiClient, Reply
from tests.postgres import Postgres

HOST = BASE.removeprefix("http://")
SERVED = Settings(allowed_hosts=(HOST,))
GROUPS = ["ovens", "kilns"]
MESSAGES = ["hot", "cold"]
SCHEMAS = ["heat", "glow"]
VERSIONS = ["1", "2"]
WRITERS = st.integers(0, 1)
GROUP, MESSAGE, SCHEMA = (st.sampled_from(names) for names in (GROUPS, MESSAGES, SCHEMAS))


def message(group: str, name: str) -> str:
    return f"/messagegroups/{group}/messages/{name}"


def schema(name: str) -> str:
    return f"/schemagroups/ovens/schemas/{name}"


def targets() -> Iterator[str]:
    """What is asked for after each write: entities, collections and services, with flags and without."""
    yield from ("/", "/?inline=*", "/model", "/capabilities", "/export", "/changes?limit=3", "/subscriptions")
    yield from ("/messagegroups", "/schemagroups", "/messagegroups?inline=messages", "/messagegroups?limit=1")
    yield from ("/messagegroups?filter=messages.name=n3", "/?specversion=1.0-rc2", "/?specversion=1.0-rc3&inline=*")
    for group in GROUPS:
        yield from (
            f"/messagegroups/{group}{more}" for more in ("", "?inline", "?doc", "/messages", "/messages?sort=name")
        )
        yield from (f"{message(group, name)}{more}" for name in MESSAGES for more in ("", "/meta", "/versions"))
        yield from (f"/messagecatalog/{group}", f"/v0.5/messagegroups/{group}", f"/v0.5/messagegroups/{group}/messages")
    for name in SCHEMAS:
        yield from (f"{schema(name)}{more}" for more in ("", "$details", "$details?inline", "/meta", "/versions"))
        yield from (f"{schema(name)}/versions/{one}$details" for one in VERSIONS)


TARGETS = list(targets())


def shown(reply: Reply) -> tuple[int, str | None, str | None, Any]:
    """What two answers have in common if they are the same; a refusal has an id of its own."""
    headers = reply.headers
    body: Any = reply.json["type"] if reply.status >= 400 else reply.body
    return reply.status, headers.get("etag"), headers.get("link"), body


class Machine(RuleBasedStateMachine):
    """Two processes, as it were, with a store each on the same database, and a third one that checks who asks."""

    stores: list[Store]
    key: str

    def __init__(self) -> None:
        super().__init__()
        self.number = 0
        for kind in ("messagegroups", "schemagroups"):
            Principal(self.stores[0], UNRESTRICTED, SERVED).ask("DELETE", f"/{kind}")
        self.apps = [AsgiClient(create_app(store, SERVED)) for store in self.stores]
        with_access = Settings(allowed_hosts=(HOST,), access="on")
        self.guarded = AsgiClient(create_app(self.stores[0], with_access))
        self.anew = Principal(self.stores[1], UNRESTRICTED, SERVED)
        self.restricted = Principal(
            self.stores[1], permitted(read="/messagegroups/ovens", name=f"key:{self.key.split('_')[1]}"), with_access
        )

    @initialize()
    def begin_with_something_of_everything(self) -> None:
        messages = {name: {"name": name} for name in MESSAGES}
        for group in GROUPS:
            self.write(0, "PUT", f"/messagegroups/{group}", {"messages": messages})
        for name in SCHEMAS:
            self.write_schema(1, name, "1", "a")
            self.write_schema(0, name, "2", "b")
        self.refer(0, "kilns", "cold", "ovens", "hot", refers=True)

    @invariant()
    def answers_are_those_that_are_made_anew(self) -> None:
        for target in TARGETS:
            expected = shown(self.anew.ask("GET", target))
            for app in self.apps:
                assert shown(app.ask("GET", target, host=HOST.encode())) == expected, target
        for target in TARGETS[-30:]:
            sent = {"authorization": f"Bearer {self.key}"}
            found = self.guarded.ask("GET", target, headers=sent, host=HOST.encode())
            assert shown(found) == shown(self.restricted.ask("GET", target)), target

    def write(self, writer: int, method: str, target: str, body: Any = b"", **headers: str) -> None:
        reply = self.apps[writer].ask(method, target, body, dict(headers), host=HOST.encode())
        assert reply.status < 500, reply.body

    def name(self) -> dict[str, Any]:
        self.number += 1
        return {"name": f"n{self.number}"}

    @rule(writer=WRITERS, group=GROUP, name=MESSAGE, method=st.sampled_from(["PUT", "PATCH", "DELETE"]))
    def write_message(self, writer: int, group: str, name: str, method: str) -> None:
        self.write(writer, method, message(group, name), b"" if method == "DELETE" else self.name())

    @rule(writer=WRITERS, group=GROUP, name=MESSAGE, of=GROUP, to=MESSAGE, refers=st.booleans())
    def refer(self, writer: int, group: str, name: str, of: str, to: str, refers: bool) -> None:
        body = {"xref": message(of, to) if refers else None}
        self.write(writer, "PATCH", f"{message(group, name)}/meta", body)

    @rule(writer=WRITERS, group=GROUP, method=st.sampled_from(["PUT", "PATCH", "DELETE"]))
    def write_group(self, writer: int, group: str, method: str) -> None:
        self.write(writer, method, f"/messagegroups/{group}", b"" if method == "DELETE" else self.name())

    @rule(writer=WRITERS, name=SCHEMA, version=st.sampled_from([*VERSIONS, None]), field=st.sampled_from("ab"))
    def write_schema(self, writer: int, name: str, version: str | None, field: str) -> None:
        self.write(writer, "PUT", "/schemagroups/ovens", {})
        document = {"type": "object", "properties": {field: {"type": "number"}}}
        body = {"format": "JsonSchema/draft-07", "schema": document, **self.name()}
        method, more = ("PUT", f"/versions/{version}") if version else ("POST", "")
        self.write(writer, method, f"{schema(name)}{more}$details", body)

    @rule(writer=WRITERS, name=SCHEMA, version=st.sampled_from(VERSIONS))
    def delete_version(self, writer: int, name: str, version: str) -> None:
        self.write(writer, "DELETE", f"{schema(name)}/versions/{version}")

    @rule(
        writer=WRITERS,
        name=SCHEMA,
        body=st.sampled_from(
            [
                *({"defaultversionid": one, "defaultversionsticky": True} for one in VERSIONS),
                {"defaultversionsticky": False},
                {"compatibility": "backward"},
                {"compatibility": None},
                {"xref": schema("heat")},
                {"xref": None},
                {"readonly": True},
            ]
        ),
    )
    def write_meta(self, writer: int, name: str, body: dict[str, Any]) -> None:
        self.write(writer, "PATCH", f"{schema(name)}/meta", body)

    @rule(writer=WRITERS, shortself=st.booleans())
    def write_capabilities(self, writer: int, shortself: bool) -> None:
        self.write(writer, "PATCH", "/capabilities", {"shortself": shortself})

    @rule(writer=WRITERS)
    def write_model(self, writer: int) -> None:
        source = self.anew.get("/modelsource")
        self.number += 1
        self.write(writer, "PUT", "/modelsource", {**source, "description": f"d{self.number}"})

    @rule(writer=WRITERS)
    def write_registry(self, writer: int) -> None:
        self.write(writer, "PATCH", "/", self.name())

    @rule(writer=WRITERS, count=st.sampled_from([2, MOST_RESOURCES + 20]))
    def load(self, writer: int, count: int) -> None:
        messages = {f"m{number}": self.name() for number in range(count)}
        self.write(writer, "POST", "/messagegroups", {"kilns": {"messages": {**messages, "hot": self.name()}}})

    @rule(writer=WRITERS, group=GROUP)
    def write_by_the_older_services(self, writer: int, group: str) -> None:
        self.number += 1
        self.write(
            writer, "PUT", f"/messagecatalog/{group}", {"format": "CloudEvents", "description": str(self.number)}
        )
        self.write(writer, "PUT", f"/v0.5/messagegroups/{group}", {"id": group, "description": f"v{self.number}"})

    @rule(writer=WRITERS)
    def subscribe(self, writer: int) -> None:
        sink = {"sink": "http://127.0.0.1:9/", "protocol": "HTTP"}
        self.write(writer, "POST", "/subscriptions", sink, **{"content-type": "application/json"})


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/registry.db"
    postgres: Postgres = request.getfixturevalue("postgres")
    return postgres.registry()


def test_every_kept_answer_is_the_one_that_would_be_made_anew(url: str) -> None:
    few = Retention(days=0, count=40)
    with open_store(url, retention=few) as first, open_store(url, retention=few) as second:
        Machine.stores = [first, second]
        with first.write() as tx:
            _, Machine.key = create_key(tx, "reader", [parse_grant("key:reader", "read", "/messagegroups/ovens")])
        budget = settings(
            max_examples=10 if url.startswith("sqlite") else 4,
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        run_state_machine_as_test(Machine, settings=budget)
