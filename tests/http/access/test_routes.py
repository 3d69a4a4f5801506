"""Every route as every role: what the reference page says is what the service does."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from postroom.access.grants import add_grants, parse_grant
from postroom.access.keys import create_key
from postroom.catalog.open_store import open_store
from postroom.http.access.routes import ACCESS, ENTITIES, GROUP, LINK, MESSAGE, ROLES, SCHEMA, SERVICES, Role, Route
from postroom.http.messagecatalog.mount import HANDLERS as CATALOG_KINDS
from postroom.http.operations.server_process import ServerProcess
from postroom.http.operations.service_operations import CONFIGURATION
from postroom.http.operations.service_operations import SERVICES as OPERATIONS
from postroom.http.server.app import create_app
from postroom.http.services.mounts import MOUNTS
from postroom.http.v0_5.mount import METHODS as V0_5_KINDS
from postroom.http.xregistry import configuration, entities
from postroom.replication.replicas.apply_units import STATES
from postroom.replication.subscriptions import subscription_store
from postroom.settings import Settings
from postroom.store.interface import Store
from postroom.ui.website import open_pages
from tests.http.requests import AsgiClient, Reply

SETTINGS = Settings(
    access="on",
    oidc_issuer="http://127.0.0.1:9",
    oidc_audience="postroom",
    oidc_client_id="web",
    sink_hosts=("127.0.0.1",),
    sink_private=True,
    link_hosts=("127.0.0.1:1",),
    lake="no-lake",
)
ROUTES = ENTITIES + SERVICES + ACCESS
CASES = [(route, method) for route in ROUTES for method in route.methods]
NAMES = [f"{method} {route.path}" for route, method in CASES]


class Service:
    """A service, asked by somebody with one role on one Group and one schema, `admin` on everything."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.client = AsgiClient(create_app(store, SETTINGS, ServerProcess(pages=open_pages(SETTINGS))))
        self.keys: dict[str, str] = {}
        with store.write() as tx:
            for role in ROLES[1:]:
                prefixes = ["/"] if role == "admin" else [GROUP, SCHEMA] if role in ROLES[2:] else []
                grants = [parse_grant(f"key:{role}", role, prefix) for prefix in prefixes]
                self.keys[role] = create_key(tx, role, grants)[1]
            create_key(tx, "spare", [])
            create_key(tx, "root", [parse_grant("key:root", "admin", "/")])
            add_grants(tx, [parse_grant("user:ben", "read", GROUP)])

    def ask(self, role: Role, method: str, path: str, body: object = b"") -> Reply:
        headers = {"Authorization": f"Bearer {self.keys[role]}"} if role in self.keys else {}
        return self.client.ask(method, path, body, headers)

    def restore(self) -> str:
        """Make again what a request may have deleted; the id of a subscription of somebody else."""
        schema = {"format": "JsonSchema/draft-07", "schema": {}}
        for path, body in {
            MESSAGE: {},
            f"{SCHEMA}/versions/1$details": schema,
            f"{SCHEMA}/versions/2$details": schema,
            LINK: {"remote": "http://127.0.0.1:1", "mode": "pull"},
        }.items():
            assert self.ask("admin", "PUT", path, body).status in (200, 201)
        hook = {"sink": "http://127.0.0.1:1/hook", "protocol": "HTTP"}
        made = str(self.ask("admin", "POST", "/subscriptions", hook).json["id"])
        with self.store.write() as tx:
            tx.put_record(STATES, "depot", b"{}")
            progress = subscription_store.read_progress(tx, made)
            subscription_store.put_progress(tx, made, msgspec.structs.replace(progress, key="KEY"))
        return made


@pytest.mark.parametrize(("route", "method"), CASES, ids=NAMES)
def test_a_route_is_open_from_the_role_that_it_needs_on(tmp_path: Path, route: Route, method: str) -> None:
    with open_store(f"sqlite:///{tmp_path}/registry.db") as store:
        service = Service(store)
        for role in ROLES:
            path = (route.example or route.path).replace("/ID", f"/{service.restore()}")
            body = b"" if route.body is None or method == "GET" else route.body
            status = service.ask(role, method, path, body).status
            refused = route.answer(role)
            assert status == refused if refused else status not in (401, 403, 404), (role, path)


@pytest.mark.parametrize("path", dict.fromkeys(route.path for route in ROUTES))
def test_the_table_has_every_method_of_a_path(tmp_path: Path, path: str) -> None:
    routes = [route for route in ROUTES if route.path == path]
    with open_store(f"sqlite:///{tmp_path}/registry.db") as store:
        service = Service(store)
        asked = (routes[0].example or path).replace("/ID", f"/{service.restore()}")
        allowed = service.ask("admin", "OPTIONS", asked).headers["allow"]
    assert {*allowed.split(", ")} - {"HEAD", "OPTIONS"} == {method for route in routes for method in route.methods}


def test_the_table_has_every_service() -> None:
    paths = [one.strip() for route in ROUTES for one in route.path.split(",")]
    first = {path.removeprefix("/-").removeprefix("/").partition("/")[0] for path in paths}
    assert {*MOUNTS, *(name.partition("/")[0] for name in configuration.METHODS)} <= first


def test_the_table_has_every_service_that_the_api_describes() -> None:
    listed = {
        (method, path.replace("…/links", "/-/replication/links"))
        for route in ROUTES
        for path in route.path.split(", ")
        for method in route.methods
    }
    assert {(one.method, one.path.replace("{id}", "id")) for one in (*CONFIGURATION, *OPERATIONS)} <= listed


@pytest.mark.parametrize(
    ("kinds", "of"),
    [
        (entities.METHODS, lambda path: "GROUPS" in path or "RESOURCES" in path or path in ("/", "…/versions/id")),
        (V0_5_KINDS, lambda path: path.startswith("/v0.5") or "RESOURCEs" in path),
        (CATALOG_KINDS, lambda path: "/messagecatalog" in path or "messagedefinitions" in path),
    ],
    ids=["xRegistry", "v0.5", "messagecatalog"],
)
def test_the_table_has_every_kind_of_entity(kinds: dict[str, object], of: object) -> None:
    assert callable(of)
    assert len({route.path for route in ROUTES if of(route.path)}) == len(kinds)
