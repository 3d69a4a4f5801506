"""Answers that go on: one task for each client that follows, woken by changes, ended when the service stops."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from postroom.http.server.asgi import Receive, Scope, Send
from postroom.http.server.representation import RawHeaders
from postroom.http.server.response import Stream
from postroom.store.interface import Store

POLL_SECONDS = 0.25
THREADS = 16
HEARTBEAT_SECONDS = 15.0
STOP = "postroom.stop"
"""The key of a request's scope under which a stream says how it is told to stop."""


class Follower:
    """One client; awake when there may be something to send."""

    def __init__(self) -> None:
        self.awake = asyncio.Event()
        self.is_stopped = False

    def stop(self) -> None:
        """End its stream."""
        self.is_stopped = True
        self.awake.set()


class Streams:
    """The clients of this process that follow something; writes of other processes are found by looking."""

    def __init__(self, store: Store, most: int) -> None:
        self._store = store
        self._most = most
        # Threads of their own, so that clients who catch up keep no upload waiting.
        self._threads = ThreadPoolExecutor(THREADS, "streams")
        self._followers: set[Follower] = set()
        self._looking: asyncio.Task[None] | None = None

    @property
    def is_full(self) -> bool:
        """Whether another client would be too many."""
        return len(self._followers) >= self._most

    def nudge(self) -> None:
        """Say that something may have changed."""
        for follower in self._followers:
            follower.awake.set()

    async def serve(self, stream: Stream, headers: RawHeaders, scope: Scope, receive: Receive, send: Send) -> None:
        """Send what the stream has until the client goes, the stream ends or the service stops."""
        follower = self._added()
        scope[STOP] = follower.stop
        listening = asyncio.create_task(_listen(receive, follower))
        try:
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await self._follow(follower, stream, send)
            await send({"type": "http.response.body", "body": b""})
        finally:
            listening.cancel()
            self._remove(follower)

    async def _follow(self, follower: Follower, stream: Stream, send: Send) -> None:
        while not follower.is_stopped:
            follower.awake.clear()
            piece = await asyncio.get_running_loop().run_in_executor(self._threads, stream.pull)
            if piece.data:
                await send({"type": "http.response.body", "body": piece.data, "more_body": True})
            if piece.ends:
                return
            if piece.more or follower.is_stopped:
                continue
            try:
                async with asyncio.timeout(HEARTBEAT_SECONDS):
                    await follower.awake.wait()
            except TimeoutError:
                await send({"type": "http.response.body", "body": stream.beat(), "more_body": True})

    def _added(self) -> Follower:
        follower = Follower()
        self._followers.add(follower)
        if self._looking is None:
            self._looking = asyncio.create_task(self._look())
        return follower

    def _remove(self, follower: Follower) -> None:
        self._followers.discard(follower)
        if not self._followers and self._looking is not None:
            self._looking.cancel()
            self._looking = None

    async def _look(self) -> None:
        seen = self._store.version()
        while True:
            await asyncio.sleep(POLL_SECONDS)
            now = self._store.version()
            if now != seen:
                seen = now
                self.nudge()


async def _listen(receive: Receive, follower: Follower) -> None:
    with suppress(asyncio.CancelledError):
        while (await receive())["type"] != "http.disconnect":
            await asyncio.sleep(0)
        follower.stop()
