"""What a principal may write: within the prefixes of their grants everything, outside nothing, and nothing is told."""

from __future__ import annotations

from typing import Any

import pytest

from postroom.registry.operations import import_document
from postroom.store.interface import Store
from tests.http.principals import Principal, permitted

MESSAGE = {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "moved"}}}


@pytest.fixture
def fleets(store: Store) -> Store:
    groups = {
        one: {"messages": {"moved": MESSAGE, "stopped": MESSAGE}, "name": one} for one in ("fleet", "fleet2", "ovens")
    }
    with store.write() as tx:
        import_document(tx, {"messagegroups": groups})
    return store


@pytest.fixture
def admin(fleets: Store) -> Principal:
    return Principal(fleets, permitted(admin=True, name="root"))


@pytest.fixture
def anna(fleets: Store) -> Principal:
    """She writes `fleet`, reads `fleet2`, and does not know of `ovens`."""
    return Principal(fleets, permitted(read="/messagegroups/fleet2", write="/messagegroups/fleet"))


def without_instance(body: bytes) -> str:
    return body.decode().partition('"instance"')[0]


@pytest.mark.parametrize(
    ("method", "target", "body"),
    [
        ("PUT", "/messagegroups/fleet", {"name": "Ours"}),
        ("PATCH", "/messagegroups/fleet", {"name": "Ours"}),
        ("PUT", "/messagegroups/FLEET/messages/moved", None),
        ("PUT", "/messagegroups/fleet/messages/new", MESSAGE),
        ("PATCH", "/messagegroups/fleet/messages/moved", {"name": "x"}),
        ("POST", "/messagegroups/fleet/messages", {"a": MESSAGE, "b": MESSAGE}),
        ("POST", "/messagegroups/fleet", {"messages": {"a": MESSAGE}}),
        ("POST", "/messagegroups", {"fleet": {"name": "x"}}),
        ("POST", "/", {"messagegroups": {"fleet": {"name": "x"}}}),
        ("PATCH", "/messagegroups/fleet/messages/moved/meta", {"labels": {"a": "b"}}),
        ("PUT", "/messagegroups/fleet/messages/moved/versions/1", MESSAGE),
        ("DELETE", "/messagegroups/fleet/messages/moved", b""),
        ("DELETE", "/messagegroups/fleet/messages", b""),
        ("DELETE", "/messagegroups/fleet", b""),
        ("PUT", "/messagecatalog/fleet", {"format": "CloudEvents"}),
        ("DELETE", "/messagecatalog/fleet/messagedefinitions/moved", b""),
        ("DELETE", "/v0.5/definitionGroups/fleet/definitions/moved", b""),
    ],
)
def test_inside_their_prefixes_principals_write(anna: Principal, method: str, target: str, body: Any) -> None:
    if "FLEET" in target:  # case does not matter to grants, but it does to ids
        assert anna.ask("PUT", target, MESSAGE).status == 400
        return
    reply = anna.ask(method, target, body)
    assert reply.status in (200, 201, 204), reply.body


OUTSIDE = [
    ("PUT", "/messagegroups/{}", {}, "write on /messagegroups/{}"),
    ("PATCH", "/messagegroups/{}", {"name": "mine"}, "write on /messagegroups/{}"),
    ("PUT", "/messagegroups/{}", {"colour": "what no group has"}, "write on /messagegroups/{}"),
    ("PUT", "/messagegroups/{}/messages/moved", MESSAGE, "write on /messagegroups/{}/messages/moved"),
    ("PATCH", "/messagegroups/{}/messages/moved", {}, "write on /messagegroups/{}/messages/moved"),
    ("POST", "/messagegroups/{}/messages/moved", MESSAGE, "write on /messagegroups/{}/messages/moved"),
    ("PUT", "/messagegroups/{}/messages/moved/meta", {}, "write on /messagegroups/{}/messages/moved"),
    ("PUT", "/messagegroups/{}/messages/moved/versions/1", MESSAGE, "write on /messagegroups/{}/messages/moved"),
    ("POST", "/messagegroups/{}/messages/moved/versions", {"2": {}}, "write on /messagegroups/{}/messages/moved"),
    ("POST", "/messagegroups", {"fleet": {}, "{}": {}}, "write on /messagegroups/{}"),
    ("PATCH", "/messagegroups", {"fleet": {}, "{}": {}}, "write on /messagegroups/{}"),
    ("POST", "/", {"messagegroups": {"{}": {}}}, "write on /messagegroups/{}"),
    ("PUT", "/messagecatalog/{}", {"format": "CloudEvents"}, "write on /messagegroups/{}"),
    ("POST", "/messagecatalog/{}/messagedefinitions/moved", {}, "write on /messagegroups/{}/messages/moved"),
    ("PUT", "/v0.5/definitionGroups/{}", {}, "write on /messagegroups/{}"),
    ("PUT", "/v0.5/definitionGroups/{}/definitions/moved?meta", {}, "write on /messagegroups/{}/messages/moved"),
]


def named(body: Any, name: str) -> Any:
    if isinstance(body, dict):
        return {key.replace("{}", name): named(value, name) for key, value in body.items()}
    return body


@pytest.mark.parametrize(("method", "target", "body", "grant"), OUTSIDE)
def test_outside_their_prefixes_they_are_told_which_grant_is_missing_whether_or_not_the_id_exists(
    anna: Principal, method: str, target: str, body: Any, grant: str
) -> None:
    hidden, absent = (anna.ask(method, target.replace("{}", name), named(body, name)) for name in ("ovens", "lathes"))
    assert hidden.status == absent.status == 403
    assert hidden.json["args"] == {"grant": grant.replace("{}", "ovens")}
    assert without_instance(hidden.body).replace("ovens", "lathes") == without_instance(absent.body)
    assert [name for name, _ in hidden.raw] == [name for name, _ in absent.raw]


@pytest.mark.parametrize(("method", "target", "body", "grant"), OUTSIDE)
def test_what_may_be_read_only_is_refused_with_the_missing_grant(
    anna: Principal, method: str, target: str, body: Any, grant: str
) -> None:
    refused = anna.refused(method, target.replace("{}", "fleet2"), named(body, "fleet2"))
    assert refused == (403, grant.replace("{}", "fleet2"))
    assert anna.get("/messagegroups/fleet2")["name"] == "fleet2"


DELETED = [
    "/messagegroups/{}",
    "/messagegroups/{}/messages",
    "/messagegroups/{}/messages/moved",
    "/messagegroups/{}/messages/moved/versions",
    "/messagegroups/{}/messages/moved/versions/1",
    "/messagecatalog/{}",
    "/messagecatalog/{}/messagedefinitions",
    "/messagecatalog/{}/messagedefinitions/moved",
    "/v0.5/definitionGroups/{}",
    "/v0.5/definitionGroups/{}/definitions/moved",
]


@pytest.mark.parametrize("target", DELETED)
@pytest.mark.parametrize("method", ["DELETE", "GET"])
def test_what_may_not_be_read_is_not_found_like_what_does_not_exist(anna: Principal, target: str, method: str) -> None:
    hidden, absent = (anna.ask(method, target.replace("{}", name)) for name in ("ovens", "lathes"))
    assert hidden.status == absent.status == 404
    assert without_instance(hidden.body).replace("ovens", "lathes") == without_instance(absent.body)
    assert [name for name, _ in hidden.raw] == [name for name, _ in absent.raw]


@pytest.mark.parametrize("target", DELETED)
def test_what_may_be_read_and_not_written_is_not_deleted(anna: Principal, target: str) -> None:
    status, grant = anna.refused("DELETE", target.replace("{}", "fleet2"))
    assert status == 403
    assert grant.startswith("write on /messagegroups/fleet2")
    assert len(anna.get("/messagegroups/fleet2/messages")) == 2


def test_a_collection_is_deleted_whole_or_not_at_all(anna: Principal, admin: Principal) -> None:
    assert anna.refused("DELETE", "/messagegroups") == (403, "write on /messagegroups/fleet2")
    assert anna.refused("DELETE", "/messagegroups", {"fleet": {}, "fleet2": {}})[0] == 403
    assert list(admin.get("/messagegroups")) == ["fleet", "fleet2", "ovens"]


def test_what_is_hidden_does_not_take_part_in_deleting_a_collection(fleets: Store, admin: Principal) -> None:
    owner = Principal(fleets, permitted(write="/messagegroups/fleet /messagegroups/fleet2"))
    assert owner.ask("DELETE", "/messagegroups", {"ovens": {}}).status == 204
    assert owner.ask("DELETE", "/messagegroups").status == 204
    assert list(admin.get("/messagegroups")) == ["ovens"]


def test_several_entities_are_written_together_or_not_at_all(anna: Principal, admin: Principal) -> None:
    before = admin.get("/messagegroups")
    body = {"messagegroups": {"fleet": {"name": "new"}, "ovens": {"name": "new"}}}
    assert anna.refused("POST", "/", body) == (403, "write on /messagegroups/ovens")
    assert admin.get("/messagegroups") == before


def test_a_new_group_needs_a_prefix_that_covers_its_id(fleets: Store) -> None:
    maker = Principal(fleets, permitted(write="/messagegroups/fleet.*"))
    assert maker.ask("PUT", "/messagegroups/fleet.cars", {}).status == 201
    assert maker.ask("PUT", "/messagegroups/fleet.cars/messages/moved", MESSAGE).status == 201
    assert maker.ask("PUT", "/messagegroups/fleet.trucks/messages/moved", MESSAGE).status == 201
    assert maker.refused("PUT", "/messagegroups/fleets", {}) == (403, "write on /messagegroups/fleets")


def test_whoever_may_write_a_message_cannot_make_its_group(fleets: Store) -> None:
    one = Principal(fleets, permitted(write="/messagegroups/lathes/messages/turned"))
    target = "/messagegroups/lathes/messages/turned"
    assert one.refused("PUT", target, MESSAGE) == (403, "write on /messagegroups/lathes")
    Principal(fleets, permitted(admin=True)).ask("PUT", "/messagegroups/lathes", {})
    assert one.ask("PUT", target, MESSAGE).status == 201
    assert one.get("/messagegroups/lathes")["messagescount"] == 1
    assert one.get("/messagegroups")["lathes"]["epoch"] == 2


@pytest.mark.parametrize(
    ("method", "target", "body"),
    [
        ("PUT", "/modelsource", {}),
        ("PUT", "/capabilities", {}),
        ("PATCH", "/capabilities", {}),
        ("PATCH", "/", {"modelsource": {}}),
        ("PATCH", "/", {"capabilities": {}}),
    ],
)
def test_model_and_capabilities_are_for_administrators(fleets: Store, method: str, target: str, body: Any) -> None:
    writer = Principal(fleets, permitted(write="/"))
    assert writer.refused(method, target, body) == (403, "admin on /")


def test_the_registry_itself_is_written_by_those_who_write_everything(anna: Principal, fleets: Store) -> None:
    assert anna.refused("PATCH", "/", {"name": "x"}) == (403, "write on /")
    assert anna.refused("PUT", "/", {"messagegroups": {"fleet": {}}}) == (403, "write on /")
    assert Principal(fleets, permitted(write="/")).ask("PATCH", "/", {"name": "x"}).status == 200


def test_an_administrator_changes_the_model_and_locks_resources(admin: Principal, anna: Principal) -> None:
    target = "/messagegroups/fleet/messages/moved"
    assert admin.ask("PATCH", f"{target}/meta", {"readonly": True}).json["readonly"] is True
    assert admin.ask("PATCH", target, {"name": "x"}).problem == "readonly"
    assert anna.ask("PATCH", f"{target}/meta", {"readonly": False}).problem == "readonly"
    assert anna.ask("DELETE", target).problem == "readonly"
    assert admin.ask("PATCH", f"{target}/meta", {"readonly": False}).json["readonly"] is False
    assert anna.ask("PATCH", target, {"name": "x"}).status == 200
    assert anna.ask("PATCH", f"{target}/meta", {"readonly": True}).json["readonly"] is False
    assert admin.ask("PUT", "/modelsource", admin.get("/modelsource")).status == 200


def test_an_xref_to_what_may_not_be_read_leads_nowhere(anna: Principal, admin: Principal) -> None:
    hidden, absent = (f"/messagegroups/{name}/messages/moved" for name in ("ovens", "lathes"))
    for target in (hidden, absent):
        reply = anna.ask("PUT", "/messagegroups/fleet/messages/other/meta", {"xref": target})
        assert reply.status in (200, 201)
        shown = anna.get("/messagegroups/fleet/messages/other?inline=meta")
        assert (shown["meta"]["xref"], "envelope" in shown) == (target, False)
        anna.ask("DELETE", "/messagegroups/fleet/messages/other")
    admin.ask("PUT", "/messagegroups/fleet/messages/other/meta", {"xref": hidden})
    assert "envelope" not in anna.get("/messagegroups/fleet/messages/other")
    assert "envelope" in admin.get("/messagegroups/fleet/messages/other")


def test_an_xref_that_its_target_s_writer_cannot_see_does_not_bind_them(admin: Principal, fleets: Store) -> None:
    """A Group that accepts one envelope only is no reason for a stranger to be refused, nor to learn of it."""
    admin.ask("PATCH", "/messagegroups/fleet", {"envelope": "CloudEvents/1.0"})
    admin.ask("PUT", "/messagegroups/fleet/messages/other/meta", {"xref": "/messagegroups/ovens/messages/moved"})
    baker = Principal(fleets, permitted(write="/messagegroups/ovens", name="bert"))
    assert baker.ask("PUT", "/messagegroups/ovens/messages/moved", {"name": "no envelope"}).status == 200
    assert admin.ask("PUT", "/messagegroups/ovens/messages/moved", {"name": "again"}).problem == "constraint_failure"


def test_a_version_uri_is_not_taken_away_by_those_who_do_not_see_it(fleets: Store, anna: Principal) -> None:
    baker = Principal(fleets, permitted(write="/messagegroups/ovens", name="bert"))
    uri = "urn:bakers:heated:1"
    for who, group in ((baker, "ovens"), (anna, "fleet")):
        assert who.ask("PUT", f"/messagegroups/{group}/messages/heated", {"versionuri": uri}).status == 201
    for who, group in ((baker, "ovens"), (anna, "fleet")):
        found = who.ask("GET", f"/messagedefinition?uri={uri}")
        assert found.status == 200
        assert group in str(found.headers)


def test_changes_have_the_principal_as_their_actor(anna: Principal, admin: Principal) -> None:
    anna.ask("PATCH", "/messagegroups/fleet", {"name": "x"})
    assert admin.get("/changes?values&xid=/messagegroups/fleet")["changes"][-1]["actor"] == "anna"
