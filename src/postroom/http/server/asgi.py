"""The ASGI interface: the types of its callables, and the lifespan protocol."""

from __future__ import annotations

import traceback
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import AbstractContextManager
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]


async def run_lifespan(running: AbstractContextManager[None], receive: Receive, send: Send) -> None:
    """Enter a context when the server starts and leave it when the server stops."""
    stage = "startup"
    try:
        await receive()
        with running:
            await send({"type": "lifespan.startup.complete"})
            await receive()
            stage = "shutdown"
    except BaseException:
        await send({"type": f"lifespan.{stage}.failed", "message": traceback.format_exc()})
        raise
    await send({"type": "lifespan.shutdown.complete"})
