"""Load on a server over connections that stay open: a closed loop, or requests at fixed times."""

from __future__ import annotations

import contextlib
import select
import socket
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice

CONNECTIONS = 16
PIECE = 256 * 1024
CHUNKED = b"transfer-encoding: chunked"
LENGTH = b"content-length: "


def request(method: str, path: str, body: bytes = b"") -> bytes:
    """A request as it goes over the wire."""
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


class Connection:
    """A connection with at most one request under way; its own work is little, for it takes time from the server's."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.due = 0.0
        self._missing = 0
        self._end = b""

    def send(self, one: bytes, due: float = 0.0) -> None:
        """Send a request that was due at some time."""
        self.due = due
        self.socket.sendall(one)

    def receive(self) -> bool:
        """Take what has come; whether the answer is complete."""
        piece = self.socket.recv(PIECE)
        if not piece:
            sys.exit("bench: a connection ended without an answer")
        if self._missing:
            self._missing -= len(piece)
            return self._missing <= 0
        if self._end:
            self._end = (self._end + piece)[-5:]
        else:
            self._begin(piece)
            if not self._end:
                return self._missing <= 0
        if self._end != b"0\r\n\r\n":
            return False
        self._end = b""
        return True

    def _begin(self, piece: bytes) -> None:
        end = piece.find(b"\r\n\r\n")
        if end < 0 or not piece.startswith(b"HTTP/1.1 2"):
            sys.exit(f"bench: an answer is {piece[:400]!r}")
        head = piece[:end].lower()
        if CHUNKED in head:
            self._end = piece[-5:]
            return
        at = head.find(LENGTH)
        length = int(head[at + len(LENGTH) :].split(b"\r\n", 1)[0]) if at >= 0 else 0
        self._missing = end + 4 + length - len(piece)


@contextlib.contextmanager
def connected(port: int, count: int) -> Iterator[dict[int, Connection]]:
    """Connections by the numbers of their files."""
    found = [Connection(port) for _ in range(count)]
    try:
        yield {one.socket.fileno(): one for one in found}
    finally:
        for one in found:
            one.socket.close()


def seconds_of_load(port: int, requests: Iterable[bytes], connections: int = CONNECTIONS) -> float:
    """How long all requests take, each connection sending the next one as soon as its answer is complete.

    An answer that is no success ends the measurement.
    """
    waiting = deque(requests)
    with connected(port, connections) as at, contextlib.closing(select.epoll()) as poll:
        began, busy = time.perf_counter(), 0
        for number, connection in islice(at.items(), len(waiting)):
            poll.register(number, select.EPOLLIN)
            connection.send(waiting.popleft())
            busy += 1
        while busy:
            for number, _ in poll.poll():
                connection = at[number]
                if connection.receive():
                    if waiting:
                        connection.send(waiting.popleft())
                    else:
                        busy -= 1
        return time.perf_counter() - began


def latencies(port: int, requests: Iterable[bytes], rate: float, connections: int = CONNECTIONS) -> list[float]:
    """How long each request takes from the time when it was due, which does not wait for the answers before it."""
    waiting = deque(requests)
    count = len(waiting)
    found: list[float] = []
    with connected(port, connections) as at:
        idle, began, sent = list(at), time.perf_counter(), 0
        while len(found) < count:
            now = time.perf_counter()
            while waiting and idle and began + sent / rate <= now:
                at[idle.pop()].send(waiting.popleft(), began + sent / rate)
                sent += 1
            pause = max(0.0, began + sent / rate - time.perf_counter()) if waiting and idle else None
            for number in select.select(at, (), (), pause)[0]:
                if at[number].receive():
                    found.append(time.perf_counter() - at[number].due)
                    idle.append(number)
    return found
