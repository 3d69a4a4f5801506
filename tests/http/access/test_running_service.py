"""A service with access on as a process: streams that end, owners of groups, events for owners, tokens."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from postroom.access.grants import add_grants, parse_grant, read_grants, remove_grants
from postroom.access.keys import create_key, last_uses, revoke_key
from postroom.catalog.open_store import open_store
from postroom.store.interface import Store
from tests.http.running_service import serving
from tests.oidc_provider import oidc_provider  # noqa: F401  # a fixture
from tests.replication.subscriptions.receivers import Receiver, Says, wait_until

FLEET = "/messagegroups/fleet"


@pytest.fixture
def database(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/registry.db"


@pytest.fixture
def store(database: str) -> Iterator[Store]:
    with open_store(database) as opened:
        yield opened


def make_key(store: Store, name: str, *grants: str) -> dict[str, str]:
    rows = [parse_grant(f"key:{name}", *grant.split(":", 1)) for grant in grants]
    with store.write() as tx:
        return {"Authorization": f"Bearer {create_key(tx, name, rows)[1]}"}


@pytest.fixture
def service(store: Store, database: str) -> Iterator[str]:
    with serving(database, "--access", "on") as (_, url):
        yield url


@pytest.mark.parametrize("end", ["revoked", "grant removed", "expired"])
def test_a_stream_ends_within_five_seconds_of_what_it_was_opened_with(service: str, store: Store, end: str) -> None:
    from datetime import UTC, datetime, timedelta

    expires = datetime.now(UTC) + timedelta(seconds=3) if end == "expired" else None
    rows = [parse_grant("key:listener", "read", "/")]
    with store.write() as tx:
        _, key = create_key(tx, "listener", rows, expires=expires)
    headers = {"Authorization": f"Bearer {key}", "Accept": "text/event-stream"}
    with httpx.stream("GET", f"{service}/changes", headers=headers, timeout=30) as stream:
        assert stream.status_code == 200
        assert stream.headers["vary"] == "Authorization, Cookie"
        ended = threading.Event()
        threading.Thread(target=lambda: (list(stream.iter_bytes()), ended.set()), daemon=True).start()
        assert not ended.wait(0.5)
        if end == "revoked":
            with store.write() as tx:
                revoke_key(tx, "listener")
        elif end == "grant removed":
            with store.write() as tx:
                add_grants(tx, [parse_grant("key:listener", "read", FLEET)])
                remove_grants(tx, rows)
        assert ended.wait(5 if end != "expired" else 8)


def test_whoever_creates_a_group_owns_it_until_it_is_deleted(service: str, store: Store) -> None:
    ci = make_key(store, "ci", "write:/messagegroups/fleet*")
    with httpx.Client(base_url=service, headers=ci) as client:
        assert client.put(FLEET, json={}).status_code == 201
        row = {"subject": "user:anna", "role": "read", "prefix": FLEET}
        assert client.post("/-/grants", json={"grants": [row]}).status_code == 200
        assert client.put("/messagegroups/fleet", json={}).status_code == 200
        assert client.delete(FLEET).status_code == 204
        assert client.post("/-/grants", json={"grants": [row]}).status_code == 403
    with store.read() as tx:
        assert {grant.role for grant in read_grants(tx) if grant.subject == "key:ci"} == {"write"}


def test_events_go_to_owners_who_may_read_them_at_that_moment(store: Store, database: str) -> None:
    reader, writer = make_key(store, "reader", f"read:{FLEET}"), make_key(store, "writer", "write:/")
    receiver = Receiver()
    try:
        settings = {"POSTROOM_SINK_HOSTS": "127.0.0.1", "POSTROOM_SINK_PRIVATE": "true"}
        with serving(database, "--access", "on", **settings) as (_, url), httpx.Client(base_url=url) as client:
            order = {"sink": receiver.url, "protocol": "HTTP", "types": ["io.xregistry.group.created"]}
            assert client.post("/subscriptions", json=order, headers=reader).status_code == 201
            for name in ("ovens", "fleet"):
                assert client.put(f"/messagegroups/{name}", json={}, headers=writer).status_code == 201
            receiver.wait(1)
            time.sleep(0.5)
        assert [event["subject"] for event in receiver.events] == [FLEET]
    finally:
        receiver.close()


@pytest.mark.parametrize("end", ["grant removed", "revoked"])
def test_what_waits_for_a_slow_sink_is_not_sent_once_it_may_not_be_read(store: Store, database: str, end: str) -> None:
    ovens = parse_grant("key:reader", "read", "/messagegroups/ovens")
    reader = make_key(store, "reader", f"read:{FLEET}", "read:/messagegroups/ovens")
    writer = make_key(store, "writer", "write:/")
    receiver = Receiver()
    receiver.script.append(Says(503, {"Retry-After": "0"}, after=2))
    settings = {"POSTROOM_SINK_HOSTS": "127.0.0.1", "POSTROOM_SINK_PRIVATE": "true"}
    try:
        with serving(database, "--access", "on", **settings) as (_, url), httpx.Client(base_url=url) as client:
            order = {"sink": receiver.url, "protocol": "HTTP", "types": ["io.xregistry.resource.created"]}
            made = client.post("/subscriptions", json=order, headers=reader).json()
            for group in ("ovens", "fleet"):
                messages = {f"m{number}": {} for number in range(20)}
                body = {"messages": messages}
                assert client.put(f"/messagegroups/{group}", json=body, headers=writer).status_code == 201
            receiver.wait(1)  # the sink has the first one, and keeps all others waiting
            with store.write() as tx:
                revoke_key(tx, "reader") if end == "revoked" else remove_grants(tx, [ovens])
            if end == "revoked":
                root = make_key(store, "root", "admin:/")
                path = f"/subscriptions/{made['id']}/delivery"
                wait_until(lambda: client.get(path, headers=root).json()["status"] == "dead")
            else:
                receiver.wait(21)
            time.sleep(0.5)
        first, *later = [event["subject"].split("/")[2] for event in receiver.events]
        assert first == "ovens"
        assert later == ([] if end == "revoked" else ["fleet"] * 20)
    finally:
        receiver.close()


def test_a_web_hook_is_no_way_to_be_taken_for_the_proxy(store: Store, database: str) -> None:
    anna = make_key(store, "anna", f"write:{FLEET}")
    with store.write() as tx:
        add_grants(tx, [parse_grant("user:root", "admin", "/")])
    settings = {
        "POSTROOM_SINK_HOSTS": "127.0.0.1",
        "POSTROOM_SINK_PRIVATE": "true",
        "POSTROOM_SINK_HANDSHAKE": "false",
        "POSTROOM_ACTOR_HEADER": "X-User",
        "POSTROOM_TRUSTED_PROXIES": "127.0.0.1",
    }
    with serving(database, "--access", "on", **settings) as (_, url), httpx.Client(base_url=url) as client:
        proxy = {"X-User": "root"}
        order = {"sink": f"{url}/schemagroups/ovens/schemas/mine", "protocol": "HTTP"}
        order |= {"protocolsettings": {"method": "PUT", "headers": {"x-user": "root", "xRegistry-format": "Text"}}}
        refused = client.post("/subscriptions", json=order, headers=anna)
        assert refused.status_code == 400, refused.text
        client.put(FLEET, json={}, headers=anna)
        time.sleep(1)
        assert client.get("/schemagroups/ovens", headers=proxy).status_code == 404


def test_when_a_key_was_used_last_is_kept_at_the_latest_when_the_service_stops(store: Store, database: str) -> None:
    key = make_key(store, "ci", "read:/")
    with serving(database, "--access", "on") as (_, url):
        assert httpx.get(url, headers=key).status_code == 200
    with store.read() as tx:
        assert list(last_uses(tx)) == ["ci"]


def test_what_happens_at_the_doors_is_kept_without_secrets(store: Store, database: str, tmp_path: Path) -> None:
    key, root = make_key(store, "ci", f"read:{FLEET}"), make_key(store, "root", "admin:/")
    wrong = {"Authorization": key["Authorization"][:-6] + "000000"}
    secret, log = key["Authorization"].removeprefix("Bearer "), tmp_path / "log"
    started = serving(database, "--access", "on", "-v", log=log)
    with started as (_, url), httpx.Client(base_url=url) as client:
        assert client.put(f"/messagegroups/{secret}", json={}, headers=key).status_code == 403
        assert client.get("/?secret=1", headers=wrong).status_code == 401
        assert client.put("/messagegroups/ovens?token=2", json={}, headers=key).status_code == 403
        assert client.post("/-/keys", json={"id": "new"}, headers=root).status_code == 201
        assert client.get("/-/audit", headers=key).status_code == 403
    with serving(database, "--access", "on") as (_, url), httpx.Client(base_url=url, headers=root) as client:
        found = client.get("/-/audit?limit=50").json()["records"]
        happened = {(one["event"], one.get("principal", "")) for one in found}
        assert {
            ("refused", "key:ci"),
            ("forbidden", "key:ci"),
            ("signin", "key:ci"),
            ("changed", "key:root"),
        } <= happened
        assert "secret" not in str(found)
        assert "token=" not in str(found)
        assert secret.rpartition("_")[2] not in str(found) + log.read_text()
        (forbidden,) = client.get("/-/audit?event=forbidden&principal=key:ci&limit=1").json()["records"]
        assert (forbidden["method"], forbidden["path"]) == ("GET", "/-/audit")
        for query in ("event=all", "limit=0", "limit=x", "since=yesterday", "more=1"):
            assert client.get(f"/-/audit?{query}").status_code == 400


def test_every_worker_knows_of_a_revoked_key(store: Store, database: str) -> None:
    key = make_key(store, "ci", "read:/")
    with serving(database, "--access", "on", "--workers", "2") as (_, url):
        assert {httpx.get(url, headers=key).status_code for _ in range(10)} == {200}
        with store.write() as tx:
            revoke_key(tx, "ci")
        assert {httpx.get(url, headers=key).status_code for _ in range(10)} == {401}


def client_token(provider: str, audience: str) -> str:
    """A token for a machine: the client credentials flow."""
    form = {"grant_type": "client_credentials", "scope": audience, "audience": audience}
    answer = httpx.post(f"{provider}/staff/token", data=form, auth=("station-ci", "secret"), timeout=30)
    return str(answer.raise_for_status().json()["access_token"])


def test_a_machine_signs_in_with_a_token_of_a_real_provider(
    oidc_provider: str,  # noqa: F811
    store: Store,
    database: str,
) -> None:
    token = client_token(oidc_provider, "postroom")
    import jwt

    subject = jwt.decode(token, options={"verify_signature": False})["sub"]
    with store.write() as tx:
        add_grants(tx, [parse_grant(f"user:{subject}", "write", FLEET)])
    settings = {"POSTROOM_OIDC_ISSUER": f"{oidc_provider}/staff", "POSTROOM_OIDC_AUDIENCE": "postroom"}
    with serving(database, "--access", "on", **settings) as (_, url), httpx.Client(base_url=url) as client:
        good = {"Authorization": f"Bearer {token}"}
        assert client.put(FLEET, json={}, headers=good).status_code == 201
        assert client.get("/-/session", headers=good).json()["principal"] == f"user:{subject}"
        assert client.put("/messagegroups/ovens", json={}, headers=good).status_code == 403
        other = {"Authorization": f"Bearer {client_token(oidc_provider, 'other')}"}
        assert client.get(FLEET, headers=other).status_code == 401
        elsewhere = client_token(oidc_provider, "postroom").split(".")
        assert (
            client.get(FLEET, headers={"Authorization": f"Bearer {elsewhere[0]}.e30.{elsewhere[2]}"}).status_code == 401
        )
