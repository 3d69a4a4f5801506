"""The access log: one JSON line for each request, without anything secret in it."""

from __future__ import annotations

import logging
import os
import re
import threading
from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime

import msgspec

from postroom.access.keys import has_secret, without_secrets
from postroom.errors import FolderUnwritable
from postroom.http.server.asgi import Scope

LOG = logging.getLogger("postroom.http")
STDERR = "-"
STDERR_DESCRIPTOR = 2
REQUEST_ID = "postroom.request_id"
"""The key of a request's scope under which its id is, where requests have one."""
PRINCIPAL = "postroom.principal"
"""The key of a request's scope under which the name of whoever asks is."""
ID_HEADER = b"x-request-id"
WRITE_SECONDS = 0.2
ATOMIC = 4096
"""So much is written at once: lines of several processes do not mix, in a pipe either (PIPE_BUF)."""
MOST_WAITING = 100_000
LONGEST_TEXT = 512
STOP_SECONDS = 5
PRIVATE = 0o640

_ID = re.compile(rb"[A-Za-z0-9._:+/=@-]{1,128}\Z")


class AccessRecord(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What is written of a request. Queries, headers and bodies are not: they may hold keys and secrets."""

    time: str
    id: str
    method: str
    path: str
    route: str
    status: int
    """499 where the client left before there was an answer."""
    ms: float
    bytes: int
    principal: str = ""
    client: str = ""
    agent: str = ""
    trace: str = ""


def request_id(scope: Scope) -> str:
    """The id that the client or its proxy gave a request, if it is one; otherwise a new one."""
    for name, value in scope["headers"]:
        if name == ID_HEADER and _ID.match(value) and not has_secret(text := str(value, "ascii")):
            return text
    return os.urandom(10).hex()


def loggable(value: str | bytes) -> str:
    """A text of a client without secrets, no longer than is good for a line."""
    text = value.decode("latin-1") if isinstance(value, bytes) else value
    text = without_secrets(text)
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"


def now() -> str:
    """The present time in UTC, with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


class AccessLog:
    """Writes lines in a thread, a few times a second: neither a slow disk nor a full pipe holds up an answer.

    A file that was moved away (logrotate) is made anew. Lines that nobody takes are dropped, and a line says how many.
    """

    def __init__(self, target: str) -> None:
        self._path = "" if target == STDERR else target
        self._descriptor = STDERR_DESCRIPTOR if target == STDERR else -1
        self._lines: deque[bytes] = deque()
        self._dropped = self._dropped_told = 0
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="postroom-access-log", daemon=True)
        try:
            self._open()
        except OSError as error:
            raise FolderUnwritable(
                f"the access log cannot be written: {error.strerror}.",
                place=target,
                remedy="Name another file with access_log, or - for standard error.",
            ) from None

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def stop(self) -> None:
        """Write what is left."""
        self._stopping.set()
        self._thread.join(STOP_SECONDS)

    def note(self, record: AccessRecord) -> None:
        """Write a line soon."""
        if len(self._lines) < MOST_WAITING:
            self._lines.append(msgspec.json.encode(record) + b"\n")
        else:
            self._dropped += 1

    def _run(self) -> None:
        while not self._stopping.wait(WRITE_SECONDS):
            self._write()
        self._write()

    def _write(self) -> None:
        dropped = self._dropped - self._dropped_told
        if dropped:
            self._dropped_told += dropped
            self._lines.append(msgspec.json.encode({"time": now(), "dropped": dropped}) + b"\n")
        if not self._lines:
            return
        try:
            self._open()
            for piece in self._pieces():
                _write_whole(self._descriptor, piece)
        except OSError as error:
            LOG.warning("lines of the access log are lost: %s", error)

    def _pieces(self) -> Iterator[bytes]:
        """The lines that wait, several at a time."""
        piece = bytearray()
        for _ in range(len(self._lines)):
            line = self._lines.popleft()
            if piece and len(piece) + len(line) > ATOMIC:
                yield bytes(piece)
                piece.clear()
            piece += line
        if piece:
            yield bytes(piece)

    def _open(self) -> None:
        """Have the file open that has the name now."""
        if not self._path:
            return
        if self._descriptor >= 0:
            try:
                if os.path.samestat(os.fstat(self._descriptor), os.stat(self._path)):  # noqa: PTH116
                    return
            except FileNotFoundError:
                pass
            os.close(self._descriptor)
            self._descriptor = -1
        self._descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, PRIVATE)


def _write_whole(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
