"""A web hook on a free port of this machine that can be slow, gone, elsewhere, silent or out of its mind."""

from __future__ import annotations

import json
import ssl
import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec

PATIENCE = 60.0


class Received(msgspec.Struct, frozen=True):
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def event(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found


class Says(msgspec.Struct, frozen=True):
    """An answer: a status with headers, or bytes that are sent as they are, after a while."""

    status: int = 204
    headers: dict[str, str] = {}
    raw: bytes | None = None
    after: float = 0.0


class _Server(ThreadingHTTPServer):
    """Says nothing about senders that were killed: that is what some tests do to them."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class Receiver:
    """Takes events and keeps them. `script` holds the next answers; when it is empty, all is well."""

    def __init__(self, certificate: Path | None = None) -> None:
        self.received: list[Received] = []
        self.asked: list[Received] = []
        self.script: list[Says] = []
        self.consents = {"WebHook-Allowed-Origin": "*", "WebHook-Allowed-Rate": "*"}
        self._server = _Server(("127.0.0.1", 0), self._handler())
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/hook?room=7"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events that were accepted or not, in their order."""
        return [received.event for received in list(self.received)]

    def wait(self, count: int) -> list[Received]:
        """Wait until so many events are here."""
        wait_until(lambda: len(self.received) >= count)
        return list(self.received)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _took(self) -> Received:
                length = int(self.headers.get("Content-Length", 0))
                body = self.rfile.read(length)
                if len(body) < length:
                    raise ConnectionError("the sender died within its request, which nobody may count as received")
                headers = {name.lower(): value for name, value in self.headers.items()}
                return Received(self.command, self.path, headers, body)

            def _say(self, answer: Says) -> None:
                time.sleep(answer.after)
                if answer.raw is not None:
                    self.wfile.write(answer.raw)
                    self.close_connection = True
                    return
                self.send_response(answer.status)
                for name, value in {"Content-Length": "0", **answer.headers}.items():
                    self.send_header(name, value)
                self.end_headers()

            def do_OPTIONS(self) -> None:
                receiver.asked.append(self._took())
                self._say(Says(200, {"Allow": "POST", **receiver.consents}))

            def do_POST(self) -> None:
                took = self._took()
                answer = receiver.script.pop(0) if receiver.script else Says()
                receiver.received.append(took)
                self._say(answer)

            do_PUT = do_POST  # noqa: N815

            def log_message(self, *_: Any) -> None:
                pass

        return Handler


def wait_until(holds: Callable[[], Any], what: str = "") -> None:
    """Wait for a condition, generously: machines are loaded."""
    until = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > until:
            raise AssertionError(f"it never came to that {what}")
        time.sleep(0.01)
