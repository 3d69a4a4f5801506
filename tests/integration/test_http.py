"""What `make` makes still lands after a real HTTP client and server carried it, there and back."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import httpx
import pytest

from postroom.protocols.clients import from_http, to_http
from postroom.protocols.records import Record
from tests.integration.bakery import bakery, check_journey

ANSWERS = bakery("HTTP", {"status": "200", "headers": [{"name": "X-Line", "value": "rye"}]}, {"status": "200"})
REQUESTS = bakery(
    "HTTP",
    {
        "method": "POST",
        "path": {"type": "uritemplate", "value": "/bakeries/{bakery}/{oven}"},
        "query": [{"name": "line", "value": "rye"}],
        "headers": [{"name": "X-Line", "value": "rye"}],
    },
    {"method": "PUT", "path": {"type": "uritemplate", "value": "/cold/{oven}"}},
)
JOURNEYS = [("oven.ready", "binary"), ("oven.ready", "structured"), ("oven.cold", "")]


class Echo(BaseHTTPRequestHandler):
    """Answers with the request: its target in a header, its own headers, its body."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("x-target", self.path)
        for name, value in self.headers.items():
            if name.lower().startswith(("ce-", "x-line", "content-")):
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_PUT = do_POST  # noqa: N815 - the server looks for this name

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with HTTPServer(("127.0.0.1", 0), Echo) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with httpx.Client(base_url=f"http://127.0.0.1:{server.server_port}", trust_env=False) as client:
            yield client
        server.shutdown()


@pytest.mark.parametrize(("message", "mode"), JOURNEYS)
def test_answers_land(client: httpx.Client, message: str, mode: str) -> None:
    check_journey(
        ANSWERS, message, mode, lambda record: from_http(client.request(**{**to_http(record), "method": "POST"}))
    )


@pytest.mark.parametrize(("message", "mode"), JOURNEYS)
def test_requests_land(client: httpx.Client, message: str, mode: str) -> None:
    def received(record: Record) -> Record:
        answer = client.request(**to_http(record))
        headers = [(name, value) for name, value in answer.headers.multi_items() if name != "x-target"]
        target = str(client.base_url).rstrip("/") + answer.headers["x-target"]
        return from_http(httpx.Request(answer.request.method, target, headers=headers, content=answer.content))

    check_journey(REQUESTS, message, mode, received)
