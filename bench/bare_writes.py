"""The least that an ASGI application can do to keep what it is sent: one row, committed before the answer."""

from __future__ import annotations

import contextlib
import socket
import sqlite3
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Keep = Callable[[str, bytes], Awaitable[None]]

INSERT = "INSERT INTO kept VALUES (?, ?) ON CONFLICT (path) DO UPDATE SET body = excluded.body"
HEADERS = [(b"content-type", b"application/json"), (b"content-length", b"2")]


class BareWrites:
    """Keeps the body of each request under its path."""

    def __init__(self, database: str) -> None:
        self._database = database
        self._stack = contextlib.AsyncExitStack()
        self._keep: Keep | None = None

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Answer a request, or start."""
        if scope["type"] == "lifespan":
            await receive()
            opened = _sqlite if self._database.startswith("sqlite") else _postgres
            self._keep = await self._stack.enter_async_context(opened(self._database))
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await self._stack.aclose()
            await send({"type": "lifespan.shutdown.complete"})
            return
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        assert self._keep is not None
        await self._keep(scope["path"], body)
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        await send({"type": "http.response.body", "body": b"{}"})


@contextlib.asynccontextmanager
async def _sqlite(database: str) -> AsyncIterator[Keep]:
    with contextlib.closing(sqlite3.connect(database.removeprefix("sqlite:///"), isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE IF NOT EXISTS kept (path TEXT PRIMARY KEY, body BLOB) WITHOUT ROWID")

        async def keep(path: str, body: bytes) -> None:
            connection.execute(INSERT, (path, body))

        yield keep


@contextlib.asynccontextmanager
async def _postgres(database: str) -> AsyncIterator[Keep]:
    import psycopg

    async with await psycopg.AsyncConnection.connect(database, autocommit=True) as connection:
        await connection.execute(b"CREATE TABLE IF NOT EXISTS kept (path TEXT PRIMARY KEY, body BYTEA)")

        async def keep(path: str, body: bytes) -> None:
            await connection.execute(INSERT.replace("?", "%s").encode(), (path, body))

        yield keep


def _serve(database: str) -> None:
    from postroom.http.server.worker_processes import AnnouncingServer, configuration
    from postroom.settings import Settings

    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        config = configuration(Settings(), lambda: BareWrites(database))  # type: ignore[arg-type,return-value]
        AnnouncingServer(config, lambda: print(f"listening on http://127.0.0.1:{port}", flush=True)).run([listening])


if __name__ == "__main__":
    _serve(sys.argv[1])
