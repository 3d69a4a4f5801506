"""A TCP proxy in front of a server, that can be slow, fall silent, and cut what goes through it."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Proxy:
    """Carries bytes both ways, as its state says."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self._flows = threading.Event()
        self._flows.set()
        self.delay = 0.0
        """Seconds that every piece from the server takes longer."""
        self.ends_after = b""
        """What a client sends last: it arrives, but no answer comes back."""
        self.refuses = False
        """Whether new connections are ended at once."""
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def port(self) -> int:
        """Where to connect to."""
        port: int = self._listener.getsockname()[1]
        return port

    @contextmanager
    def silence(self) -> Iterator[None]:
        """Let nothing through, and say nothing: what was sent meanwhile arrives afterwards."""
        self._flows.clear()
        try:
            yield
        finally:
            self._flows.set()

    @contextmanager
    def cut(self) -> Iterator[None]:
        """End all connections and refuse new ones."""
        self.refuses = True
        while self._open:
            _end(self._open.pop())
        try:
            yield
        finally:
            self.refuses = False

    def close(self) -> None:
        """Listen no more."""
        with self.cut():
            self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.refuses:
                client.close()
                continue
            server = socket.create_connection(("127.0.0.1", self._target))
            self._open += [client, server]
            threading.Thread(target=self._carry, args=(client, server, False), daemon=True).start()
            threading.Thread(target=self._carry, args=(server, client, True), daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket, is_answer: bool) -> None:
        with contextlib.suppress(OSError):
            while piece := source.recv(65536):
                self._flows.wait()
                if is_answer and self.delay:
                    time.sleep(self.delay)
                is_last = self.ends_after and not is_answer and self.ends_after in piece
                if is_last:
                    _end(source)
                target.sendall(piece)
                if is_last:
                    break
        _end(source)
        _end(target)


def _end(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
