from __future__ import annotations

import pytest

from postroom.http.server.request_target import origin_form, with_encoded_line
from tests.http.requests import AsgiClient


@pytest.mark.parametrize(
    ("target", "authority", "path"),
    [
        (b"/messagegroups?filter=epoch<5", b"", b"/messagegroups?filter=epoch<5"),
        (b'/a"<>{|}\\^`[]', b"", b'/a"<>{|}\\^`[]'),
        (b"//a//b", b"", b"//a//b"),
        (b"/%zz", b"", b"/%zz"),
        (b"/a#b", b"", b"/a%23b"),
        (b"/a\x00\x7f b", b"", b"/a%00%7F%20b"),
        ("/ö?ü".encode(), b"", b"/%C3%B6?%C3%BC"),
        (b"*", b"", b"*"),
        (b"http://ovens.example/a?b", b"ovens.example", b"/a?b"),
        (b"HTTPS://ovens.example:1", b"ovens.example:1", b"/"),
        (b"http://ovens.example?b", b"ovens.example", b"/?b"),
        (b"http:///a", b"", b"/a"),
        (b"ftp://ovens.example/a", b"", b"/ftp://ovens.example/a"),
        (b"ovens.example:443", b"", b"/ovens.example:443"),
        (b"", b"", b"/"),
    ],
)
def test_any_target_is_a_path_with_a_query(target: bytes, authority: bytes, path: bytes) -> None:
    assert origin_form(target) == (authority, path)


def test_only_the_request_line_is_encoded() -> None:
    request = "PUT /ö HTTP/1.1\r\nX: ü\r\n\r\nä".encode()
    assert with_encoded_line(request) == "PUT /%C3%B6 HTTP/1.1\r\nX: ü\r\n\r\nä".encode()
    assert with_encoded_line(request[7:]) == request[7:].replace(b"\xb6", b"%B6")
    assert with_encoded_line(b"GET / HTTP/1.1\r\n\r\n\xff") == b"GET / HTTP/1.1\r\n\r\n\xff"
    assert with_encoded_line(b"") == b""


def test_bare_utf_8_in_a_query_is_read_as_text(asgi: AsgiClient) -> None:
    asgi.ask("PUT", "/messagegroups/ovens", {"name": "Bröd"})
    assert list(asgi.ask("GET", "/messagegroups?filter=name=Bröd").json) == ["ovens"]
    assert list(asgi.ask("GET", "/messagegroups?filter=name=Br%C3%B6d").json) == ["ovens"]
    assert asgi.ask("GET", b"/messagegroups?filter=name=Br\xf6d").json == {}


@pytest.mark.audit("registry-16")
@pytest.mark.parametrize("path", ["/", "/messagegroups", "/model", "/-/healthz", "/messagegroups/ovens?inline"])
def test_slashes_at_the_start_of_a_path_are_one(asgi: AsgiClient, path: str) -> None:
    asgi.ask("PUT", "//messagegroups/ovens", {})
    expected = asgi.ask("GET", path)
    assert expected.status == 200
    for slashes in ("/", "//"):
        assert asgi.ask("GET", slashes + path).json == expected.json


@pytest.mark.audit("registry-6")
@pytest.mark.parametrize("path", ["/model$details", "/model/$details", "/export$details", "/$details"])
def test_what_has_no_details_says_so(asgi: AsgiClient, path: str) -> None:
    assert asgi.ask("GET", path).problem == "bad_details"
