"""Resources that an administrator has locked (`readonly`, META-004 and META-005): nobody changes them by any route."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from postroom.registry.operations import import_document
from postroom.store.interface import Store
from tests.http.access.conftest import MakeKey
from tests.http.requests import AsgiClient, Reply

FLEET = "/messagegroups/fleet"
LOCKED = f"{FLEET}/messages/moved"
SCHEMA = "/schemagroups/fleet/schemas/ride"
MESSAGE = {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "moved"}}, "name": "Moved"}

Ask = Callable[..., Reply]


@pytest.fixture
def asked(guarded: Callable[..., AsgiClient], make_key: MakeKey, store: Store) -> Ask:
    """Asks as `anna`, who owns the group, or as `root`, who administers the registry and has locked two Resources."""
    with store.write() as tx:
        schemas = {"ride": {"format": "JSONSchema/draft-07", "schema": {"type": "object"}}}
        messages = {"moved": MESSAGE, "stopped": MESSAGE}
        import_document(
            tx,
            {"messagegroups": {"fleet": {"messages": messages}}, "schemagroups": {"fleet": {"schemas": schemas}}},
        )
    service = guarded()
    keys = {
        "anna": make_key("anna", f"own:{FLEET}", "own:/schemagroups/fleet"),
        "root": make_key("root", "admin:/"),
    }

    def ask(who: str, method: str, target: str, body: Any = b"", **headers: str) -> Reply:
        return service.ask(method, target, body, {"authorization": f"Bearer {keys[who]}", **headers})

    for xid in (LOCKED, SCHEMA):
        assert ask("root", "PATCH", f"{xid}/meta", {"readonly": True}).json["readonly"] is True
    return ask


CHANGES: list[tuple[str, str, Any]] = [
    ("PUT", LOCKED, {"name": "mine"}),
    ("PATCH", LOCKED, {"name": "mine"}),
    ("POST", LOCKED, {"name": "mine"}),
    ("DELETE", LOCKED, b""),
    ("PUT", f"{LOCKED}/versions/1", {"name": "mine"}),
    ("PATCH", f"{LOCKED}/versions/1", {"name": "mine"}),
    ("POST", f"{LOCKED}/versions", {"1": {"name": "mine"}}),
    ("DELETE", f"{LOCKED}/versions/1", b""),
    ("DELETE", f"{LOCKED}/versions", b""),
    ("PUT", f"{LOCKED}/meta", {"labels": {"team": "mine"}}),
    ("PATCH", f"{LOCKED}/meta", {"labels": {"team": "mine"}}),
    ("PATCH", f"{LOCKED}/meta", {"xref": f"{FLEET}/messages/stopped"}),
    ("POST", f"{FLEET}/messages", {"moved": {"name": "mine"}}),
    ("PATCH", f"{FLEET}/messages", {"moved": {"name": "mine"}}),
    ("DELETE", f"{FLEET}/messages", {"moved": {}}),
    ("DELETE", f"{FLEET}/messages", b""),
    ("POST", FLEET, {"messages": {"moved": {"name": "mine"}}}),
    ("PUT", FLEET, {"messages": {"moved": {"name": "mine"}}}),
    ("DELETE", FLEET, b""),
    ("POST", "/messagegroups", {"fleet": {"messages": {"moved": {"name": "mine"}}}}),
    ("DELETE", "/messagegroups", {"fleet": {}}),
    ("POST", "/", {"messagegroups": {"fleet": {"messages": {"moved": {"name": "mine"}}}}}),
    ("PATCH", f"{LOCKED}?specversion=1.0-rc2", {"name": "mine"}),
    ("PUT", "/v0.5/definitionGroups/fleet/definitions/moved?meta", {"description": "mine"}),
    ("DELETE", "/v0.5/definitionGroups/fleet/definitions/moved", b""),
    ("DELETE", "/v0.5/definitionGroups/fleet", b""),
    ("POST", "/messagecatalog/fleet/messagedefinitions/moved", {"attributes": {"type": "moved", "source": "mine"}}),
    ("DELETE", "/messagecatalog/fleet/messagedefinitions/moved", b""),
    ("DELETE", "/messagecatalog/fleet/messagedefinitions", b""),
    ("DELETE", "/messagecatalog/fleet", b""),
    ("PUT", SCHEMA, b'{"type": "array"}'),
    ("PATCH", f"{SCHEMA}$details", {"name": "mine"}),
    ("POST", SCHEMA, b'{"type": "array"}'),
    ("DELETE", SCHEMA, b""),
    ("DELETE", "/schemagroups/fleet", b""),
]


@pytest.mark.feature("META-005", "ERR-059")
@pytest.mark.parametrize("who", ["anna", "root"])
@pytest.mark.parametrize(("method", "target", "body"), CHANGES, ids=lambda one: str(one)[:50])
def test_a_locked_resource_stays_as_it_is(asked: Ask, who: str, method: str, target: str, body: Any) -> None:
    def locked() -> list[bytes]:
        shown = [asked("root", "GET", f"{xid}$details?inline=*").body for xid in (LOCKED, SCHEMA)]
        return [*shown, asked("root", "GET", SCHEMA).body]

    before = locked()
    reply = asked(who, method, target, body)
    assert locked() == before, reply.body
    assert reply.status in (400, 409), reply.body
    assert b"read-only" in reply.body


@pytest.mark.feature("META-004")
@pytest.mark.parametrize("given", [True, False, None, "yes", 1])
def test_only_administrators_lock_and_unlock(asked: Ask, given: Any) -> None:
    free = f"{FLEET}/messages/stopped"
    assert asked("anna", "PATCH", f"{LOCKED}/meta", {"readonly": given}).problem == "readonly"
    assert asked("anna", "PATCH", LOCKED, {"meta": {"readonly": given}, "name": "mine"}).problem == "readonly"
    reply = asked("anna", "PATCH", f"{free}/meta", {"readonly": given})
    assert asked("root", "GET", f"{free}/meta").json["readonly"] is False, reply.body
    asked("anna", "PUT", f"{FLEET}/messages/new", {**MESSAGE, "meta": {"readonly": given}})
    assert asked("root", "GET", f"{FLEET}/messages/new/meta").json["readonly"] is False


def test_an_administrator_unlocks_and_the_owner_goes_on(asked: Ask) -> None:
    assert asked("root", "PATCH", f"{LOCKED}/meta", {"readonly": False}).json["readonly"] is False
    assert asked("anna", "PATCH", LOCKED, {"name": "mine"}).json["name"] == "mine"
    assert asked("anna", "DELETE", LOCKED).status == 204


@pytest.mark.feature("META-006")
def test_a_collection_is_written_around_what_is_locked_where_the_request_says_so(asked: Ask) -> None:
    body = {"moved": {"name": "mine"}, "stopped": {"name": "mine"}}
    assert asked("anna", "POST", f"{FLEET}/messages?ignore=readonly", body).status == 200
    found = asked("root", "GET", f"{FLEET}/messages").json
    assert (found["moved"]["name"], found["stopped"]["name"]) == ("Moved", "mine")


def test_a_lock_is_no_secret_and_its_change_is_logged_with_who_made_it(asked: Ask) -> None:
    assert asked("anna", "GET", f"{LOCKED}/meta").json["readonly"] is True
    changes = asked("anna", "GET", f"/changes?values&xid={LOCKED}").json["changes"]
    assert changes[-1]["actor"] == "key:root"
