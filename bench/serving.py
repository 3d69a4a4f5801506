"""What an answer of the registry costs the server, against a bare ASGI function on the same server."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx

from bench.measure import Ratio, cpu_of, ratio
from postroom.documents.sources import read_source
from postroom.documents.targets import write_target
from postroom.http.app import create_app
from postroom.settings import Settings
from postroom.store import open_store

Send = Callable[[dict[str, Any]], Awaitable[None]]
CATALOG = Path(__file__).parent.parent / "demo" / "catalog"
REQUESTS = 300


async def bare(scope: dict[str, Any], receive: Any, send: Send) -> None:
    """The least an ASGI application can do."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": b"{}"})


def measure() -> Iterator[Ratio]:
    """A message, in process, without a socket."""
    path = "/messagegroups/shop.orders/messages/order.placed"
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/bench.db"
        write_target(read_source(str(CATALOG), Settings()), url, Settings())
        with open_store(url) as store:
            app = create_app(store, Settings())
            yield ratio(
                "GET a message / a bare ASGI answer", lambda: _cost(app, path), lambda: _cost(bare, path), None, 5
            )


def _cost(app: Any, path: str) -> float:
    async def requests() -> None:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://bench") as client:
            for _ in range(REQUESTS):
                answer = await client.get(path)
                if answer.status_code != 200:
                    sys.exit(f"bench: {path} answers {answer.status_code}")

    return cpu_of(lambda: asyncio.run(requests()))
