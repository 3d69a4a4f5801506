"""A closed loop of requests over connections that stay open: the next one as soon as an answer is complete."""

from __future__ import annotations

import contextlib
import selectors
import socket
import sys
import time
from collections.abc import Iterable, Iterator

CONNECTIONS = 16


def request(method: str, path: str, body: bytes = b"") -> bytes:
    """A request as it goes over the wire."""
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def seconds_of_load(port: int, requests: Iterable[bytes], connections: int = CONNECTIONS) -> float:
    """How long all requests take; an answer that is no success ends the measurement."""
    waiting: Iterator[bytes] = iter(requests)
    with contextlib.ExitStack() as stack, selectors.DefaultSelector() as selector:
        began, busy = time.perf_counter(), 0
        for _, one in zip(range(connections), waiting, strict=False):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            selector.register(connection, selectors.EVENT_READ, (connection, bytearray()))
            connection.sendall(one)
            busy += 1
        while busy:
            for key, _ in selector.select():
                connection, received = key.data
                received.extend(connection.recv(65536))
                if not _is_whole(received):
                    continue
                received.clear()
                following = next(waiting, None)
                if following is None:
                    busy -= 1
                    selector.unregister(connection)
                else:
                    connection.sendall(following)
        return time.perf_counter() - began


def _is_whole(answer: bytearray) -> bool:
    head, end, body = answer.partition(b"\r\n\r\n")
    if not end:
        return False
    if not head.startswith(b"HTTP/1.1 2"):
        sys.exit(f"bench: an answer is {bytes(head[:60] + body[:300])!r}")
    if b"transfer-encoding: chunked" in head.lower():
        return body.endswith(b"\r\n0\r\n\r\n")
    return len(body) >= int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
