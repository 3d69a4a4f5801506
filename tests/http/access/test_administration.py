"""`/-/grants` and `/-/keys`: administrators change everything, owners what is theirs, others nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.http.access.conftest import MakeKey
from tests.http.access.test_doors import bearer
from tests.http.requests import AsgiClient, Reply

Start = Callable[..., AsgiClient]
FLEET = "/messagegroups/fleet"
ROW = {"subject": "user:anna", "role": "read", "prefix": FLEET}


class Service:
    """The service asked with one key or another."""

    def __init__(self, client: AsgiClient, keys: dict[str, str]) -> None:
        self._client = client
        self._keys = keys

    def ask(self, who: str, method: str, path: str, body: Any = b"") -> Reply:
        return self._client.ask(method, path, body, bearer(self._keys[who]))


@pytest.fixture
def service(guarded: Start, make_key: MakeKey) -> Service:
    keys = {
        "root": make_key("root", "admin:/"),
        "owner": make_key("owner", f"own:{FLEET}"),
        "reader": make_key("reader", "read:/"),
    }
    return Service(guarded(), keys)


def shown(reply: Reply) -> set[tuple[str, str, str]]:
    assert reply.status == 200
    return {(one["subject"], one["role"], one["prefix"]) for one in reply.json["grants"]}


def test_everybody_sees_the_grants_that_they_manage_and_those_that_they_have(service: Service) -> None:
    everything = {("key:root", "admin", "/"), ("key:owner", "own", FLEET), ("key:reader", "read", "/")}
    assert shown(service.ask("root", "GET", "/-/grants")) == everything
    assert shown(service.ask("owner", "GET", "/-/grants")) == {("key:owner", "own", FLEET)}
    assert shown(service.ask("reader", "GET", "/-/grants")) == {("key:reader", "read", "/")}


@pytest.mark.parametrize(
    ("who", "row", "status"),
    [
        ("root", ROW, 200),
        ("owner", ROW, 200),
        ("owner", {**ROW, "prefix": f"{FLEET}/messages/ride", "role": "own"}, 200),
        ("owner", {**ROW, "prefix": "/messagegroups/fleet2"}, 403),
        ("owner", {**ROW, "prefix": "/"}, 403),
        ("owner", {**ROW, "role": "admin", "prefix": "/"}, 403),
        ("reader", ROW, 403),
        ("root", {**ROW, "subject": "anna"}, 400),
        ("root", {**ROW, "role": "boss"}, 400),
        ("root", {**ROW, "prefix": "x"}, 400),
    ],
)
def test_who_may_add_which_grants(service: Service, who: str, row: dict[str, str], status: int) -> None:
    reply = service.ask(who, "POST", "/-/grants", {"grants": [row]})
    assert reply.status == status
    if status == 403:
        assert "this needs" in reply.json["title"]
    added = ("user:anna", row["role"], row["prefix"]) in shown(service.ask("root", "GET", "/-/grants"))
    assert added is (status == 200)


def test_an_owner_replaces_the_grants_below_and_no_others(service: Service) -> None:
    service.ask("root", "POST", "/-/grants", {"grants": [ROW]})
    mine = {"subject": "key:owner", "role": "own", "prefix": FLEET}
    assert shown(service.ask("owner", "PUT", "/-/grants", {"grants": [mine]})) == {("key:owner", "own", FLEET)}
    assert ("key:reader", "read", "/") in shown(service.ask("root", "GET", "/-/grants"))


def test_a_grant_is_removed_by_naming_it(service: Service) -> None:
    service.ask("root", "POST", "/-/grants", {"grants": [ROW]})
    path = f"/-/grants?subject=user:anna&role=read&prefix={FLEET}"
    assert service.ask("reader", "DELETE", path).status == 403
    assert service.ask("owner", "DELETE", path).json == {"removed": 1}
    assert service.ask("owner", "DELETE", path).json == {"removed": 0}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("DELETE", "/-/grants?subject=key:root&role=admin&prefix=/", b""),
        ("PUT", "/-/grants", {"grants": []}),
        ("DELETE", "/-/keys/root", b""),
    ],
)
def test_the_last_administrator_stays(service: Service, method: str, path: str, body: Any) -> None:
    reply = service.ask("root", method, path, body)
    assert reply.status == 400
    assert "nobody would administer" in reply.json["title"]
    assert service.ask("root", "GET", "/-/keys").status == 200


def test_a_key_is_made_used_rotated_and_revoked_over_http(service: Service, guarded: Start) -> None:
    order = {"id": "fleet-ci", "grants": [{"role": "read", "prefix": "/"}], "expires": "90d"}
    made = service.ask("root", "POST", "/-/keys", order)
    assert made.status == 201
    assert made.headers["cache-control"] == "no-store"
    first = made.json["key"]
    assert guarded().ask("GET", "/", headers=bearer(first)).status == 200
    second = service.ask("root", "POST", "/-/keys/fleet-ci/rotate", {}).json["key"]
    assert [guarded().ask("GET", "/", headers=bearer(key)).status for key in (first, second)] == [401, 200]
    listed = {one["id"]: one for one in service.ask("root", "GET", "/-/keys").json["keys"]}
    assert listed["fleet-ci"]["grants"] == ["read:/"]
    assert listed["fleet-ci"]["creator"] == "key:root"
    assert service.ask("root", "DELETE", "/-/keys/fleet-ci").status == 200
    assert guarded().ask("GET", "/", headers=bearer(second)).status == 401


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/-/keys"), ("POST", "/-/keys"), ("DELETE", "/-/keys/root"), ("POST", "/-/keys/root/rotate")],
)
@pytest.mark.parametrize("who", ["owner", "reader"])
def test_keys_are_for_administrators(service: Service, who: str, method: str, path: str) -> None:
    reply = service.ask(who, method, path, {"id": "mine"} if method == "POST" else b"")
    assert reply.status == 403
    assert "admin on /" in reply.json["title"]


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/-/keys", {"id": "CI"}, 400),
        ("POST", "/-/keys", {"name": "ci"}, 400),
        ("POST", "/-/keys", [], 400),
        ("POST", "/-/keys", {"id": "ci", "expires": "soon"}, 400),
        ("POST", "/-/keys", {"id": "ci", "grants": [{"role": "boss", "prefix": "/"}]}, 400),
        ("DELETE", "/-/keys/none", b"", 400),
        ("PUT", "/-/keys", {}, 405),
        ("GET", "/-/keys/root/more", b"", 404),
        ("GET", "/-/grants/x", b"", 404),
        ("PATCH", "/-/grants", {}, 405),
        ("PUT", "/-/grants", {"rows": []}, 400),
        ("PUT", "/-/grants", b"{", 400),
        ("GET", "/grants", b"", 404),
        ("GET", "/keys", b"", 404),
    ],
)
def test_bad_requests_are_answered_with_a_sentence(
    service: Service, method: str, path: str, body: Any, status: int
) -> None:
    reply = service.ask("root", method, path, body)
    assert reply.status == status
    assert reply.json["title"]


def test_with_grants_in_a_file_they_are_listed_and_not_changed(
    guarded: Start, make_key: MakeKey, tmp_path: Path
) -> None:
    key = make_key("root")
    (tmp_path / "access.yaml").write_text("grants: [{subject: 'key:root', role: admin, prefix: /}]")
    service = Service(guarded(access_file=str(tmp_path / "access.yaml")), {"root": key})
    assert shown(service.ask("root", "GET", "/-/grants")) == {("key:root", "admin", "/")}
    for method in ("PUT", "POST"):
        assert "in a file" in service.ask("root", method, "/-/grants", {"grants": [ROW]}).json["title"]
    assert service.ask("root", "POST", "/-/keys", {"id": "ci"}).status == 201
    assert (
        service.ask("root", "POST", "/-/keys", {"id": "cd", "grants": [{"role": "read", "prefix": "/"}]}).status == 400
    )


@pytest.mark.parametrize("path", ["/-/grants", "/-/keys"])
def test_with_access_off_nobody_prepares_keys_over_http(asgi: AsgiClient, path: str) -> None:
    assert asgi.ask("GET", path).problem == "not_available"
    assert asgi.ask("POST", path, {"id": "mine", "grants": [{"role": "admin", "prefix": "/"}]}).status == 400
