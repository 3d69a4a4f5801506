"""Stopping without a failed request.

On SIGTERM a process goes on for a while, as one that is not ready and closes connections after their next answer, so
that balancers and clients go elsewhere. Then nobody can connect any more, what has connected is accepted, and uvicorn
stops: it ends when everything is answered.
"""

from __future__ import annotations

import ctypes
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from types import FrameType
from typing import Any

SETTLE_SECONDS = 0.3
"""How long connections that were begun have to be complete, and to be accepted."""

SO_ATTACH_FILTER = 26
_FLAGS_OFFSET, _SYN, _SYN_OR_ACK, _EVERYTHING = 13, 0x02, 0x12, 0xFFFFFFFF
_DROP_SYN = (  # classic BPF: code, jump if true, jump if false, value
    (0x30, 0, 0, _FLAGS_OFFSET),  # load the flags of the TCP header
    (0x54, 0, 0, _SYN_OR_ACK),
    (0x15, 0, 1, _SYN),  # the first packet of a connection …
    (0x06, 0, 0, 0),  # … is dropped
    (0x06, 0, 0, _EVERYTHING),
)


class GracefulStop:
    """What becomes of SIGTERM in a process that answers."""

    def __init__(self, drain_s: float, begin: Callable[[], None], sockets: Iterable[socket.socket] = ()) -> None:
        self._drain_s = drain_s
        self._begin = begin
        self._sockets = tuple(sockets)
        """The sockets, where no other process accepts from them."""
        self._is_begun = False

    def install(self) -> None:
        """Take the signal over from the server, which gets it later; only the main thread can."""
        server: Any = signal.getsignal(signal.SIGTERM)
        if threading.current_thread() is not threading.main_thread() or not callable(server):
            return

        def handle(number: int, frame: FrameType | None) -> None:
            if self._is_begun:
                server(number, frame)
                return
            self._is_begun = True
            self._begin()
            threading.Thread(target=self._drain, args=(lambda: server(number, frame),), daemon=True).start()

        signal.signal(signal.SIGTERM, handle)

    def _drain(self, stop_server: Callable[[], None]) -> None:
        time.sleep(self._drain_s)
        for listening in self._sockets:
            refuse_connections(listening)
        time.sleep(SETTLE_SECONDS)
        stop_server()


def refuse_connections(listening: socket.socket) -> None:
    """Let nobody begin a connection, while those that were begun can still be completed and accepted.

    A socket that is closed resets the connections that nobody has accepted yet, and their clients may not know whether
    their requests were seen. Clients whose first packet is dropped send it again, and are refused properly by then.
    Only Linux can do that.
    """
    if sys.platform != "linux":
        return
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in _DROP_SYN))
    with suppress(OSError):
        listening.setsockopt(
            socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HL", len(_DROP_SYN), ctypes.addressof(program))
        )
