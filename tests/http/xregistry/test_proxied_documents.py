from __future__ import annotations

import http.server
import threading
import time
from collections.abc import Iterator

import pytest

from postroom.http.server.app import create_app
from postroom.settings import Settings
from postroom.store.interface import Store
from tests.http.requests import AsgiClient

OVEN = "/schemagroups/ovens/schemas/oven"
CONTENT = {
    "/ok": (200, b"hot\x00\xff"),
    "/gone": (404, b"not here"),
    "/large": (200, b"x" * 1_100_000),
    "/moved": (302, b"elsewhere"),
}


class Host(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/slow":
            time.sleep(3)
        status, body = CONTENT.get(self.path, (200, b""))
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/ok")
        self.send_header("Content-Type", "text/oven; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def host() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Host) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture
def asgi(store: Store) -> AsgiClient:
    return AsgiClient(create_app(store, Settings(allow_fetch=("127.0.0.1",), max_document_mb=1, timeout_s=1)))


def proxied(asgi: AsgiClient, url: str) -> None:
    made = asgi.ask("PUT", f"{OVEN}$details", {"format": "Text/1", "schemaproxyurl": url})
    assert (made.status, made.json["schemaproxyurl"]) == (201, url)


@pytest.mark.feature("RES-041")
@pytest.mark.parametrize(("path", "status"), [("/ok", 200), ("/gone", 404), ("/moved", 302)])
def test_what_the_other_host_says_is_passed_on(asgi: AsgiClient, host: str, path: str, status: int) -> None:
    proxied(asgi, host + path)
    got = asgi.ask("GET", OVEN)
    assert (got.status, got.body) == (status, CONTENT[path][1])
    assert got.headers["content-type"] == "text/oven; charset=utf-8"
    assert got.headers["xregistry-schemaproxyurl"] == host + path
    assert "location" not in got.headers


@pytest.mark.feature("RES-041", "REG-088", "ERR-028")
@pytest.mark.parametrize("path", ["/large", "/slow", "not allowed", "nobody there"])
def test_what_is_not_to_be_had_is_a_problem(asgi: AsgiClient, host: str, path: str) -> None:
    urls = {"not allowed": "http://localhost:1/x", "nobody there": "http://127.0.0.1:1/x"}
    proxied(asgi, urls.get(path, host + path))
    got = asgi.ask("GET", OVEN)
    assert (got.status, got.problem) == (502, "data_retrieval_error")
    assert asgi.ask("GET", f"{OVEN}$details?inline=schema").json["schemabase64"] is None
    assert asgi.ask("PATCH", f"{OVEN}$details?inline=schema", {"name": "Oven"}).json["name"] == "Oven"


def test_fetched_documents_are_never_kept(asgi: AsgiClient, host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    proxied(asgi, f"{host}/ok")
    assert asgi.ask("GET", f"{OVEN}$details?inline=schema").json["schemabase64"] == "aG90AP8="
    monkeypatch.setitem(CONTENT, "/ok", (200, b"cold"))
    assert asgi.ask("GET", OVEN).body == b"cold"
    assert asgi.ask("GET", f"{OVEN}$details?inline=schema").json["schemabase64"] == "Y29sZA=="


@pytest.mark.feature("RES-031", "RES-041")
def test_a_document_is_in_one_place_only(asgi: AsgiClient, host: str) -> None:
    headers = {"xRegistry-format": "Text/1", "xRegistry-schemaproxyurl": f"{host}/ok"}
    made = asgi.ask("PUT", OVEN, b"", headers)
    assert (made.status, made.body) == (201, b"hot\x00\xff")
    assert asgi.ask("PUT", OVEN, b"with a body", headers).problem == "extra_xregistry_header"
    both = {"format": "Text/1", "schemaproxyurl": f"{host}/ok", "schemaurl": "http://ovens.localhost/x"}
    assert asgi.ask("PUT", f"{OVEN}$details", both).problem == "one_resource"
    assert asgi.ask("PUT", OVEN, b"of its own").status == 200
    assert "schemaproxyurl" not in asgi.ask("GET", f"{OVEN}$details").json
    assert asgi.ask("PATCH", f"{OVEN}$details", {"schemaproxyurl": f"{host}/ok"}).status == 200
    assert asgi.ask("GET", OVEN).body == b"hot\x00\xff"
    assert asgi.ask("PATCH", f"{OVEN}$details", {"schema": None}).status == 200
    assert asgi.ask("GET", OVEN).body == b""


@pytest.mark.parametrize(("condition", "status"), [('"other"', 412), ("*", 200)])
def test_no_other_host_is_asked_to_compare_conditions_while_the_lock_is_held(
    asgi: AsgiClient, host: str, monkeypatch: pytest.MonkeyPatch, condition: str, status: int
) -> None:
    proxied(asgi, f"{host}/ok")
    asked: list[str] = []
    answer = Host.do_GET
    monkeypatch.setattr(Host, "do_GET", lambda self: (asked.append(self.path), answer(self)))
    assert asgi.ask("PATCH", "/schemagroups/ovens?inline=*", {}, {"If-Match": condition}).status == status
    assert bool(asked) == (status == 200)  # what a write did is shown after it, with the document
