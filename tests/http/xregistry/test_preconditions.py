from __future__ import annotations

import pytest

from tests.http.requests import AsgiClient

OVENS = "/messagegroups/ovens"
OVEN = "/schemagroups/ovens/schemas/oven"
FORMAT = {"xRegistry-format": "Text/1"}


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
def test_a_write_on_a_condition(asgi: AsgiClient, method: str) -> None:
    asgi.ask("PUT", OVENS, {"name": "Ovens"})
    etag = asgi.ask("GET", OVENS).headers["etag"]
    asgi.ask("PATCH", OVENS, {"description": "changed meanwhile"})
    refused = asgi.ask(method, OVENS, {}, {"If-Match": etag})
    assert (refused.status, refused.problem) == (412, "bad_request")
    assert asgi.ask("GET", OVENS).json["epoch"] == 2
    present = asgi.ask("GET", OVENS).headers["etag"]
    assert asgi.ask(method, OVENS, {}, {"If-Match": f'"other", {present}'}).status in (200, 204)


def test_conditions_hold_for_every_representation_of_the_url(asgi: AsgiClient) -> None:
    asgi.ask("PUT", OVEN, b"hot", FORMAT)
    document, details = (asgi.ask("GET", OVEN + end).headers["etag"] for end in ("", "$details"))
    assert asgi.ask("PUT", OVEN, b"x", {"If-Match": details}).status == 412
    assert asgi.ask("PATCH", f"{OVEN}$details", {}, {"If-Match": document}).status == 412
    assert asgi.ask("PUT", OVEN, b"hotter", {"If-Match": document}).status == 200
    inlined = asgi.ask("GET", f"{OVEN}$details?inline=schema").headers["etag"]
    assert asgi.ask("PATCH", f"{OVEN}$details?inline=schema", {}, {"If-Match": inlined}).status == 200
    packed = asgi.ask("GET", "/modelsource").headers["etag"][:-1] + '-gzip"'
    assert asgi.ask("PATCH", "/", {}, {"If-Match": packed}).status == 412


@pytest.mark.parametrize(
    ("headers", "exists", "status"),
    [
        ({"If-None-Match": "*"}, False, 201),
        ({"If-None-Match": "*"}, True, 412),
        ({"If-Match": "*"}, False, 412),
        ({"If-Match": "*"}, True, 200),
        ({"If-None-Match": '"other"'}, True, 200),
    ],
)
def test_only_if_it_is_there_or_not(asgi: AsgiClient, headers: dict[str, str], exists: bool, status: int) -> None:
    if exists:
        asgi.ask("PUT", OVENS, {})
    assert asgi.ask("PUT", OVENS, {}, headers).status == status
    assert asgi.ask("GET", OVENS).status == (404 if (exists, status) == (False, 412) else 200)
