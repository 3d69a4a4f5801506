"""What an answer of the registry costs the server, against a bare ASGI function on the same server."""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

from bench.measure import Ratio, ratio
from postroom.catalog.sources import read_source
from postroom.catalog.targets import write_target
from postroom.settings import Settings

Send = Callable[[dict[str, Any]], Awaitable[None]]
CATALOG = Path(__file__).parent.parent / "demo" / "catalog"
PATH = "/messagegroups/shop.orders/messages/order.placed"
REQUESTS = 4000
CONNECTIONS = 16
CLOCK = os.sysconf("SC_CLK_TCK")


async def bare(scope: dict[str, Any], receive: Any, send: Send) -> None:
    """The least an ASGI application can do."""
    if scope["type"] == "lifespan":
        for phase in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{phase}.complete"})
        return
    headers = [(b"content-type", b"application/json"), (b"content-length", b"2")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"{}"})


def measure() -> Iterator[Ratio]:
    """A message that was asked for before, over sockets; the client's own time does not count."""
    with tempfile.TemporaryDirectory() as folder:
        ours = loaded_registry(f"sqlite:///{folder}/bench.db")
        with server(ours) as registry, server([sys.executable, "-m", "bench.serving"]) as yardstick:
            yield ratio(
                "GET a message / a bare ASGI answer", lambda: cost(*registry), lambda: cost(*yardstick), None, 7
            )


def loaded_registry(url: str) -> list[str]:
    """Load the demo into a store; the command that serves it."""
    write_target(read_source(str(CATALOG), Settings()), url, Settings())
    return [sys.executable, "-m", "postroom", "serve", "--db", url, "--port", "0"]


@contextlib.contextmanager
def server(command: list[str]) -> Iterator[tuple[int, int]]:
    """A server as a process of its own: its id and its port."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.pid, int(process.stdout.readline().rpartition(":")[2])
    finally:
        process.terminate()
        process.wait()


def cost(process: int, port: int, line: str = "", path: str = PATH) -> float:
    """CPU seconds of a server for all requests, with a line more in their heads."""
    began = _cpu(process)
    _ask(port, line, path)
    return _cpu(process) - began


def cpu_of_process(process: int, work: Callable[[], object]) -> float:
    """CPU seconds that another process takes for some work."""
    began = _cpu(process)
    work()
    return _cpu(process) - began


def _cpu(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / CLOCK


def _ask(port: int, line: str, path: str) -> None:
    """All requests, over a few connections that stay open, the next one as soon as an answer is complete."""
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: */*\r\n{line}\r\n".encode()
    left, selector = REQUESTS, selectors.DefaultSelector()
    with contextlib.ExitStack() as stack:
        for _ in range(CONNECTIONS):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            selector.register(connection, selectors.EVENT_READ, bytearray())
            connection.sendall(request)
        while left > 0:
            for key, _ in selector.select():
                key.data.extend(key.fileobj.recv(65536))  # type: ignore[union-attr]  # only sockets were registered
                if _is_whole(key.data):
                    left -= 1
                    key.data.clear()
                    key.fileobj.sendall(request)  # type: ignore[union-attr]


def _is_whole(answer: bytearray) -> bool:
    head, end, body = answer.partition(b"\r\n\r\n")
    if not end:
        return False
    if not head.startswith(b"HTTP/1.1 200"):
        sys.exit(f"bench: {PATH} answers {head[:60].decode('latin-1')}")
    return len(body) >= int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])


def _serve_bare() -> None:
    from postroom.http.server.worker_processes import AnnouncingServer, configuration

    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        config = configuration(Settings(), lambda: bare)  # type: ignore[arg-type,return-value]
        AnnouncingServer(config, lambda: print(f"listening on http://127.0.0.1:{port}", flush=True)).run([listening])


if __name__ == "__main__":
    _serve_bare()
