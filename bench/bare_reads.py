"""The least that an ASGI application can do to answer a GET: bytes at hand, or bytes that one SELECT finds."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import functools
import json
import socket
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

CONNECTIONS = 16
NOTHING: tuple[Headers, bytes] = ([(b"content-length", b"2")], b"{}")


class BareReads:
    """Gives each path the answer that the registry gave it; with a database, its body is selected there each time."""

    def __init__(self, answers: str, database: str = "") -> None:
        self._answers = load(answers)
        self._database = database
        self._stack = contextlib.AsyncExitStack()
        self._idle: asyncio.LifoQueue[Any] = asyncio.LifoQueue()

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Answer a request, or start."""
        if scope["type"] == "lifespan":
            await receive()
            if self._database:
                await self._stack.enter_async_context(self._connected())
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await self._stack.aclose()
            await send({"type": "lifespan.shutdown.complete"})
            return
        if scope["method"] != "GET":
            while (await receive()).get("more_body", False):
                pass
        headers, body = self._answers.get(scope["path"], NOTHING)
        if self._database:
            body = await self._selected(scope["path"])
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    @contextlib.asynccontextmanager
    async def _connected(self) -> AsyncIterator[None]:
        import psycopg

        async with contextlib.AsyncExitStack() as stack:
            for _ in range(CONNECTIONS):
                connection = await psycopg.AsyncConnection.connect(self._database, autocommit=True)
                self._idle.put_nowait(await stack.enter_async_context(connection))
            yield

    async def _selected(self, path: str) -> bytes:
        connection = await self._idle.get()
        try:
            cursor = await connection.execute("SELECT body FROM answer WHERE path = %s", (path,), binary=True)
            row = await cursor.fetchone()
        finally:
            self._idle.put_nowait(connection)
        return bytes(row[0]) if row else NOTHING[1]


def save(file: Path, answers: dict[str, tuple[Headers, bytes]]) -> None:
    """Write answers for a server to load."""
    rows = {
        path: [[[name.decode(), value.decode()] for name, value in headers], base64.b64encode(body).decode()]
        for path, (headers, body) in answers.items()
    }
    file.write_text(json.dumps(rows))


def load(file: str) -> dict[str, tuple[Headers, bytes]]:
    """The answers of a file."""
    rows = json.loads(Path(file).read_text())
    return {
        path: ([(name.encode(), value.encode()) for name, value in headers], base64.b64decode(body))
        for path, (headers, body) in rows.items()
    }


def insert(database: str, answers: dict[str, tuple[Headers, bytes]]) -> None:
    """Put answers into a table."""
    import psycopg

    with psycopg.connect(database) as connection:
        connection.execute("CREATE TABLE answer (path TEXT PRIMARY KEY, body BYTEA)")
        with connection.cursor() as cursor:
            rows = [(path, body) for path, (_, body) in answers.items()]
            cursor.executemany("INSERT INTO answer VALUES (%s, %s)", rows)


def _serve(answers: str, workers: str, database: str = "") -> None:
    from postroom.http.server.worker_processes import Address, AnnouncingServer, WorkerSupervisor, configuration
    from postroom.settings import Settings

    settings = Settings(workers=int(workers))
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listening:
        address = Address("127.0.0.1", listening.getsockname()[1], is_secure=False)
        config = configuration(settings, functools.partial(BareReads, answers, database))  # type: ignore[arg-type]
        if settings.workers == 1:
            AnnouncingServer(config, address.say).run([listening])
        else:
            threading.Thread(target=address.say_when_answering, daemon=True).start()
            WorkerSupervisor(config, [listening], drain_s=0.0).run()


if __name__ == "__main__":
    _serve(*sys.argv[1:])
