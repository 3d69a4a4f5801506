"""The port on which a scraper asks a running `sort` for its metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import AF_INET6
from threading import Thread
from typing import Any

from postroom.errors import BadFlag, PortBusy
from postroom.prometheus_text import CONTENT_TYPE

PATH = "/metrics"
LOOPBACK = "127.0.0.1"
# Whoever asks and then says nothing holds a thread so long.
TIMEOUT_S = 10.0


@contextmanager
def metrics_port(address: str, text: Callable[[], str]) -> Iterator[str]:
    """Answer `GET /metrics` at `[HOST:]PORT` for as long as this lasts; gives the URL. Port 0 is a free one."""
    host, port = parse_address(address)

    class Server(ThreadingHTTPServer):
        address_family = AF_INET6 if ":" in host else ThreadingHTTPServer.address_family

    try:
        server = Server((host, port), _handler(text))
    except OSError as error:
        raise PortBusy(
            f"cannot listen there: {error.strerror or error}.", place=address, remedy="Choose another --metrics-port."
        ) from None
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, name="postroom-metrics", daemon=True)
    thread.start()
    try:
        shown = f"[{host}]" if ":" in host else host
        yield f"http://{shown}:{server.server_address[1]}{PATH}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def parse_address(address: str) -> tuple[str, int]:
    """Host and port of `[HOST:]PORT`; without a host only this machine can ask."""
    host, _, port = address.rpartition(":")
    if not (port.isascii() and port.isdigit() and int(port) < 2**16):
        raise BadFlag(
            "this is no port.", place=f"--metrics-port {address}", remedy="It is PORT or HOST:PORT, such as 9464."
        )
    return host.strip("[]") or LOOPBACK, int(port)


def _handler(text: Callable[[], str]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = TIMEOUT_S

        def version_string(self) -> str:
            """Nobody needs to know which Python this is."""
            return "postroom"

        def do_GET(self) -> None:
            """Answer a scraper, and tell others where the metrics are."""
            is_asked = self.path.partition("?")[0] == PATH
            body = text().encode() if is_asked else f"The metrics are at {PATH}.\n".encode()
            self.send_response(HTTPStatus.OK if is_asked else HTTPStatus.NOT_FOUND)
            self.send_header("Content-Type", CONTENT_TYPE if is_asked else "text/plain; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Requests of scrapers are not logged."""

    return Handler
