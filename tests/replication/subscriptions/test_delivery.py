"""Deliveries to a real web hook: in order, at least once, whatever the hook does."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import logging
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from postroom.catalog.open_store import open_store
from postroom.replication.subscriptions import subscription_store
from postroom.replication.subscriptions.delivery_progress import DeliveryProgress, RetryPolicy
from postroom.replication.subscriptions.dispatcher import EventDispatcher
from postroom.replication.subscriptions.sinks.allowed_addresses import resolve
from postroom.replication.subscriptions.sinks.http import HttpSink, retry_after
from postroom.replication.subscriptions.sinks.sink import DeliveryFailed
from postroom.settings import Settings
from tests.registry.conftest import RegistryClient
from tests.replication.subscriptions.receivers import Receiver, Says, wait_until

BASE = "https://bakery.example"
POLICY = RetryPolicy(first_s=0.02, most_s=0.1)
SETTINGS = Settings(sink_hosts=("127.0.0.1",), sink_private=True, timeout_s=20.0)
CREATED = "io.xregistry.group.created"
REFRESHABLE = {
    "credentialtype": "REFRESHTOKEN",
    "accesstoken": "old",
    "accesstokenexpiresutc": "2020-01-01T00:00:00Z",
    "accesstokentype": "bearer",
    "refreshtoken": "r1",
}


class Office(RegistryClient):
    """A registry whose events are delivered."""

    def __init__(self, folder: Path, settings: Settings = SETTINGS, policy: RetryPolicy = POLICY) -> None:
        super().__init__(open_store(f"sqlite:///{folder}/registry.db"))
        self.settings = settings
        self.dispatcher = EventDispatcher(self.store, settings, policy, poll_s=0.01)
        self.dispatcher.start()

    def subscribe(self, sink: str, **members: Any) -> str:
        document = {"sink": sink, "protocol": "HTTP", "types": [CREATED], **members}
        with self.store.write() as tx:
            return subscription_store.create(tx, document, BASE, self.settings).id

    def group(self, name: str) -> None:
        self.put(f"/messagegroups/{name}", {})

    def progress(self, subscription_id: str) -> DeliveryProgress:
        with self.store.read() as tx:
            return subscription_store.read_progress(tx, subscription_id)

    def resume(self, subscription_id: str, **how: Any) -> None:
        with self.store.write() as tx:
            subscription_store.resume(tx, subscription_id, **how)

    def wait_for(self, subscription_id: str, status: str) -> DeliveryProgress:
        wait_until(
            lambda: self.progress(subscription_id).status == status, f"{status} {self.progress(subscription_id)}"
        )
        return self.progress(subscription_id)

    def close(self) -> None:
        self.dispatcher.stop()
        self.store.close()


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    opened = Office(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.close()


def grants(granted: dict[str, Any]) -> Says:
    """What a token endpoint answers."""
    body = json.dumps(granted).encode()
    return Says(raw=b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))


def subjects(receiver: Receiver) -> list[str]:
    return [event["subject"].rpartition("/")[2] for event in receiver.events]


@pytest.mark.feature("SUB-004", "SUB-010", "SUB-019")
def test_events_arrive_as_structured_cloudevents(office: Office, receiver: Receiver) -> None:
    office.group("before")
    office.subscribe(receiver.url, protocolsettings={"headers": {"X-Shop": "7"}})
    office.group("ovens")
    (got,) = receiver.wait(1)
    assert (got.method, got.path) == ("POST", "/hook?room=7")
    assert got.headers["content-type"] == "application/cloudevents+json"
    assert got.headers["host"] == f"127.0.0.1:{receiver.port}"
    assert got.headers["x-shop"] == "7"
    assert got.event["type"] == CREATED
    assert got.event["source"] == BASE
    assert got.event["subject"] == "/messagegroups/ovens"
    assert "webhook-signature" not in got.headers


@pytest.mark.feature("SUB-010", "SUB-019")
def test_binary_mode_and_another_method(office: Office, receiver: Receiver) -> None:
    office.subscribe(
        receiver.url,
        types=[CREATED, "io.xregistry.registry.updated"],
        protocolsettings={"mode": "binary", "method": "PUT"},
    )
    office.group("ovens")
    received = receiver.wait(2)
    assert {got.method for got in received} == {"PUT"}
    by_type = {got.headers.get("ce-type") or got.event["type"]: got for got in received}
    updated = by_type["io.xregistry.registry.updated"]
    assert updated.headers["content-type"] == "application/json"
    assert updated.headers["ce-subject"] == "/"
    assert "messagegroups" in json.loads(updated.body)["changed"]
    # An event without data has a body all the same.
    created = by_type[CREATED]
    assert created.headers["content-type"] == "application/cloudevents+json"
    assert created.event["subject"] == "/messagegroups/ovens"


@pytest.mark.feature("SUB-003", "SUB-004", "SUB-005")
def test_source_types_and_filters_all_decide(office: Office, receiver: Receiver) -> None:
    cases: dict[str, dict[str, Any]] = {
        "source": {"source": BASE + "/"},
        "catalog": {"source": BASE + "/messagecatalog", "types": None},
        "othertype": {"types": ["io.xregistry.group.deleted"]},
        "filter": {"filters": [{"suffix": {"subject": "ovens"}}, {"sql": "EXISTS xregcorrelationid"}]},
        "otherfilter": {"filters": [{"suffix": {"subject": "ovens"}}, {"sql": "EXISTS missing"}]},
        "nofilter": {"filters": []},
    }
    for name, members in cases.items():
        office.subscribe(f"{receiver.url}&case={name}", **members)
    office.group("ovens")
    office.subscribe(f"{receiver.url}&case=last", filters=[{"suffix": {"subject": "end"}}])
    office.group("end")
    wait_until(lambda: any("case=last" in got.path for got in receiver.received))
    wait_until(lambda: len(receiver.received) >= 6)
    wait_until(lambda: any("case=catalog" in got.path for got in receiver.received))
    arrived = {got.path.partition("case=")[2] for got in receiver.received if got.event["subject"].endswith("ovens")}
    assert arrived == {"source", "catalog", "filter", "nofilter"}


@pytest.mark.feature("SUB-016", "SUB-017")
def test_the_message_catalog_is_subscribed_by_a_prefix_of_its_paths(office: Office, receiver: Receiver) -> None:
    with office.store.write() as tx:
        older = {
            "source": BASE,
            "protocol": "HTTP",
            "sink": receiver.url,
            "filter": {"prefix": {"subject": "/messagecatalog/ovens"}},
        }
        subscription_store.create(tx, older, BASE, office.settings)
    office.put("/messagegroups/ovens", {"messages": {"heated": {}}})
    office.put("/messagegroups/boats", {"messages": {"sunk": {}}})
    office.delete("/messagegroups/ovens/messages/heated")
    wait_until(lambda: any(event["type"].endswith(".deleted.v1") for event in receiver.events))
    assert {event["source"] for event in receiver.events} == {BASE}
    assert all(event["subject"].startswith("/messagecatalog/ovens") for event in receiver.events)
    assert all(event["type"].startswith("io.cloudevents.messagecatalog.") for event in receiver.events)
    assert all("data" not in event for event in receiver.events)


@pytest.mark.audit("services-C4")
@pytest.mark.parametrize("end", ["/messagecatalog", "/messagecatalog/", "/-/messagecatalog"])
def test_the_message_catalog_is_a_source_of_its_own_events(office: Office, receiver: Receiver, end: str) -> None:
    office.subscribe(receiver.url, source=BASE + end, types=None)
    office.put("/messagegroups/ovens", {"messages": {"heated": {}}})
    office.put("/schemagroups/loaves", {})
    office.delete("/messagegroups/ovens/messages/heated")
    wait_until(lambda: any(event["type"].endswith(".deleted.v1") for event in receiver.events))
    assert {event["source"] for event in receiver.events} == {BASE + end.rstrip("/")}
    assert {event["subject"].split("/")[1] for event in receiver.events} == {"messagecatalog"}


@pytest.mark.feature("SUB-018")
def test_a_sink_is_asked_before_it_gets_events(office: Office, receiver: Receiver) -> None:
    receiver.consents = {}
    subscription = office.subscribe(receiver.url)
    office.group("ovens")
    wait_until(lambda: len(receiver.asked) >= 2)
    assert receiver.received == []
    assert "does not allow" in office.progress(subscription).error
    asked = receiver.asked[0]
    assert (asked.method, asked.path) == ("OPTIONS", "/hook?room=7")
    assert asked.headers["webhook-request-origin"] == "bakery.example"
    receiver.consents = {"WebHook-Allowed-Origin": "Bakery.example", "WebHook-Allowed-Rate": "6000"}
    (got,) = receiver.wait(1)
    assert got.headers["webhook-request-origin"] == "bakery.example"
    assert office.wait_for(subscription, "active").rate == 6000
    count = len(receiver.asked)
    office.group("boats")
    receiver.wait(2)
    assert len(receiver.asked) == count


@pytest.mark.feature("SUB-018")
@pytest.mark.parametrize(
    "consents",
    [
        {"WebHook-Allowed-Origin": "elsewhere.example"},
        {"WebHook-Allowed-Origin": "*", "WebHook-Allowed-Rate": "0"},
        {"WebHook-Allowed-Origin": "*", "WebHook-Allowed-Rate": "many"},
        {"Access-Control-Allow-Origin": "*"},
    ],
)
def test_what_is_no_consent(office: Office, receiver: Receiver, consents: dict[str, str]) -> None:
    receiver.consents = consents
    subscription = office.subscribe(receiver.url)
    office.group("ovens")
    wait_until(lambda: office.progress(subscription).attempts >= 2)
    assert office.progress(subscription).status == "unconfirmed"
    assert receiver.received == []


@pytest.mark.feature("SUB-018")
def test_consent_by_calling_back(office: Office, receiver: Receiver) -> None:
    receiver.consents = {}
    subscription = office.subscribe(receiver.url)
    office.group("ovens")
    wait_until(lambda: receiver.asked)
    callback = receiver.asked[0].headers["webhook-request-callback"]
    address, _, key = callback.partition("?key=")
    assert address == f"{BASE}/-/subscriptions/{subscription}/confirm"
    with office.store.write() as tx:
        assert not subscription_store.confirm(tx, subscription, "guessed", 0)
        assert subscription_store.confirm(tx, subscription, key, 6000)
        assert not subscription_store.confirm(tx, subscription, key, 6000)
    receiver.wait(1)
    assert office.progress(subscription).rate == 6000


@pytest.mark.feature("SUB-018")
def test_the_allowed_rate_is_kept(office: Office, receiver: Receiver) -> None:
    receiver.consents = {"WebHook-Allowed-Origin": "*", "WebHook-Allowed-Rate": "600"}
    office.subscribe(receiver.url)
    for number in range(4):
        office.group(f"g{number}")
    started = time.monotonic()
    receiver.wait(4)
    # A tenth of a second apart each: a loaded machine can only be slower.
    assert time.monotonic() - started > 0.15
    assert subjects(receiver) == [f"g{number}" for number in range(4)]


def test_without_the_handshake(tmp_path: Path, receiver: Receiver) -> None:
    settings = msgspec.structs.replace(SETTINGS, sink_handshake=False, webhook_origin="post.example")
    office = Office(tmp_path, settings)
    try:
        office.subscribe(receiver.url)
        office.group("ovens")
        (got,) = receiver.wait(1)
        assert got.headers["webhook-request-origin"] == "post.example"
        assert receiver.asked == []
    finally:
        office.close()


@pytest.mark.feature("SUB-020")
def test_a_redirect_is_not_followed(office: Office, receiver: Receiver) -> None:
    other = Receiver()
    receiver.script = [Says(307, {"Location": other.url})]
    subscription = office.subscribe(receiver.url)
    office.group("ovens")
    dead = office.wait_for(subscription, "dead")
    assert "redirects are not followed" in dead.error
    assert other.received == []
    other.close()


@pytest.mark.feature("SUB-020")
def test_too_many_requests_are_held_back_as_long_as_the_sink_says(office: Office, receiver: Receiver) -> None:
    receiver.script = [Says(429, {"Retry-After": "1"})]
    subscription = office.subscribe(receiver.url)
    office.group("ovens")
    receiver.wait(1)
    first = time.monotonic()
    receiver.wait(2)
    assert time.monotonic() - first > 0.8
    assert receiver.events[0]["id"] == receiver.events[1]["id"]
    wait_until(lambda: office.progress(subscription).delivered == 1)


@pytest.mark.feature("SUB-020")
@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("7", 7, 7),
        ("99999999999999999999", 86400, 86400),
        ("Fri, 31 Dec 2999 23:59:59 GMT", 86400, 86400),
        ("Fri, 31 Dec 1999 23:59:59 GMT", 0, 0),
        ("soon", 0, 0),
        ("Fri, 31 Dec 1999 23:59:59 +99999999999999999999", 0, 0),
        ("Fri, 99999999999999999999 Dec 1999 23:59:59 GMT", 0, 0),
        ("-7", 0, 0),
        ("", 0, 0),
    ],
)
def test_retry_after(text: str, least: float, most: float) -> None:
    assert least <= retry_after(text) <= most


@pytest.mark.feature("SUB-021")
def test_gone_ends_the_subscription(office: Office, receiver: Receiver) -> None:
    receiver.script = [Says(410)]
    subscription = office.subscribe(receiver.url)
    other = office.subscribe(f"{receiver.url}&case=other", filters=[{"suffix": {"subject": "boats"}}])
    office.group("ovens")
    ended = office.wait_for(subscription, "ended")
    assert "410" in ended.error
    office.group("boats")
    wait_until(lambda: office.progress(other).delivered == 1)
    assert [got.path for got in receiver.received] == ["/hook?room=7", "/hook?room=7&case=other"]
    # A person can have it all delivered after all; the sink is asked again.
    asked = len(receiver.asked)
    office.resume(subscription)
    receiver.wait(4)
    assert len(receiver.asked) > asked
    assert office.wait_for(subscription, "active").error == ""


@pytest.mark.parametrize(
    "trouble",
    [
        Says(500),
        Says(404),
        Says(503, {"Retry-After": "0"}),
        Says(raw=b"this is no HTTP\r\n\r\n"),
        Says(raw=b"HTTP/1.1 999\r\nContent-Length: x\r\n\r\n"),
        Says(raw=b""),
        Says(raw=b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n"),
    ],
    ids=["500", "404", "503", "garbage", "odd", "silence", "headers"],
)
def test_trouble_that_may_pass_is_tried_again_in_order(office: Office, receiver: Receiver, trouble: Says) -> None:
    receiver.script = [trouble] * 2
    subscription = office.subscribe(receiver.url)
    for name in ("a", "b", "c"):
        office.group(name)
    wait_until(lambda: office.progress(subscription).delivered == 3)
    assert subjects(receiver) == ["a", "a", "a", "b", "c"]
    recovered = office.progress(subscription)
    assert (recovered.status, recovered.error, recovered.attempts) == ("active", "", 0)


def test_an_error_that_nobody_expected_is_tried_again(
    office: Office, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    real, failures = HttpSink.send, iter([RuntimeError("a bug"), ValueError("another")])

    def send(sink: HttpSink, event: dict[str, Any]) -> None:
        for failure in failures:
            raise failure
        real(sink, event)

    monkeypatch.setattr(HttpSink, "send", send)
    subscription = office.subscribe(receiver.url)
    office.group("ovens")
    wait_until(lambda: office.progress(subscription).delivered == 1)
    assert office.progress(subscription).status == "active"
    assert caplog.text.count("a bug") == 1


def test_a_long_answer_is_not_read_to_its_end(office: Office, receiver: Receiver) -> None:
    receiver.script = [Says(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n" + b"x" * 200_000)]
    subscription = office.subscribe(receiver.url)
    office.group("a")
    office.group("b")
    wait_until(lambda: office.progress(subscription).delivered == 2)
    assert subjects(receiver) == ["a", "b"]


def test_a_sink_that_hangs_is_given_up_and_holds_up_nobody(tmp_path: Path, receiver: Receiver) -> None:
    office = Office(tmp_path, msgspec.structs.replace(SETTINGS, timeout_s=1.5))
    slow = Receiver()
    slow.script = [Says(after=60)]
    dripping = _Dripping()
    try:
        hanging = office.subscribe(slow.url)
        stuck = office.subscribe(dripping.url)
        office.subscribe(receiver.url)
        for name in ("a", "b", "c"):
            office.group(name)
        receiver.wait(3)
        assert subjects(receiver) == ["a", "b", "c"]
        assert office.progress(hanging).delivered == office.progress(stuck).delivered == 0
        slow.wait(4)
        assert subjects(slow) == ["a", "a", "b", "c"]
        wait_until(lambda: "does not answer within 1.5 seconds" in office.progress(stuck).error)
    finally:
        office.close()
        slow.close()
        dripping.close()


class _Dripping:
    """A sink whose answer comes byte by byte, forever."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}/"
        self._closed = threading.Event()
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._closed.set()
        self._listening.close()

    def _serve(self) -> None:
        try:
            while True:
                connection, _ = self._listening.accept()
                threading.Thread(target=self._drip, args=(connection,), daemon=True).start()
        except OSError:
            return

    def _drip(self, connection: socket.socket) -> None:
        try:
            connection.send(b"HTTP/1.1 200 OK\r\nX: ")
            while not self._closed.wait(0.1):
                connection.send(b"x")
        except OSError:
            return


def test_what_a_sink_refuses_waits_for_a_person(office: Office, receiver: Receiver) -> None:
    receiver.script = [Says(415), Says(415)]
    subscription = office.subscribe(receiver.url)
    for name in ("a", "b", "c"):
        office.group(name)
    dead = office.wait_for(subscription, "dead")
    shown = dead.shown()
    assert (shown["status"], shown["attempts"], shown["event"]["subject"]) == ("dead", 1, "/messagegroups/a")
    assert "415" in shown["error"]
    assert "nextattempt" not in shown
    # Again in vain, and then without it.
    office.resume(subscription)
    receiver.wait(2)
    wait_until(lambda: office.progress(subscription).status == "dead" and office.progress(subscription).attempts == 1)
    office.resume(subscription, skip=True)
    wait_until(lambda: office.progress(subscription).delivered == 2)
    assert subjects(receiver) == ["a", "a", "b", "c"]
    with office.store.read() as tx:
        (letter,) = subscription_store.dead_letters(tx, subscription)
    assert (letter["event"]["subject"], letter["reason"]) == ("/messagegroups/a", dead.error)
    with office.store.write() as tx:
        subscription_store.remove(tx, subscription)
        assert tx.records(subscription_store.DEAD_LETTER) == tx.records(subscription_store.PROGRESS) == []


def test_patience_ends(tmp_path: Path, receiver: Receiver) -> None:
    office = Office(tmp_path, policy=RetryPolicy(first_s=0.02, most_s=0.05, give_up_s=0.3))
    try:
        receiver.script = [Says(500)] * 1000
        subscription = office.subscribe(receiver.url)
        office.group("ovens")
        dead = office.wait_for(subscription, "dead")
        assert dead.attempts > 1
        receiver.script = []
        office.resume(subscription)
        office.wait_for(subscription, "active")
    finally:
        office.close()


def test_the_time_between_attempts_grows_and_differs() -> None:
    policy = RetryPolicy(first_s=1.0, most_s=60.0)
    for attempts, longest in [(1, 1.0), (2, 2.0), (5, 16.0), (7, 60.0), (10_000, 60.0)]:
        pauses = {policy.pause(attempts) for _ in range(20)}
        assert len(pauses) > 1
        assert all(longest / 2 <= pause <= longest for pause in pauses)


def test_two_events_of_one_change_are_each_sent_once(office: Office, receiver: Receiver) -> None:
    kinds = ["io.xregistry.resource.created", "io.cloudevents.messagecatalog.updated.v1"]
    office.group("ovens")
    receiver.script = [Says(), Says(500), Says(500)]
    subscription = office.subscribe(receiver.url, types=kinds, filters=[{"suffix": {"subject": "heated"}}])
    office.put("/messagegroups/ovens/messages/heated", {})
    wait_until(lambda: office.progress(subscription).delivered == 2)
    assert [event["type"] for event in receiver.events] == [kinds[0], kinds[1], kinds[1], kinds[1]]


def test_a_subscription_begins_where_it_is_told_to(office: Office, receiver: Receiver) -> None:
    office.group("a")
    with office.store.read() as tx:
        mark = getattr(tx.last_change(), "mark", "")
    office.group("b")
    office.subscribe(receiver.url, config={"after": mark})
    office.group("c")
    receiver.wait(2)
    assert subjects(receiver) == ["b", "c"]


def test_events_say_what_changed_only_where_that_is_wanted(tmp_path: Path, receiver: Receiver) -> None:
    office = Office(tmp_path, msgspec.structs.replace(SETTINGS, changes_name_attributes=False))
    try:
        office.subscribe(receiver.url, types=["io.xregistry.registry.updated"])
        office.group("ovens")
        (got,) = receiver.wait(1)
        assert "data" not in got.event
    finally:
        office.close()


def test_a_log_that_went_back_in_time_is_told(office: Office, receiver: Receiver) -> None:
    subscription = office.subscribe(receiver.url)
    office.wait_for(subscription, "active")
    with office.store.write() as tx:
        progress = subscription_store.read_progress(tx, subscription)
        foreign = msgspec.structs.replace(progress, cursor="fff-00000000", revision=progress.revision + 1)
        subscription_store.put_progress(tx, subscription, foreign)
    assert "changes are missing" in office.wait_for(subscription, "dead").error
    office.resume(subscription, after="last")
    office.group("ovens")
    receiver.wait(1)


def test_a_change_of_the_sink_takes_effect(office: Office, receiver: Receiver) -> None:
    receiver.script = [Says(500)] * 1000
    subscription = office.subscribe(receiver.url)
    office.group("ovens")
    wait_until(lambda: office.progress(subscription).attempts > 1)
    other = Receiver()
    with office.store.write() as tx:
        document = {"sink": other.url, "protocol": "HTTP", "types": [CREATED]}
        subscription_store.replace(tx, subscription, document, office.settings)
    other.wait(1)
    assert len(other.asked) == 1
    office.wait_for(subscription, "active")
    other.close()


def test_a_deleted_subscription_gets_nothing(office: Office, receiver: Receiver) -> None:
    receiver.script = [Says(500)] * 1000
    subscription = office.subscribe(receiver.url)
    office.group("ovens")
    receiver.wait(2)
    with office.store.write() as tx:
        subscription_store.remove(tx, subscription)
    other = office.subscribe(receiver.url + "&case=other")
    office.group("boats")
    wait_until(lambda: any("other" in got.path for got in receiver.received))
    seen = len(receiver.received)
    wait_until(lambda: len(receiver.received) > seen + 2)
    assert all("other" in got.path for got in receiver.received[seen + 1 :])
    with office.store.read() as tx:
        assert [found for found, _ in tx.records(subscription_store.PROGRESS)] == [other]


def test_deliveries_are_signed(tmp_path: Path, receiver: Receiver) -> None:
    key = b"a key that is long enough"
    secret = "whsec_" + base64.b64encode(key).decode()
    office = Office(tmp_path, msgspec.structs.replace(SETTINGS, webhook_secret=secret))
    try:
        subscription = office.subscribe(receiver.url)
        receiver.script = [Says(500)]
        office.group("ovens")
        first, second = receiver.wait(2)
        for got in (first, second):
            signed = f"{got.headers['webhook-id']}.{got.headers['webhook-timestamp']}.".encode() + got.body
            digest = hmac.digest(key, signed, hashlib.sha256)
            assert got.headers["webhook-signature"] == "v1," + base64.b64encode(digest).decode()
        assert first.headers["webhook-id"] == second.headers["webhook-id"]
        assert first.headers["webhook-id"].startswith(subscription)
    finally:
        office.close()


def test_a_secret_may_be_in_a_variable_of_the_service(
    office: Office, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    credential = {"credentialtype": "PLAIN", "identifier": "baker", "secret": "env:SINK_KEY_BAKERY"}
    subscription = office.subscribe(receiver.url, sinkcredential=credential)
    office.group("ovens")
    wait_until(lambda: "SINK_KEY_BAKERY" in office.progress(subscription).error)
    monkeypatch.setenv("SINK_KEY_BAKERY", "p4ss\n")
    assert receiver.wait(1)[0].headers["authorization"] == "Basic YmFrZXI6cDRzcw=="
    with office.store.read() as tx:
        assert all(b"p4ss" not in body for _, body in tx.records(subscription_store.SUBSCRIPTION))


@pytest.mark.feature("SUB-012")
def test_credentials_become_authorization(office: Office, receiver: Receiver) -> None:
    token = {"accesstoken": "t0ken", "accesstokenexpiresutc": "2099-01-01T00:00:00Z", "accesstokentype": "bearer"}
    credentials: dict[str, dict[str, Any]] = {
        "Basic YmFrZXI6cDRzcw==": {"credentialtype": "PLAIN", "identifier": "baker", "secret": "p4ss"},
        "Bearer t0ken": {"credentialtype": "ACCESSTOKEN", **token},
        "Loaf t0ken": {"credentialtype": "ACCESSTOKEN", **token, "accesstokentype": "Loaf"},
    }
    for credential in credentials.values():
        office.subscribe(receiver.url, sinkcredential=credential)
    office.group("ovens")
    assert {got.headers["authorization"] for got in receiver.wait(3)} == set(credentials)


@pytest.mark.feature("SUB-012")
def test_a_token_that_has_expired_needs_another_one(office: Office, receiver: Receiver) -> None:
    token = {"accesstoken": "old", "accesstokenexpiresutc": "2020-01-01T00:00:00Z", "accesstokentype": "bearer"}
    subscription = office.subscribe(receiver.url, sinkcredential={"credentialtype": "ACCESSTOKEN", **token})
    office.group("ovens")
    assert "expired" in office.wait_for(subscription, "dead").error
    fresh = {**token, "accesstoken": "new", "accesstokenexpiresutc": "2099-01-01T00:00:00Z"}
    with office.store.write() as tx:
        document = {
            "sink": receiver.url,
            "protocol": "HTTP",
            "sinkcredential": {"credentialtype": "ACCESSTOKEN", **fresh},
        }
        subscription_store.replace(tx, subscription, {**document, "types": [CREATED]}, office.settings)
    (got,) = receiver.wait(1)
    assert got.headers["authorization"] == "Bearer new"


@pytest.mark.feature("SUB-012")
def test_a_token_is_had_anew(office: Office, receiver: Receiver) -> None:
    tokens = Receiver()
    granted = {"access_token": "new", "expires_in": 3600, "refresh_token": "r2", "token_type": "bearer"}
    tokens.script = [Says(500), grants(granted)]
    subscription = office.subscribe(receiver.url, sinkcredential={**REFRESHABLE, "refreshtokenendpoint": tokens.url})
    office.group("ovens")
    office.group("boats")
    received = receiver.wait(2)
    assert {got.headers["authorization"] for got in received} == {"Bearer new"}
    assert [got.body for got in tokens.received] == [b"grant_type=refresh_token&refresh_token=r1"] * 2
    with office.store.read() as tx:
        kept = subscription_store.read(tx, subscription).sinkcredential
    assert (getattr(kept, "accesstoken", ""), getattr(kept, "refreshtoken", "")) == ("new", "r2")
    tokens.close()


@pytest.mark.parametrize(
    "granted",
    [
        {"access_token": ""},
        {"access_token": "t" * 20_000},
        {"access_token": "new", "refresh_token": "r" * 20_000},
    ],
)
def test_a_token_that_cannot_be_kept_is_none(office: Office, receiver: Receiver, granted: dict[str, Any]) -> None:
    tokens = Receiver()
    tokens.script = [grants(granted)] * 1000
    subscription = office.subscribe(receiver.url, sinkcredential={**REFRESHABLE, "refreshtokenendpoint": tokens.url})
    office.group("ovens")
    wait_until(lambda: "gives no token that can be read" in office.progress(subscription).error)
    with office.store.read() as tx:
        kept = subscription_store.read(tx, subscription).sinkcredential
    assert getattr(kept, "accesstoken", "") == "old"
    tokens.close()


def test_a_token_that_is_granted_for_no_time_at_all_is_used_once(office: Office, receiver: Receiver) -> None:
    tokens = Receiver()
    # One for the question whether events may come, and one for each event.
    tokens.script = [
        grants({"access_token": f"new{number}", "expires_in": -(10**17), "refresh_token": f"r{number + 1}"})
        for number in (1, 2, 3)
    ]
    subscription = office.subscribe(receiver.url, sinkcredential={**REFRESHABLE, "refreshtokenendpoint": tokens.url})
    office.put("/", {"messagegroups": {"ovens": {}, "boats": {}}})
    assert [got.headers["authorization"] for got in receiver.wait(2)] == ["Bearer new2", "Bearer new3"]
    with office.store.read() as tx:
        kept = subscription_store.read(tx, subscription).sinkcredential
    assert getattr(kept, "refreshtoken", "") == "r4"
    tokens.close()


def test_a_token_that_never_was_good(office: Office, receiver: Receiver) -> None:
    credential = {"credentialtype": "ACCESSTOKEN", "accesstoken": "t", "accesstokenexpiresutc": "0001-01-01T00:00:00Z"}
    subscription = office.subscribe(receiver.url, sinkcredential=credential)
    office.group("ovens")
    assert "expired" in office.wait_for(subscription, "dead").error


def test_no_secret_is_logged(office: Office, receiver: Receiver, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    receiver.script = [Says(500), Says(415)]
    subscription = office.subscribe(
        receiver.url, sinkcredential={"credentialtype": "PLAIN", "identifier": "baker", "secret": "p4ss"}
    )
    office.group("ovens")
    dead = office.wait_for(subscription, "dead")
    wait_until(lambda: "is dead now" in caplog.text)
    for text in (caplog.text, str(dead)):
        assert "p4ss" not in text
        assert "YmFrZXI6cDRzcw" not in text


def test_a_name_that_turns_private_gets_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(sink_hosts=("*",))
    target = subscription_store.parse_subscription(
        {"sink": "https://hooks.example/", "protocol": "HTTP"}, "id", BASE, settings
    ).target(settings)

    def found(*addresses: str) -> Any:
        return lambda *_, **__: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, 443)) for one in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", found("8.8.8.8"))
    assert resolve(target, settings) == [(socket.AF_INET, "8.8.8.8")]
    for addresses in (["127.0.0.1"], ["8.8.8.8", "10.0.0.1"]):
        monkeypatch.setattr(socket, "getaddrinfo", found(*addresses))
        with pytest.raises(DeliveryFailed, match="private address"):
            resolve(target, settings)


def test_a_connection_goes_to_the_address_that_was_checked(
    office: Office, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    real = socket.getaddrinfo

    def once(host: str, *arguments: Any, **options: Any) -> Any:
        asked.append(host)
        return real("127.0.0.1" if asked.count("hooks.example") == 1 else "127.0.0.2", *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", once)
    office.settings = office.dispatcher._settings = msgspec.structs.replace(SETTINGS, sink_hosts=("hooks.example",))
    office.subscribe(f"http://hooks.example:{receiver.port}/")
    office.group("ovens")
    (got,) = receiver.wait(1)
    assert got.headers["host"] == f"hooks.example:{receiver.port}"
    assert asked.count("hooks.example") == 1


def test_a_certificate_must_be_for_the_name(
    tmp_path: Path, system_program: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = tmp_path / "hooks.pem"
    command = [system_program("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=hooks.example"]
    extension = ["-addext", "subjectAltName=DNS:hooks.example"]
    subprocess.run(
        [*command, *extension, "-keyout", certificate, "-out", tmp_path / "ca.pem"], check=True, capture_output=True
    )
    certificate.write_text(certificate.read_text() + (tmp_path / "ca.pem").read_text())
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    real = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda _, *rest, **options: real("127.0.0.1", *rest, **options))
    receiver = Receiver(certificate)
    office = Office(tmp_path, msgspec.structs.replace(SETTINGS, sink_hosts=("*",)))
    try:
        good = office.subscribe(f"https://hooks.example:{receiver.port}/")
        bad = office.subscribe(f"https://crooks.example:{receiver.port}/")
        office.group("ovens")
        wait_until(lambda: office.progress(good).delivered == 1, str(office.progress(good)))
        wait_until(lambda: "certificate" in office.progress(bad).error)
        assert [got.headers["host"] for got in receiver.received] == [f"hooks.example:{receiver.port}"]
    finally:
        office.close()
        receiver.close()


def test_a_host_that_is_no_longer_allowed(office: Office, receiver: Receiver) -> None:
    office.dispatcher._settings = msgspec.structs.replace(SETTINGS, sink_hosts=())
    subscription = office.subscribe(receiver.url)
    assert "sink_hosts" in office.wait_for(subscription, "dead").error
    assert receiver.asked == []


@pytest.mark.parametrize(
    ("member", "value"),
    [("filters", [{"exact": {}}]), ("filters", [{"sql": "1 +"}]), ("protocolsettings", {"method": "BREW"})],
)
def test_a_subscription_that_is_no_longer_understood_holds_up_no_other(
    office: Office, receiver: Receiver, member: str, value: Any
) -> None:
    first, second = office.subscribe(receiver.url), office.subscribe(receiver.url)
    for subscription in (first, second):  # what is still asking for consent would deliver as it was asked to before
        office.wait_for(subscription, "active")
    with office.store.write() as tx:
        subscription_store.put(tx, msgspec.structs.replace(subscription_store.read(tx, first), **{member: value}))
    office.group("ovens")
    assert "cannot be used any more" in office.wait_for(first, "dead").error
    wait_until(lambda: office.progress(second).delivered == 1)


def test_one_dispatcher_at_a_time(tmp_path: Path, receiver: Receiver) -> None:
    first, second = Office(tmp_path), Office(tmp_path)
    try:
        subscription = first.subscribe(receiver.url)
        for number in range(20):
            (first, second)[number % 2].group(f"g{number}")
        wait_until(lambda: first.progress(subscription).delivered == 20)
        assert subjects(receiver) == [f"g{number}" for number in range(20)]
        first.close()
        second.group("last")
        receiver.wait(21)
        assert subjects(receiver)[-1] == "last"
    finally:
        second.close()


def test_many_subscriptions_share_one_log(office: Office, receiver: Receiver) -> None:
    names = [f"s{number}" for number in range(100)]
    for name in names:
        office.subscribe(f"{receiver.url}&{name}")
    for group in ("a", "b", "c"):
        office.group(group)
    receiver.wait(300)
    for name in names:
        mine = [got.event["subject"][-1] for got in receiver.received if got.path.endswith(f"&{name}")]
        assert mine == ["a", "b", "c"]
