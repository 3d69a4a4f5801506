"""An S3 server for tests: moto's, as a process of its own, with a bucket for each that asks."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from uuid import uuid4

import httpx

NOT_PASSED = ("connection", "content-length", "date", "server", "transfer-encoding")

SERVER = """
import sys
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server
import logging
logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = make_server("127.0.0.1", 0, DomainDispatcherApplication(create_backend_app), threaded=True)
print(server.server_port, flush=True)
server.serve_forever()
"""


class S3Server:
    """A running server; `options` reach it."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.options = {
            "aws_endpoint_url": self.url,
            "aws_access_key_id": "bakery",
            "aws_secret_access_key": "flour-and-water",
            "aws_region": "us-east-1",
        }

    def bucket(self) -> str:
        """The name of a new bucket."""
        name = f"lake-{uuid4().hex[:12]}"
        assert httpx.put(f"{self.url}/{name}", timeout=60).is_success
        return name

    def environment(self) -> dict[str, str]:
        """The variables by which others find it."""
        return {name.upper(): value for name, value in self.options.items()}


@contextmanager
def s3_server() -> Iterator[S3Server]:
    """Start a server on a free port."""
    process = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        yield S3Server(port)
    finally:
        process.kill()
        process.wait()


class FailingProxy:
    """Stands before a server and answers in its place as long as `failures` lasts; `requests` are all it was asked."""

    def __init__(self, server: S3Server) -> None:
        self.failures = 0
        self.requests: list[str] = []
        self.status, self.code = 503, "SlowDown"
        self._target = server.url.removeprefix("http://")
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        Thread(target=self._http.serve_forever, daemon=True).start()
        self.options = server.options | {"aws_endpoint_url": f"http://127.0.0.1:{self._http.server_port}"}

    def fail(self, count: int, status: int = 503, code: str = "SlowDown") -> None:
        """Answer so many requests with an error."""
        self.status, self.code, self.failures = status, code, count

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                proxy.requests.append(f"{self.command} {self.path}")
                if proxy.failures > 0:
                    proxy.failures -= 1
                    answer = f"<Error><Code>{proxy.code}</Code><Message>not now</Message></Error>".encode()
                    self._answer(proxy.status, [], answer)
                    return
                connection = HTTPConnection(proxy._target, timeout=60)
                connection.request(self.command, self.path, body, dict(self.headers))
                found = connection.getresponse()
                content = found.read()
                kept = [(name, value) for name, value in found.getheaders() if name.lower() not in NOT_PASSED]
                if self.command == "HEAD":
                    kept.append(("Content-Length", found.getheader("Content-Length") or "0"))
                self._answer(found.status, kept, content)
                connection.close()

            do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_any  # noqa: N815

            def _answer(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
                self.send_response_only(status)
                for name, value in headers:
                    self.send_header(name, value)
                if self.command != "HEAD":
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        return Handler
