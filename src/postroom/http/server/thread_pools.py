"""Threads for requests, in pools by what a request does, so that no kind of work takes the threads of another."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from postroom.http.server.cors import READING
from postroom.http.server.request import Request
from postroom.registry.problems import RegistryProblem
from postroom.settings import Settings

T = TypeVar("T")

PATIENCE_SECONDS = 30.0
RETRY_SECONDS = 10
MATCHING = frozenset({"/match", "/make", "/-/match", "/-/make"})
WITH_MODEL = frozenset({"/", "/modelsource"})
LARGE = frozenset({"filter", "inline", "sort"})
"""Flags that make an answer look at more than one entity."""


class Pool:
    """Some threads, and a queue of requests that wait for one, no longer than it makes sense."""

    def __init__(self, threads: int, most_waiting: int, patience_s: float = PATIENCE_SECONDS) -> None:
        self._threads = ThreadPoolExecutor(threads)
        self._free = asyncio.Semaphore(threads)
        self._most_waiting = most_waiting
        self._patience_s = patience_s
        self._waiting = 0

    async def run(self, function: Callable[[], T], path: str, end: float = math.inf) -> T:
        """Call a function in a thread of the pool; `server_busy` when none is free in time."""
        await self._acquire(path, end)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, function)
        finally:
            self._free.release()

    async def _acquire(self, path: str, end: float) -> None:
        if not self._free.locked():
            await self._free.acquire()
            return
        if self._waiting >= self._most_waiting:
            raise busy(path)
        self._waiting += 1
        try:
            async with asyncio.timeout(min(self._patience_s, end - time.monotonic())):
                await self._free.acquire()
        except TimeoutError:
            raise busy(path) from None
        finally:
            self._waiting -= 1


class Pools:
    """All pools of a process. Threads share one interpreter: few that compute, more that wait for others."""

    def __init__(self, settings: Settings) -> None:
        self._fetches_models = bool(settings.allow_fetch)
        self.reads = Pool(16, 512)
        self.large_reads = Pool(4, 64)
        self.writes = Pool(4, 256)
        self.matches = Pool(4, 64)
        self.fetches = Pool(16, 64)

    def of(self, request: Request) -> Pool:
        """The pool that answers a request."""
        if request.method in READING:
            is_large = request.path == "/export" or any(name in LARGE for name, _ in request.query)
            return self.large_reads if is_large else self.reads
        if request.path in MATCHING:
            return self.matches
        return self.fetches if self._fetches_models and request.path in WITH_MODEL else self.writes


def busy(path: str, detail: str = "") -> RegistryProblem:
    """The refusal of a request that cannot be answered now."""
    return RegistryProblem("server_busy", path, detail=detail, headers={"retry-after": str(RETRY_SECONDS)})
