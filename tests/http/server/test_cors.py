from __future__ import annotations

import pytest

from postroom.http.server.app import create_app
from postroom.http.server.cors import refuse_foreign_writes, sharing_headers
from postroom.http.server.request import Request
from postroom.registry.problems import RegistryProblem
from postroom.settings import Settings
from postroom.store.interface import Store
from tests.http.requests import AsgiClient

PAGE = "https://page.example"


def request(method: str, **headers: str) -> Request:
    given = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Request(method=method, path="/", base="http://ovens.localhost", headers=given)


@pytest.mark.parametrize(
    ("origins", "method", "asked", "allowed"),
    [
        (("*",), "GET", "", "*"),
        (("*",), "OPTIONS", "GET", "*"),
        (("*",), "OPTIONS", "PUT", None),
        (("*",), "PUT", "", None),
        ((), "GET", "", None),
        ((PAGE,), "GET", "", PAGE),
        ((PAGE,), "OPTIONS", "DELETE", PAGE),
        (("https://other.example",), "GET", "", None),
    ],
)
def test_who_may_see_the_answer(origins: tuple[str, ...], method: str, asked: str, allowed: str | None) -> None:
    headers = {"origin": PAGE, **({"access_control_request_method": asked} if asked else {})}
    made = sharing_headers(request(method, **headers), origins)
    assert made.get("Access-Control-Allow-Origin") == allowed
    assert (made.get("Vary") == "Origin") == (allowed != "*")
    assert sharing_headers(request(method), origins) == {}


def test_a_preflight_allows_headers_and_nothing_that_is_no_header() -> None:
    asked = {
        "access_control_request_method": "PUT",
        "access_control_request_headers": "xRegistry-name, a\r\nb, If-Match",
    }
    made = sharing_headers(request("OPTIONS", origin=PAGE, **asked), (PAGE,))
    assert made["Access-Control-Allow-Headers"] == "xRegistry-name, If-Match"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_pages_of_other_origins_do_not_write(method: str) -> None:
    with pytest.raises(RegistryProblem, match=PAGE) as refused:
        refuse_foreign_writes(request(method, origin=PAGE), ("*",))
    assert refused.value.status == 403
    refuse_foreign_writes(request(method, origin="http://ovens.localhost"), ("*",))
    refuse_foreign_writes(request(method, origin=PAGE), (PAGE,))
    refuse_foreign_writes(request(method), ("*",))


@pytest.mark.feature("HTTP-005")
def test_through_the_whole_stack(store: Store) -> None:
    asgi = AsgiClient(create_app(store, Settings(cors_origins=("*",))))
    assert asgi.ask("GET", "/", headers={"Origin": PAGE}).headers["access-control-allow-origin"] == "*"
    refused = asgi.ask("POST", "/messagegroups", b'{"ovens": {}}', {"Origin": PAGE, "Content-Type": "text/plain"})
    assert (refused.status, refused.problem) == (403, "bad_request")
    assert asgi.ask("GET", "/messagegroups").json == {}
    options = asgi.ask("OPTIONS", "/messagegroups", headers={"Origin": PAGE, "Access-Control-Request-Method": "GET"})
    assert (options.status, options.headers["access-control-allow-origin"]) == (200, "*")
    assert options.headers["allow"] == options.headers["access-control-allow-methods"]
    assert "OPTIONS" in options.headers["allow"]


@pytest.mark.audit("clients-12")
def test_a_page_sees_the_headers_that_carry_attributes(store: Store) -> None:
    asgi = AsgiClient(create_app(store, Settings(cors_origins=("*",))))
    loaf = "/schemagroups/bakery/schemas/loaf"
    given = {"xRegistry-format": "Text/1", "xRegistry-labels.oven": "3", "Content-Type": "text/plain"}
    assert asgi.ask("PUT", loaf, b"loaf", given).status == 201
    for _ in range(2):  # once rendered, once kept
        reply = asgi.ask("GET", loaf, headers={"Origin": PAGE})
        exposed = {name.lower() for name in reply.headers["access-control-expose-headers"].split(", ")}
        assert {name for name in reply.headers if name.startswith("xregistry-")} <= exposed
        assert {"xregistry-schemaid", "xregistry-labels.oven", "link", "etag", "content-location"} <= exposed


@pytest.mark.parametrize(
    "path", ["/", "/export", "/subscriptions", "/-/replication/links", "/changes?values", "/healthz"]
)
def test_no_page_of_another_origin_sees_anything_unless_a_setting_says_so(asgi: AsgiClient, path: str) -> None:
    preflight = {"Origin": PAGE, "Access-Control-Request-Method": "GET"}
    for reply in (
        asgi.ask("GET", path, headers={"Origin": PAGE}),
        asgi.ask("GET", path, headers={"Origin": PAGE}),  # from the cache
        asgi.ask("OPTIONS", path, headers=preflight),
    ):
        assert reply.status in (200, 405)
        assert "access-control-allow-origin" not in reply.headers
        assert reply.headers["vary"] == "Origin"
