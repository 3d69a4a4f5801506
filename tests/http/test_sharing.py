from __future__ import annotations

from pathlib import Path

import pytest

from postroom.http.calls import Call
from postroom.http.sharing import refuse_foreign_writes, sharing_headers
from postroom.registry.problems import RegistryProblem
from tests.http.asking import Desk

PAGE = "https://page.example"


def call(method: str, **headers: str) -> Call:
    given = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Call(method=method, path="/", base="http://ovens.example", headers=given)


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
    made = sharing_headers(call(method, **headers), origins)
    assert made.get("Access-Control-Allow-Origin") == allowed
    assert (made.get("Vary") == "Origin") == (allowed != "*")
    assert sharing_headers(call(method), origins) == {}


def test_a_preflight_allows_headers_and_nothing_that_is_no_header() -> None:
    asked = {
        "access_control_request_method": "PUT",
        "access_control_request_headers": "xRegistry-name, a\r\nb, If-Match",
    }
    made = sharing_headers(call("OPTIONS", origin=PAGE, **asked), (PAGE,))
    assert made["Access-Control-Allow-Headers"] == "xRegistry-name, If-Match"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_pages_of_other_origins_do_not_write(method: str) -> None:
    with pytest.raises(RegistryProblem, match=PAGE) as refused:
        refuse_foreign_writes(call(method, origin=PAGE), ("*",))
    assert refused.value.status == 403
    refuse_foreign_writes(call(method, origin="http://ovens.example"), ("*",))
    refuse_foreign_writes(call(method, origin=PAGE), (PAGE,))
    refuse_foreign_writes(call(method), ("*",))


@pytest.mark.feature("HTTP-005")
def test_through_the_whole_stack(desk: Desk, tmp_path: Path) -> None:
    assert desk.ask("GET", "/", headers={"Origin": PAGE}).headers["access-control-allow-origin"] == "*"
    refused = desk.ask("POST", "/messagegroups", b'{"ovens": {}}', {"Origin": PAGE, "Content-Type": "text/plain"})
    assert (refused.status, refused.problem) == (403, "bad_request")
    assert desk.ask("GET", "/messagegroups").json == {}
    options = desk.ask("OPTIONS", "/messagegroups", headers={"Origin": PAGE, "Access-Control-Request-Method": "GET"})
    assert (options.status, options.headers["access-control-allow-origin"]) == (200, "*")
    assert options.headers["allow"] == options.headers["access-control-allow-methods"]
    assert "OPTIONS" in options.headers["allow"]
