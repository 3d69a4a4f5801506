"""Every route as every role: what the reference page says is what the service does."""

from __future__ import annotations

from pathlib import Path

import pytest

from postroom.access.grants import add_grants, parse_grant
from postroom.access.keys import create_key
from postroom.catalog.open_store import open_store
from postroom.http.access.routes import NEEDS, ROUTES, Route
from postroom.http.server.app import create_app
from postroom.settings import Settings
from tests.http.requests import AsgiClient

FLEET = "/messagegroups/fleet"
SETTINGS = Settings(access="on", oidc_issuer="http://127.0.0.1:9", oidc_audience="postroom", oidc_client_id="web")
CASES = [(route, method) for route in ROUTES for method in route.methods]


def ask(folder: Path, role: str, route: Route, method: str) -> int:
    """The status of a request by somebody with one role on one Group, `admin` on everything."""
    with open_store(f"sqlite:///{folder}/{role}.db") as store:
        grants = [parse_grant("key:somebody", role, "/" if role == "admin" else FLEET)] if role in NEEDS[2:] else []
        with store.write() as tx:
            _, key = create_key(tx, "somebody", grants)
            _, root = create_key(tx, "root", [parse_grant("key:root", "admin", "/")])
            create_key(tx, "spare", [])
            add_grants(tx, [parse_grant("user:ben", "read", FLEET)])
        service = AsgiClient(create_app(store, SETTINGS))
        made = service.ask("PUT", f"{FLEET}/messages/ride", {}, {"Authorization": f"Bearer {root}"})
        assert made.status == 201
        body = b"" if route.body is None else route.body
        headers = {} if role == "nothing" else {"Authorization": f"Bearer {key}"}
        return service.ask(method, route.example or route.path, body, headers).status


@pytest.mark.parametrize(("route", "method"), CASES, ids=[f"{method} {route.path}" for route, method in CASES])
def test_a_route_is_open_from_the_role_that_it_needs_on(tmp_path: Path, route: Route, method: str) -> None:
    needed = NEEDS.index(route.need)
    for rank, role in enumerate(NEEDS):
        status = ask(tmp_path, role, route, method)
        if rank >= needed:
            assert status not in (401, 403, 404), role
        elif role == "nothing":
            assert status == 401
        elif method == "DELETE":
            assert status in (route.otherwise, 404), role
        else:
            assert status == route.otherwise, role
