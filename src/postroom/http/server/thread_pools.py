"""Threads for requests, in pools by what a request does, until a deadline, as long as the client is there."""

from __future__ import annotations

import asyncio
import math
import sys
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from contextvars import copy_context
from functools import partial
from typing import Any, TypeVar

from postroom.deadlines import deadline
from postroom.http.operations.route_templates import COLLECTIONS, route_of
from postroom.http.server.asgi import Receive
from postroom.http.server.cors import READING
from postroom.http.server.request import Request
from postroom.registry.permissions import DEEPEST
from postroom.registry.problems import RegistryProblem
from postroom.settings import Settings

T = TypeVar("T")

MAX_WAIT_SECONDS = 30.0
SHORT_TURN_SECONDS, LONG_TURN_SECONDS = 0.00002, 0.0003
LONG_AFTER_SECONDS = 0.05
"""When something that usually takes little time takes long."""
RETRY_SECONDS = 10
MATCHING = frozenset({"/match", "/make", "/-/match", "/-/make"})
PROBES = frozenset({"/healthz", "/readyz", "/-/healthz", "/-/readyz"})
WITH_MODEL = frozenset({"/", "/modelsource"})
LARGE = frozenset({"filter", "inline", "sort"})
"""Flags that make an answer look at more than one entity."""
SMALL_BODY = 64 * 1024
PAGED = frozenset({"limit", "cursor"})
"""Flags of a page: no more of a collection than that is looked at."""


class InterpreterTurns:
    """How long a thread computes before one that waits for the interpreter gets its turn.

    A cheap GET needs several turns of the event loop: beside a thread that computes for long, with a millisecond each,
    no more than a few hundred of them a second get through. Changing turns costs as much as a cheap GET, though, and
    what takes little time gives turns away by itself whenever it asks the store.
    """

    def __init__(self) -> None:
        self._long: set[asyncio.Future[Any]] = set()
        sys.setswitchinterval(LONG_TURN_SECONDS)

    async def during(self, work: asyncio.Future[T], after_s: float) -> T:
        """Wait for what a thread does; turns are short from so many seconds on, until it is done."""
        timer = asyncio.get_running_loop().call_later(after_s, self._shorten, work)
        try:
            return await work
        finally:
            timer.cancel()
            self._long.discard(work)
            if not self._long:
                sys.setswitchinterval(LONG_TURN_SECONDS)

    def _shorten(self, work: asyncio.Future[Any]) -> None:
        self._long.add(work)
        sys.setswitchinterval(SHORT_TURN_SECONDS)


class Pool:
    """Some threads, and a queue of requests that wait for one, no longer than it makes sense."""

    def __init__(
        self,
        threads: int,
        most_waiting: int,
        max_wait_s: float = MAX_WAIT_SECONDS,
        turns: InterpreterTurns | None = None,
        is_long: bool = False,
    ) -> None:
        self._threads = ThreadPoolExecutor(threads)
        self._turns = turns or InterpreterTurns()
        self._long_after_s = 0.0 if is_long else LONG_AFTER_SECONDS
        self._free = asyncio.Semaphore(threads)
        self._most_waiting = most_waiting
        self._max_wait_s = max_wait_s
        self.waiting = 0
        """How many requests wait for a thread."""
        self.busy = 0
        """How many threads are at work."""

    async def run(self, function: Callable[[], T], path: str, end: float = math.inf) -> T:
        """Call a function in a thread of the pool; `server_busy` when none is free in time."""
        await self._acquire(path, end)
        self.busy += 1
        try:
            in_context = partial(copy_context().run, function)  # so that what is done there is traced with the request
            work = asyncio.get_running_loop().run_in_executor(self._threads, in_context)
            return await self._turns.during(work, self._long_after_s)
        finally:
            self.busy -= 1
            self._free.release()

    async def _acquire(self, path: str, end: float) -> None:
        if not self._free.locked():
            await self._free.acquire()
            return
        if self.waiting >= self._most_waiting:
            raise busy(path)
        self.waiting += 1
        try:
            async with asyncio.timeout(min(self._max_wait_s, end - time.monotonic())):
                await self._free.acquire()
        except TimeoutError:
            raise busy(path) from None
        finally:
            self.waiting -= 1


class Pools:
    """All pools of a process. Threads share one interpreter: few that compute, more that wait for others."""

    def __init__(self, settings: Settings) -> None:
        self._fetches_models = bool(settings.allow_fetch)
        turns = InterpreterTurns()
        self.reads = Pool(16, 512, turns=turns)
        self.large_reads = Pool(4, 64, turns=turns, is_long=True)
        self.writes = Pool(4, 256, turns=turns, is_long=True)
        self.small_writes = Pool(16, 256, turns=turns)
        self.matches = Pool(4, 64, turns=turns, is_long=True)
        self.fetches = Pool(16, 64, turns=turns)
        self.sign_ins = Pool(4, 64, turns=turns)
        self.probes = Pool(2, 64, turns=turns)

    def named(self) -> dict[str, Pool]:
        """All of them by name."""
        return {name: pool for name, pool in vars(self).items() if isinstance(pool, Pool)}

    def of(self, request: Request) -> Pool:
        """The pool that answers a request."""
        if request.path in PROBES:
            return self.probes
        if request.method in READING:
            return self.large_reads if _is_large(request) else self.reads
        if request.path in MATCHING:
            return self.matches
        if self._fetches_models and request.path in WITH_MODEL:
            return self.fetches
        return self.small_writes if is_small_write(request) else self.writes


def _is_large(request: Request) -> bool:
    """Whether an answer may show many entities: a few of those at once would keep all others from their threads."""
    flags = {name for name, _ in request.query}
    is_whole = flags.isdisjoint(PAGED) and route_of(request.path) in COLLECTIONS
    return request.path == "/export" or is_whole or not flags.isdisjoint(LARGE)


def is_small_write(request: Request) -> bool:
    """Whether a write is about one Resource and takes little time, most of which it waits for others and the disk."""
    is_short = request.method in ("PUT", "PATCH", "POST") and len(request.body) <= SMALL_BODY
    return is_short and len(request.path.split("/")) > DEEPEST and not request.path.startswith("/-/")


class ClientGone(Exception):
    """Nobody waits for the answer any more."""


class ClientWatch:
    """Whether the client of a request is still there."""

    def __init__(self) -> None:
        self.is_gone = False

    async def listen(self, receive: Receive) -> None:
        """Wait until the client leaves."""
        while (await receive())["type"] != "http.disconnect":
            await asyncio.sleep(0)
        self.is_gone = True


@asynccontextmanager
async def listening(receive: Receive) -> AsyncIterator[ClientWatch]:
    """The client of a request whose body was read, watched as long as the block lasts."""
    client = ClientWatch()
    task = asyncio.create_task(client.listen(receive))
    try:
        yield client
    finally:
        task.cancel()


class RequestRunner:
    """Runs what has to be done for a request. A write has no deadline: it is done whole or not at all."""

    def __init__(self, request: Request, pools: Pools, settings: Settings, client: ClientWatch) -> None:
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


def busy(path: str, detail: str = "") -> RegistryProblem:
    """The refusal of a request that cannot be answered now."""
    return RegistryProblem("server_busy", path, detail=detail, headers={"retry-after": str(RETRY_SECONDS)})
