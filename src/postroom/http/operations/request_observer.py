"""What is noted of every request: how long it took, by route, method and status."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from time import perf_counter

from postroom.http.operations.metrics import ProcessMetrics
from postroom.http.operations.route_templates import method_of, route_of
from postroom.http.server.asgi import Message, Receive, Scope, Send
from postroom.http.server.event_streams import STOP

CLOSED_BY_CLIENT = "499"
"""The status of a request whose client left before there was an answer, as nginx counts it."""

Serve = Callable[[Scope, Receive, Send], Awaitable[None]]


class RequestObserver:
    """Passes requests on and notes what became of each."""

    def __init__(self, serve: Serve, metrics: ProcessMetrics) -> None:
        self._serve = serve
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Have a request answered."""
        metrics, status, head, began = self._metrics, 0, 0.0, perf_counter()

        def sending(message: Message) -> Awaitable[None]:
            nonlocal status, head
            if not status:
                status, head = message["status"], perf_counter()
            return send(message)

        metrics.in_progress += 1
        try:
            await self._serve(scope, receive, sending)
        finally:
            metrics.in_progress -= 1
            end = head if STOP in scope else perf_counter()
            labels = (method_of(scope["method"]), route_of(scope["path"]), str(status) if status else CLOSED_BY_CLIENT)
            metrics.requests.observe(labels, end - began)
