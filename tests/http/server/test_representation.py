from __future__ import annotations

import gzip
import json

import pytest

from postroom.http.server.representation import matches, represent, takes_gzip
from postroom.http.server.response import Response
from tests.http.requests import AsgiClient

OVENS = "/schemagroups/ovens"
OVEN = f"{OVENS}/schemas/oven"
FORMAT = {"xRegistry-format": "Text/1"}


@pytest.mark.parametrize(
    ("header", "taken"),
    [
        ("", False),
        ("gzip", True),
        ("GZIP", True),
        ("br, gzip;q=0.5", True),
        ("gzip;q=0", False),
        ("gzip; q=0.000", False),
        ("*", True),
        ("*;q=0", False),
        ("identity", False),
    ],
)
def test_who_takes_gzip(header: str, taken: bool) -> None:
    assert takes_gzip(header) is taken


@pytest.mark.parametrize(
    ("condition", "expected"),
    [('"a"', True), ('W/"a"', True), ('"b", "a"', True), ("*", True), ('"b"', False), ("a", False), ("", False)],
)
def test_conditions(condition: str, expected: bool) -> None:
    assert matches(condition, '"a"') is expected


def test_what_is_worth_it_is_compressed_under_a_tag_of_its_own() -> None:
    large = Response(headers={"Content-Type": "application/json"}, content=b'"' + b"x" * 5000 + b'"')
    plain, packed = represent(large, "GET", gzips=False), represent(large, "GET", gzips=True)
    assert gzip.decompress(packed.body) == plain.body
    assert (b"content-encoding", b"gzip") in packed.headers
    assert (b"vary", b"Accept-Encoding") in packed.headers
    assert (b"vary", b"Accept-Encoding") in plain.headers
    assert packed.etag == plain.etag[:-1] + '-gzip"'
    for small in (Response(content=b"x" * 5000), Response(headers={"Content-Type": "text/plain"}, content=b"x")):
        assert represent(small, "GET", gzips=True).body == small.content


def test_caches_are_told_of_compression_however_long_the_body_is_today() -> None:
    small = Response(headers={"Content-Type": "application/json"}, content=b"{}")
    assert (b"vary", b"Accept-Encoding") in represent(small, "GET", gzips=False).headers


def test_a_tag_stays_while_the_representation_does(asgi: AsgiClient) -> None:
    asgi.ask("PUT", OVEN, b"hot", FORMAT)
    first = asgi.ask("GET", OVEN)
    etag = first.headers["etag"]
    asgi.ask("PUT", "/messagegroups/unrelated", {})
    assert asgi.ask("GET", OVEN).headers["etag"] == etag
    unchanged = asgi.ask("GET", OVEN, headers={"If-None-Match": f'"other", {etag}'})
    assert (unchanged.status, unchanged.body, unchanged.headers["etag"]) == (304, b"", etag)
    assert not {"content-type", "content-length"} & unchanged.headers.keys()
    assert asgi.ask("GET", f"{OVEN}$details").headers["etag"] != etag
    assert asgi.ask("GET", OVEN, host=b"other.localhost").headers["etag"] != etag
    asgi.ask("PUT", OVEN, b"hot", {"xRegistry-name": "Oven"})
    changed = asgi.ask("GET", OVEN, headers={"If-None-Match": etag})
    assert (changed.status, changed.body) == (200, b"hot")


def test_the_tag_of_a_reference_is_that_of_what_it_shows(asgi: AsgiClient) -> None:
    asgi.ask("PUT", OVEN, b"hot", FORMAT)
    assert asgi.ask("PUT", f"{OVENS}/schemas/same/meta", {"xref": OVEN}).status == 201
    before = asgi.ask("GET", f"{OVENS}/schemas/same").headers["etag"]
    asgi.ask("PUT", OVEN, b"hotter")
    after = asgi.ask("GET", f"{OVENS}/schemas/same")
    assert (after.body, after.headers["etag"] != before) == (b"hotter", True)


def test_compressed_answers_say_the_same(asgi: AsgiClient) -> None:
    plain = asgi.ask("GET", "/model")
    packed = asgi.ask("GET", "/model", headers={"Accept-Encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert (packed.json, len(packed.body) < len(plain.body)) == (plain.json, True)
    again = asgi.ask("GET", "/model", headers={"Accept-Encoding": "gzip", "If-None-Match": packed.headers["etag"]})
    assert again.status == 304


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (gzip.compress(b'{"name": "Ovens"}'), {"Content-Encoding": "gzip"}, 201),
        (gzip.compress(b'{"name": "Ovens"}')[:-3], {"Content-Encoding": "gzip"}, 400),
        (b'{"name": "Ovens"}', {"Content-Encoding": "gzip"}, 400),
        (gzip.compress(b" " * (17 * 1024 * 1024)), {"Content-Encoding": "gzip"}, 413),
        (b'{"name": "Ovens"}', {"Content-Encoding": "br"}, 415),
        (b'{"name": "Ovens"}', {"Content-Encoding": "identity"}, 201),
    ],
    ids=["gzip", "cut", "none", "bomb", "brotli", "identity"],
)
def test_bodies_may_be_compressed(asgi: AsgiClient, body: bytes, headers: dict[str, str], status: int) -> None:
    answer = asgi.ask("PUT", "/messagegroups/ovens", body, headers)
    assert answer.status == status
    if status == 201:
        assert json.loads(answer.body)["name"] == "Ovens"
    else:
        assert answer.problem in ("parsing_data", "bad_request")
        assert asgi.ask("GET", "/messagegroups").json == {}
