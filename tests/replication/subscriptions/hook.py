"""A web hook as a process of its own, that can be killed: `python hook.py PORT FILE` adds each event to the file."""

from __future__ import annotations

import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Hook(BaseHTTPRequestHandler):
    """Agrees to everything; an event is in the file before it is acknowledged."""

    protocol_version = "HTTP/1.1"
    file: Path

    def do_OPTIONS(self) -> None:
        self.send_response(200)
        self.send_header("WebHook-Allowed-Origin", "*")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length)
        if len(body) < length:
            return  # the sender was killed before it had said everything
        opened = os.open(self.file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(opened, body + b"\n")
        os.close(opened)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    allow_reuse_address = True
    daemon_threads = True


if __name__ == "__main__":
    Hook.file = Path(sys.argv[2])
    with Server(("127.0.0.1", int(sys.argv[1])), Hook) as server:
        print("ready", flush=True)
        server.serve_forever()
