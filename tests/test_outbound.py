from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from postroom.outbound import Fetcher, FetchRefused


class Shelf(BaseHTTPRequestHandler):
    """Serves a small, a large, a slow and a moved document."""

    def do_GET(self) -> None:
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/small")
            self.end_headers()
            return
        self.send_response(200 if self.path != "/gone" else 404)
        self.end_headers()
        if self.path == "/slow":
            time.sleep(1)
        self.wfile.write(b"x" * (2000 if self.path == "/large" else 5))

    def log_message(self, *_: object) -> None:
        """Stay silent."""


@pytest.fixture
def shelf() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Shelf) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("allowed", ["127.0.0.1", "host and port"])
def test_a_named_host_is_asked(shelf: str, allowed: str) -> None:
    assert Fetcher([shelf if allowed == "host and port" else allowed])(f"http://{shelf}/small") == b"xxxxx"


@pytest.mark.parametrize(("path", "words"), [("large", "larger"), ("slow", "slow"), ("moved", "302"), ("gone", "404")])
def test_what_is_too_much_is_refused(shelf: str, path: str, words: str) -> None:
    with pytest.raises(FetchRefused, match=words):
        Fetcher([shelf], timeout_s=0.3, limit=1000)(f"http://{shelf}/{path}")


def test_nobody_is_asked_by_default(shelf: str) -> None:
    with pytest.raises(FetchRefused, match="allow_fetch"):
        Fetcher()(f"http://{shelf}/small")
