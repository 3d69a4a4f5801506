"""The services beside the registry, as a principal sees them: changes, matching, lint, subscriptions, replication."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from postroom.registry.operations import import_document
from postroom.replication.subscriptions.subscription_store import put_progress, read_progress
from postroom.settings import Settings
from postroom.store.interface import Store
from tests.http.principals import Principal, permitted

SETTINGS = Settings(sink_hosts=("127.0.0.1",), sink_private=True)
EVENT = {"specversion": "1.0", "id": "1", "source": "/vans/7"}


def message(type_: str, **members: Any) -> dict[str, Any]:
    return {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": type_}}, **members}


@pytest.fixture
def fleets(store: Store) -> Store:
    groups = {one: {"messages": {"moved": message(f"{one}.moved")}} for one in ("fleet", "ovens")}
    based = message("fleet.based", basemessage="/messagegroups/ovens/messages/moved")
    groups["fleet"]["messages"]["based"] = based
    with store.write() as tx:
        import_document(tx, {"messagegroups": groups})
    return store


@pytest.fixture
def anna(fleets: Store) -> Principal:
    return Principal(fleets, permitted(write="/messagegroups/fleet"), SETTINGS)


@pytest.fixture
def bert(fleets: Store) -> Principal:
    return Principal(fleets, permitted(write="/messagegroups/ovens", name="bert"), SETTINGS)


@pytest.fixture
def admin(fleets: Store) -> Principal:
    return Principal(fleets, permitted(admin=True, name="root"), SETTINGS)


def matched(who: Principal, type_: str) -> str:
    reply = who.ask("POST", "/match", {**EVENT, "type": type_}, {"content-type": "application/cloudevents+json"})
    return str(reply.json["outcome"])


def test_records_are_matched_with_the_definitions_that_may_be_read(
    anna: Principal, bert: Principal, admin: Principal
) -> None:
    for _ in range(2):
        assert [matched(anna, f"{one}.moved") for one in ("fleet", "ovens")] == ["landed", "unmatched"]
        assert [matched(bert, f"{one}.moved") for one in ("fleet", "ovens")] == ["unmatched", "landed"]
        assert [matched(admin, f"{one}.moved") for one in ("fleet", "ovens")] == ["landed", "landed"]


def test_compiled_definitions_follow_what_is_seen_of_the_changes(anna: Principal, bert: Principal) -> None:
    assert matched(anna, "fleet.stopped") == "unmatched"
    bert.ask("PUT", "/messagegroups/ovens/messages/stopped", message("fleet.stopped"))
    assert matched(anna, "fleet.stopped") == "unmatched"
    anna.ask("PUT", "/messagegroups/fleet/messages/stopped", message("fleet.stopped"))
    assert (matched(anna, "fleet.stopped"), matched(bert, "fleet.stopped")) == ("landed", "landed")
    anna.ask("DELETE", "/messagegroups/fleet/messages/stopped")
    assert (matched(anna, "fleet.stopped"), matched(bert, "fleet.stopped")) == ("unmatched", "landed")


def test_messages_are_made_from_the_definitions_that_may_be_read(anna: Principal, admin: Principal) -> None:
    order = {"message": "/messagegroups/ovens/messages/moved", "values": {"source": "/x"}}
    absent = {**order, "message": "/messagegroups/lathes/messages/moved"}
    assert admin.ask("POST", "/make", order).status == 200
    hidden, missing = anna.ask("POST", "/make", order), anna.ask("POST", "/make", absent)
    assert hidden.status == missing.status
    assert (
        hidden.body.partition(b'"instance"')[0].replace(b"ovens", b"lathes") == missing.body.partition(b'"instance"')[0]
    )


def test_lint_does_not_know_what_may_not_be_read(anna: Principal, admin: Principal) -> None:
    assert anna.ask("GET", "/-/lint?xid=/messagegroups/ovens/messages/moved").problem == "not_found"
    codes = {
        who: [found["code"] for found in who.get("/-/lint?xid=/messagegroups/fleet/messages/based")["findings"]]
        for who in (anna, admin)
    }
    assert codes[anna] != codes[admin]
    anna.ask("PUT", "/messagegroups/fleet/messages/lost", message("x", basemessage="/messagegroups/no/messages/one"))
    lost = [found["code"] for found in anna.get("/-/lint?xid=/messagegroups/fleet/messages/lost")["findings"]]
    assert codes[anna] == lost


def test_changes_are_those_of_what_may_be_read(anna: Principal, bert: Principal) -> None:
    def seen(who: Principal, after: str = "") -> tuple[set[str], str]:
        page = who.get(f"/changes?after={after}")
        return {event["subject"].split("/")[2] for event in page["events"] if event["subject"] != "/"}, page["cursor"]

    assert seen(anna)[0] == {"fleet"}
    ovens, cursor = seen(bert)
    assert ovens == {"ovens"}
    anna.ask("PATCH", "/messagegroups/fleet", {"name": "x"})
    assert seen(bert, cursor)[0] == set()
    assert seen(anna, cursor)[0] == {"fleet"}  # a cursor is a place in the log, whoever uses it
    assert anna.get("/changes?xid=/messagegroups/ovens")["events"] == []
    assert anna.get("/changes?values&xid=/messagegroups/ovens")["changes"] == []


def test_short_urls_lead_to_what_may_be_read(anna: Principal, bert: Principal, admin: Principal) -> None:
    assert admin.ask("PATCH", "/capabilities", {"shortself": True}).status == 200
    short = bert.get("/messagegroups/ovens")["shortself"].partition("example")[2]
    assert bert.ask("GET", short).status == 308
    assert anna.ask("GET", short).status == 404


def subscription(sink: str = "http://127.0.0.1:1/hook") -> dict[str, str]:
    return {"sink": sink, "protocol": "HTTP"}


def test_subscriptions_belong_to_whoever_made_them(anna: Principal, bert: Principal, admin: Principal) -> None:
    mine = anna.ask("POST", "/subscriptions", subscription()).json
    assert mine["owner"] == "anna"
    bert.ask("POST", "/subscriptions", subscription())
    assert [one["id"] for one in anna.get("/subscriptions")] == [mine["id"]]
    assert {one["owner"] for one in admin.get("/subscriptions")} == {"anna", "bert"}
    path = f"/subscriptions/{mine['id']}"
    for method, rest, body in [
        ("GET", "", b""),
        ("PUT", "", subscription()),
        ("DELETE", "", b""),
        ("GET", "/delivery", b""),
        ("GET", "/deadletters", b""),
        ("POST", "/resume", b""),
    ]:
        foreign, absent = (bert.ask(method, f"{one}{rest}", body) for one in (path, "/subscriptions/none"))
        assert (foreign.status, absent.status) == (404, 404)
        assert len(foreign.raw) == len(absent.raw)
    shown = anna.get(path)
    assert anna.ask("PUT", path, {**shown, "owner": "bert"}).json["owner"] == "anna"
    assert admin.ask("PUT", path, shown).json["owner"] == "anna"
    assert admin.ask("DELETE", path).status == 200


@pytest.mark.parametrize(
    ("subject", "is_shown"),
    [
        ("/messagegroups/fleet/messages/moved", True),
        ("/messagegroups/ovens", False),
        ("/messagegroups/ovens/messages/moved/versions/1", False),
        ("/messagecatalog/fleet/messagedefinitions/moved/versions/2", True),
        ("/messagecatalog/ovens", False),
        ("/messagecatalog/ovens/messagedefinitions/moved", False),
        ("/", True),
        ("/model", True),
    ],
)
def test_an_event_that_did_not_arrive_is_shown_while_it_may_be_read(
    anna: Principal, admin: Principal, subject: str, is_shown: bool
) -> None:
    path = f"/subscriptions/{anna.ask('POST', '/subscriptions', subscription()).json['id']}"
    event = {"id": "1", "type": "io.xregistry.group.updated", "subject": subject}
    with anna.store.write() as tx:
        progress = read_progress(tx, path.rpartition("/")[2])
        stuck = msgspec.structs.replace(progress, status="dead", error="no", event=event)
        put_progress(tx, path.rpartition("/")[2], stuck)
    assert ("event" in anna.get(f"{path}/delivery")) == is_shown
    assert admin.get(f"{path}/delivery")["event"] == event
    assert anna.ask("POST", f"{path}/resume?skip").status == 200
    assert bool(anna.get(f"{path}/deadletters")) == is_shown
    assert [letter["event"] for letter in admin.get(f"{path}/deadletters")] == [event]


@pytest.mark.parametrize(
    ("secret", "by_anna", "by_admin"), [("env:SINK_KEY_HOOK", 400, 201), ("env:HOME", 400, 400), ("p4ss", 201, 201)]
)
def test_only_administrators_have_secrets_of_the_service_sent_to_sinks(
    anna: Principal, admin: Principal, secret: str, by_anna: int, by_admin: int
) -> None:
    given = {**subscription(), "sinkcredential": {"credentialtype": "PLAIN", "identifier": "x", "secret": secret}}
    assert [who.ask("POST", "/subscriptions", given).status for who in (anna, admin)] == [by_anna, by_admin]


def test_nobody_in_particular_has_no_subscriptions(fleets: Store) -> None:
    anonymous = Principal(fleets, permitted(read="/", name="anonymous"), SETTINGS)
    assert anonymous.ask("GET", "/subscriptions").problem == "unauthorized"
    assert anonymous.ask("POST", "/subscriptions", subscription()).status == 401
    assert anonymous.ask("GET", "/subscriptions/none/confirm?key=x").status == 404


def test_a_replica_gets_what_its_reader_may_read(anna: Principal, bert: Principal, admin: Principal) -> None:
    overviews = [who.get("/-/replication/overview") for who in (anna, bert, admin)]
    assert [set(one["groups"]) for one in overviews] == [
        {"/messagegroups/fleet"},
        {"/messagegroups/ovens"},
        {"/messagegroups/fleet", "/messagegroups/ovens"},
    ]
    groups = json.dumps(["/messagegroups/ovens", "/messagegroups/fleet"]).encode()
    assert {xid.split("/")[2] for xid in anna.ask("POST", "/-/replication/entries", groups).json} == {"fleet"}
    units = json.dumps(["/messagegroups/ovens/messages/moved", "/messagegroups/fleet/messages/moved"]).encode()
    assert len(anna.ask("POST", "/-/replication/units", units).json["units"]) == 1
    bert.ask("PATCH", "/messagegroups/ovens/messages/moved", {"name": "x"})
    assert anna.get("/-/replication/overview")["digest"] == overviews[0]["digest"]
    assert bert.get("/-/replication/overview")["digest"] != overviews[1]["digest"]
    anna.ask("PATCH", "/messagegroups/fleet/messages/moved", {"name": "x"})
    assert anna.get("/-/replication/overview")["digest"] != overviews[0]["digest"]


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "batches"), ("GET", "states/x"), ("GET", "links"), ("PUT", "links/x"), ("DELETE", "links/x")],
)
def test_links_and_what_comes_in_by_them_are_for_administrators(anna: Principal, method: str, path: str) -> None:
    assert anna.refused(method, f"/-/replication/{path}", {}) == (403, "admin on /")
