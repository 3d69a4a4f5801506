"""kill -9 in a storm of writes: of the service on either store, and of the database server itself.

Every write that was acknowledged is there, nothing is half there, the change log agrees, subscribers miss nothing.
`KILLS=50 pytest tests/endurance/test_write_storm.py` is the long form.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from tests.endurance.service_client import SETTINGS, wait_until_ready
from tests.endurance.write_storm import Storm, event_ids
from tests.http.running_service import kill, serving
from tests.postgres import Postgres
from tests.registry.soundness import check_file, check_registry
from tests.replication.subscriptions.receivers import Receiver, wait_until

KILLS = int(os.environ.get("KILLS", "3"))
WRITERS = 4

Record = Callable[[str, object], None]


def subscribe_to_all(url: str, receiver: Receiver) -> None:
    made = httpx.post(f"{url}/subscriptions", json={"sink": receiver.url, "protocol": "HTTP"}, timeout=30)
    assert made.status_code == 201, made.text


def heard_by(receiver: Receiver) -> set[str]:
    """The ids of the events of the registry that arrived; those of the message catalog are told beside them."""
    return {event["id"] for event in receiver.events if event["type"].startswith("io.xregistry.")}


def nobody_missed_anything(url: str, storm: Storm, receiver: Receiver) -> int:
    """The stream told every event once, in order; the web hook heard of each; how many there were."""
    expected = event_ids(url)
    wait_until(lambda: storm.follower.ids[-1:] == expected[-1:])
    assert storm.follower.ids == expected
    wait_until(lambda: heard_by(receiver) >= set(expected))
    assert heard_by(receiver) == set(expected)
    return len(expected)


def report(storm: Storm, changes: int, events: int, record: Record) -> None:
    in_flight = (storm.happened[True], storm.happened[False])
    for name, value in (("acknowledged", storm.acknowledged), ("changes", changes), ("in flight", in_flight)):
        record(name, value)
    print(
        f"\n{KILLS} kills, {storm.acknowledged} acknowledged writes, {changes} changes, {events} events,"
        f" in flight: {in_flight[0]} done, {in_flight[1]} not"
    )
    assert storm.acknowledged > 20 * KILLS


@pytest.mark.feature("REG-083", "REG-084")
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_what_was_acknowledged_survives_the_death_of_the_service(
    kind: str, tmp_path: Path, receiver: Receiver, request: pytest.FixtureRequest, record_property: Record
) -> None:
    server: Postgres | None = request.getfixturevalue("own_server") if kind == "postgresql" else None
    database = server.registry() if server else f"sqlite:///{tmp_path}/registry.db"
    storm = Storm(WRITERS, seed=9)
    for round_number in range(KILLS):
        with serving(database, **SETTINGS) as (process, url):
            if round_number == 0:
                subscribe_to_all(url, receiver)
            storm.check(url)
            storm.rage(url, lambda victim=process: kill(victim))
        changes = check_registry(database) if server else check_file(tmp_path / "registry.db")
    with serving(database, **SETTINGS) as (_, url):
        storm.check(url)
        storm.follow(url)
        report(storm, changes, nobody_missed_anything(url, storm, receiver), record_property)


def test_what_was_acknowledged_survives_the_death_of_the_database(
    own_server: Postgres, receiver: Receiver, record_property: Record
) -> None:
    """The service goes on all the time, and its streams stay open."""
    database = own_server.registry()
    storm = Storm(WRITERS, seed=10)
    with serving(database, **SETTINGS) as (_, url):
        subscribe_to_all(url, receiver)
        storm.follow(url)
        for _ in range(KILLS):
            storm.rage(url, own_server.kill, follows=False)
            own_server.start("-c", "fsync=on")
            wait_until_ready(url)
            storm.check(url)
            changes = check_registry(database)
        report(storm, changes, nobody_missed_anything(url, storm, receiver), record_property)
