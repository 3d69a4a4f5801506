"""`/openapi.json` and `/docs`: valid, of the model in force, and true."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from postroom.http.access.routes import ACCESS
from postroom.http.access.routes import SERVICES as SERVICE_ROUTES
from postroom.http.operations.service_operations import SERVICES
from postroom.http.server.app import create_app
from postroom.settings import Settings
from postroom.store.interface import Store
from tests.http.requests import AsgiClient

METHODS = ("get", "put", "patch", "post", "delete")
OLDER = re.compile(
    r"^(/ui|…/lake/|/v0\.5|/confluent|/messagecatalog|/messagedefinition|…/messagedefinitions|…/RESOURCEs)"
)
NASTY = '<script>alert("1")</script>'
FLEET = {
    "groups": {
        "depots": {
            "singular": "depot",
            "attributes": {"city": {"type": "string", "description": NASTY}, "bays": {"type": "uinteger"}},
            "resources": {
                "vans": {"singular": "van", "hasdocument": False, "attributes": {"*": {"type": "any"}}},
                "plans": {"singular": "plan"},
            },
        },
        "docs": {"singular": "doc"},
    }
}


def described(service: AsgiClient) -> dict:  # type: ignore[type-arg]
    reply = service.ask("GET", "/-/openapi.json")
    assert reply.status == 200
    OpenAPIV31SpecValidator(reply.json).validate()
    return dict(reply.json)


def test_the_description_of_the_usual_model_is_valid(asgi: AsgiClient) -> None:
    document = described(asgi)
    assert document["openapi"].startswith("3.1")
    assert document["servers"] == [{"url": "http://ovens.localhost"}]
    assert "/messagegroups/{messagegroupid}/messages/{messageid}" in document["paths"]
    assert "/schemagroups/{schemagroupid}/schemas/{schemaid}$details" in document["paths"]
    assert "protocol" in document["components"]["schemas"]["messagegroup.message"]["properties"]
    identifiers = [item[one]["operationId"] for item in document["paths"].values() for one in METHODS if one in item]
    assert len(identifiers) == len(set(identifiers))


def test_a_change_of_the_model_changes_the_description(asgi: AsgiClient) -> None:
    assert asgi.ask("PUT", "/modelsource", FLEET).status == 200
    document = described(asgi)
    assert "/messagegroups" not in document["paths"]
    assert "/depots/{depotid}/plans/{planid}$details" in document["paths"]
    assert "/depots/{depotid}/vans/{vanid}$details" not in document["paths"]
    assert document["components"]["schemas"]["depot"]["properties"]["bays"]["minimum"] == 0
    assert "get" in document["paths"]["/docs/{docid}"], "the Group type has the name at the root"
    assert "get" in document["paths"]["/-/docs"], "and the page is below"


def test_what_clients_may_not_change_is_not_offered(asgi: AsgiClient) -> None:
    assert asgi.ask("PATCH", "/capabilities", {"available": {"entities": {"mutable": False}}}).status == 200
    paths = described(asgi)["paths"]
    assert set(paths["/messagegroups"]) == {"get"}


def test_each_path_has_the_methods_that_the_service_allows(asgi: AsgiClient) -> None:
    schema = {"format": "JsonSchema/draft-07", "schema": {}}
    assert asgi.ask("PUT", "/messagegroups/x/messages/x", {}).status == 201
    assert asgi.ask("PUT", "/schemagroups/x/schemas/x/versions/1$details", schema).status == 201
    assert asgi.ask("PUT", "/endpoints/x/messages/x", {}).status in (201, 400)
    for path, item in described(asgi)["paths"].items():
        if path.startswith(("/-/", "/subscriptions/")):
            continue  # the test of roles asks these
        asked = re.sub(r"\{versionid\}", "1", path)
        reply = asgi.ask("OPTIONS", re.sub(r"\{[^}]+\}", "x", asked))
        if reply.status == 404:
            assert "endpoints" in path, path
            continue
        allowed = {*reply.headers["allow"].split(", ")} - {"HEAD", "OPTIONS"}
        assert {one.upper() for one in METHODS if one in item} == allowed, path


def test_every_service_of_the_route_table_is_described() -> None:
    routes = [
        (method, re.sub(r"/id\b", "/{id}", path.strip().replace("…/links", "/-/replication/links")))
        for route in SERVICE_ROUTES + ACCESS
        for path in route.path.split(",")
        for method in route.methods
        if not OLDER.match(path.strip())
    ]
    known = {(one.method, one.path) for one in SERVICES}
    assert known <= set(routes)
    assert {(method, path) for method, path in routes if path != "/-/replication/links"} <= known | {
        ("PUT", "/-/replication/links/{id}")
    }


def test_where_access_is_on_the_description_says_so_and_needs_credentials(store: Store) -> None:
    service = AsgiClient(create_app(store, Settings(access="on")))
    assert [service.ask("GET", path).status for path in ("/openapi.json", "/docs")] == [401, 401]


class Page(HTMLParser):
    """Collects the tags of a page and what they lead to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        given = dict(attrs)
        self.links += [str(given[name]) for name in ("href", "src", "action") if name in given]
        self.ids |= {str(given["id"])} if "id" in given else set()


@pytest.mark.parametrize("path", ["/docs", "/-/docs"])
def test_the_page_fetches_nothing_and_runs_nothing(asgi: AsgiClient, path: str) -> None:
    reply = asgi.ask("GET", path)
    assert (reply.status, reply.headers["content-type"]) == (200, "text/html; charset=utf-8")
    policy = reply.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    page = Page(reply.body.decode())
    assert not page.tags & {"script", "link", "img", "iframe", "form", "object"}
    outside = {link for link in page.links if not link.startswith("#")}
    assert outside == {"http://ovens.localhost/-/openapi.json"}
    assert {link[1:] for link in page.links if link.startswith("#")} <= page.ids


def test_what_a_model_says_is_text_on_the_page(asgi: AsgiClient) -> None:
    assert asgi.ask("PUT", "/modelsource", FLEET).status == 200
    text = asgi.ask("GET", "/-/docs").body.decode()
    assert "&lt;script&gt;" in text
    assert "script" not in Page(text).tags
