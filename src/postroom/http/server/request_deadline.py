"""The work for one request: in a pool of threads, until a deadline, as long as the client is there."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import TypeVar

from postroom.deadlines import deadline
from postroom.http.server.asgi import Receive
from postroom.http.server.cors import READING
from postroom.http.server.request import Request
from postroom.http.server.thread_pools import MATCHING, Pool, Pools
from postroom.settings import Settings

T = TypeVar("T")


class ClientGone(Exception):
    """Nobody waits for the answer any more."""


class Client:
    """Whoever sent a request."""

    def __init__(self) -> None:
        self.is_gone = False

    async def listen(self, receive: Receive) -> None:
        """Wait until the client leaves."""
        while (await receive())["type"] != "http.disconnect":
            await asyncio.sleep(0)
        self.is_gone = True


@asynccontextmanager
async def listening(receive: Receive) -> AsyncIterator[Client]:
    """The client of a request whose body was read, watched as long as the block lasts."""
    client = Client()
    task = asyncio.create_task(client.listen(receive))
    try:
        yield client
    finally:
        task.cancel()


class Work:
    """Runs what has to be done for a request. A write has no deadline: it is done whole or not at all."""

    def __init__(self, request: Request, pools: Pools, settings: Settings, client: Client) -> None:
        self._path = request.path
        self._pool = pools.of(request)
        self._client = client
        is_timed = request.method in READING or request.path in MATCHING
        self._end = time.monotonic() + settings.request_timeout_s if is_timed else math.inf

    async def run(self, function: Callable[[], T], pool: Pool | None = None) -> T:
        """Call a function in a thread; ClientGone when that is of no use, `server_busy` when no thread is free."""
        return await (pool or self._pool).run(partial(self._in_time, function), self._path, self._end)

    def _in_time(self, function: Callable[[], T]) -> T:
        if self._client.is_gone:
            raise ClientGone
        with deadline(self._end):
            return function()
