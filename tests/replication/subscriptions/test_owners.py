"""Events go to whom they may be shown at that moment: the permissions of a subscription's owner, asked at delivery."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from postroom.catalog.open_store import open_store
from postroom.registry.operations import import_document
from postroom.registry.permissions import Permissions, Prefixes
from postroom.replication.subscriptions import subscription_store
from postroom.replication.subscriptions.delivery_progress import DeliveryProgress, RetryPolicy
from postroom.replication.subscriptions.dispatcher import EventDispatcher
from postroom.settings import Settings
from tests.replication.subscriptions.receivers import Receiver, Says, wait_until

BASE = "https://bakery.example"
SETTINGS = Settings(sink_hosts=("127.0.0.1",), sink_private=True, timeout_s=20.0)
CREATED = "io.xregistry.group.created"


class Office:
    """A registry with access on: `grants` has what principals may read."""

    def __init__(self, folder: Path) -> None:
        self.store = open_store(f"sqlite:///{folder}/registry.db")
        self.grants: dict[str, str] = {"anna": "/messagegroups/fleet*", "bert": "/messagegroups/ovens"}
        policy = RetryPolicy(first_s=0.02, most_s=0.1)
        self.dispatcher = EventDispatcher(self.store, SETTINGS, policy, poll_s=0.01, permissions_of=self.permissions)
        self.dispatcher.start()

    def permissions(self, principal: str) -> Permissions | None:
        read = self.grants.get(principal)
        return None if read is None else Permissions(principal=principal, read=Prefixes(read.split()))

    def subscribe(self, principal: str, sink: str, **members: Any) -> str:
        document = {"sink": sink, "protocol": "HTTP", "types": [CREATED], **members}
        with self.store.seen_by(Permissions(principal=principal)).write() as tx:
            return subscription_store.create(tx, document, BASE, SETTINGS).id

    def groups(self, *names: str) -> None:
        for name in names:
            with self.store.write() as tx:
                import_document(tx, {"messagegroups": {name: {}}})

    def progress(self, subscription_id: str) -> DeliveryProgress:
        with self.store.read() as tx:
            return subscription_store.read_progress(tx, subscription_id)


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    opened = Office(tmp_path)
    yield opened
    opened.dispatcher.stop()
    opened.store.close()


@pytest.fixture
def receivers() -> Iterator[tuple[Receiver, Receiver]]:
    made = Receiver(), Receiver()
    yield made
    for receiver in made:
        receiver.close()


def subjects(receiver: Receiver) -> list[str]:
    return [event["subject"].rpartition("/")[2] for event in receiver.events]


def test_each_owner_gets_the_events_that_they_may_read(office: Office, receivers: tuple[Receiver, Receiver]) -> None:
    for principal, receiver in zip(("anna", "bert"), receivers, strict=True):
        office.subscribe(principal, receiver.url)
    office.groups("fleet", "ovens", "lathes", "fleet2")
    receivers[0].wait(2)
    receivers[1].wait(1)
    assert [subjects(receiver) for receiver in receivers] == [["fleet", "fleet2"], ["ovens"]]


def test_a_grant_that_is_gone_by_the_time_of_delivery_does_not_count(
    office: Office, receivers: tuple[Receiver, Receiver]
) -> None:
    receiver = receivers[0]
    receiver.script = [Says(503)] * 3
    subscription = office.subscribe("anna", receiver.url)
    office.groups("fleet.one")
    wait_until(lambda: office.progress(subscription).attempts > 0, "the sink is busy")
    office.groups("fleet.two", "fleet.three")
    office.grants["anna"] = "/messagegroups/fleet.three"
    receiver.script = []
    wait_until(lambda: "fleet.three" in subjects(receiver), "the queue goes on")
    assert "fleet.two" not in subjects(receiver)


def test_permissions_are_asked_before_every_event_of_a_batch(
    office: Office, receivers: tuple[Receiver, Receiver]
) -> None:
    receiver = receivers[0]
    receiver.script = [Says(after=0.5)]
    office.groups("fleet.one", "fleet.two", "fleet.three")
    subscription = office.subscribe("anna", receiver.url, config={"after": ""})
    receiver.wait(1)
    office.grants["anna"] = "/messagegroups/fleet.one /messagegroups/fleet.four"  # while the first event is sent
    office.groups("fleet.four")
    receiver.wait(2)
    assert subjects(receiver) == ["fleet.one", "fleet.four"]
    assert office.progress(subscription).status == "active"


def test_a_principal_who_is_no_more_stops_the_delivery_and_the_owner_s_name_says_why(
    office: Office, receivers: tuple[Receiver, Receiver]
) -> None:
    subscription = office.subscribe("anna", receivers[0].url)
    del office.grants["anna"]
    office.groups("fleet")
    wait_until(lambda: office.progress(subscription).status == "dead", "it is stopped")
    assert office.progress(subscription).error == "its owner (anna) has no access here"
    assert subjects(receivers[0]) == []


def test_a_subscription_from_before_access_was_on_waits_for_an_administrator(
    office: Office, receivers: tuple[Receiver, Receiver]
) -> None:
    with office.store.write() as tx:
        document = {"sink": receivers[0].url, "protocol": "HTTP", "types": [CREATED]}
        subscription = subscription_store.create(tx, document, BASE, SETTINGS).id
    office.groups("fleet")
    wait_until(lambda: office.progress(subscription).status == "dead", "it is stopped")
    office.grants["root"] = "/"
    everything = Prefixes(["/"])
    root = Permissions(principal="root", read=everything, write=everything, own=everything, is_admin=True)
    with office.store.seen_by(root).write() as tx:
        assert subscription_store.replace(tx, subscription, document, SETTINGS).owner == "root"
        subscription_store.resume(tx, subscription)
    receivers[0].wait(1)
    assert subjects(receivers[0]) == ["fleet"]
