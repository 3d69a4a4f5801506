"""An S3 server for tests: moto's, as a process of its own, with a bucket for each that asks."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import httpx

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
