from __future__ import annotations

import pytest

from tests.http.requests import Desk

OVENS = "/messagegroups/ovens"
OVEN = "/schemagroups/ovens/schemas/oven"
FORMAT = {"xRegistry-format": "Text/1"}


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
def test_a_write_on_a_condition(desk: Desk, method: str) -> None:
    desk.ask("PUT", OVENS, {"name": "Ovens"})
    etag = desk.ask("GET", OVENS).headers["etag"]
    desk.ask("PATCH", OVENS, {"description": "changed meanwhile"})
    refused = desk.ask(method, OVENS, {}, {"If-Match": etag})
    assert (refused.status, refused.problem) == (412, "bad_request")
    assert desk.ask("GET", OVENS).json["epoch"] == 2
    present = desk.ask("GET", OVENS).headers["etag"]
    assert desk.ask(method, OVENS, {}, {"If-Match": f'"other", {present}'}).status in (200, 204)


def test_conditions_hold_for_every_representation_of_the_url(desk: Desk) -> None:
    desk.ask("PUT", OVEN, b"hot", FORMAT)
    document, details = (desk.ask("GET", OVEN + end).headers["etag"] for end in ("", "$details"))
    assert desk.ask("PUT", OVEN, b"x", {"If-Match": details}).status == 412
    assert desk.ask("PATCH", f"{OVEN}$details", {}, {"If-Match": document}).status == 412
    assert desk.ask("PUT", OVEN, b"hotter", {"If-Match": document}).status == 200
    inlined = desk.ask("GET", f"{OVEN}$details?inline=schema").headers["etag"]
    assert desk.ask("PATCH", f"{OVEN}$details?inline=schema", {}, {"If-Match": inlined}).status == 200
    packed = desk.ask("GET", "/modelsource").headers["etag"][:-1] + '-gzip"'
    assert desk.ask("PATCH", "/", {}, {"If-Match": packed}).status == 412


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
def test_only_if_it_is_there_or_not(desk: Desk, headers: dict[str, str], exists: bool, status: int) -> None:
    if exists:
        desk.ask("PUT", OVENS, {})
    assert desk.ask("PUT", OVENS, {}, headers).status == status
    assert desk.ask("GET", OVENS).status == (404 if (exists, status) == (False, 412) else 200)
