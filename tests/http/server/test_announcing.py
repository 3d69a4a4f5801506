"""A service of several processes says where it listens when one of them answers, however long that takes."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable

import pytest

from postroom.http.server.worker_processes import Address

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"


def _closed_unanswered(asked: socket.socket) -> None:
    asked.recv(65536)


def _answered(asked: socket.socket) -> None:
    asked.recv(65536)
    asked.sendall(ANSWER)


@pytest.mark.parametrize("first", [[], [_closed_unanswered], [_closed_unanswered, _closed_unanswered]])
def test_it_is_asked_again_until_it_answers(
    first: list[Callable[[socket.socket], None]], capfd: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            for step in (*first, _answered):
                asked, _ = listening.accept()
                with asked:
                    step(asked)

        server = threading.Thread(target=serve, daemon=True)
        server.start()
        port = listening.getsockname()[1]
        Address("127.0.0.1", port, is_secure=False).say_when_answering()
        server.join(30)
    assert capfd.readouterr().out == f"listening on http://127.0.0.1:{port}\n"
