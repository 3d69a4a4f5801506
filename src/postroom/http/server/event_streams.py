"""Answers that go on: one task for each client that follows, woken by changes, ended when the service stops."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from postroom.http.server.asgi import Receive, Scope, Send
from postroom.http.server.representation import RawHeaders
from postroom.http.server.response import Stream, StreamChunk
from postroom.registry.problems import RegistryProblem
from postroom.store.interface import Store

POLL_SECONDS = 0.25
LOOKS_PER_PULL = 16
THREADS = 16
HEARTBEAT_SECONDS = 15.0
STOP = "postroom.stop"
"""The key of a request's scope under which a stream says how it is told to stop."""


class GuardedStream:
    """A stream that ends as soon as it may not go on."""

    def __init__(self, stream: Stream, may_go_on: Callable[[], bool]) -> None:
        self._stream = stream
        self._may_go_on = may_go_on

    def pull(self) -> StreamChunk:
        """What is to be sent now, if it may be sent."""
        return self._stream.pull() if self._may_go_on() else StreamChunk(data=b"", ends=True)

    def beat(self) -> bytes:
        """What is sent when nothing happened for a while."""
        return self._stream.beat()


class Follower:
    """One client; awake when there may be something to send."""

    def __init__(self) -> None:
        self.awake = asyncio.Event()
        self.is_stopped = False
        self.is_gone = False
        """Whether the client has left."""

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

    def __len__(self) -> int:
        return len(self._followers)

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
            # Where the client goes on when it comes back:
            last = stream.beat() if follower.is_stopped and not follower.is_gone else b""
            await send({"type": "http.response.body", "body": last})
        finally:
            listening.cancel()
            self._remove(follower)

    async def _follow(self, follower: Follower, stream: Stream, send: Send) -> None:
        loop = asyncio.get_running_loop()
        next_beat = loop.time() + HEARTBEAT_SECONDS
        while not follower.is_stopped:
            follower.awake.clear()
            piece = await loop.run_in_executor(self._threads, _pulled, stream)
            if piece.data:
                await send({"type": "http.response.body", "body": piece.data, "more_body": True})
                next_beat = loop.time() + HEARTBEAT_SECONDS
            if piece.ends:
                return
            if piece.more or follower.is_stopped:
                continue
            try:
                async with asyncio.timeout_at(next_beat):
                    await follower.awake.wait()
            except TimeoutError:
                await send({"type": "http.response.body", "body": stream.beat(), "more_body": True})
                next_beat = loop.time() + HEARTBEAT_SECONDS

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

    def _version(self) -> int | None:
        """The version of the store; None while it is not there."""
        with suppress(RegistryProblem):
            return self._store.version()
        return None

    async def _look(self) -> None:
        seen, looks = self._version(), 0
        while True:
            await asyncio.sleep(POLL_SECONDS)
            now, looks = self._version(), looks + 1
            if now != seen or looks % LOOKS_PER_PULL == 0:  # permissions may end without a commit: keys expire
                seen = now
                self.nudge()


def _pulled(stream: Stream) -> StreamChunk:
    """What is to be sent now: nothing, while the store is not there."""
    try:
        return stream.pull()
    except RegistryProblem:
        return StreamChunk(data=b"")


async def _listen(receive: Receive, follower: Follower) -> None:
    with suppress(asyncio.CancelledError):
        while (await receive())["type"] != "http.disconnect":
            await asyncio.sleep(0)
        follower.is_gone = True
        follower.stop()
