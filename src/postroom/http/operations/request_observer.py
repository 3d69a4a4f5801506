"""What is noted of every request: its time by route, method and status; where wanted, a line in the log and a span."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from time import perf_counter

from postroom.http.operations.access_log import (
    ID_HEADER,
    PRINCIPAL,
    REQUEST_ID,
    AccessLog,
    AccessRecord,
    loggable,
    now,
    request_id,
)
from postroom.http.operations.metrics import ProcessMetrics
from postroom.http.operations.route_templates import method_of, route_of
from postroom.http.operations.tracing import RequestSpan, Tracing
from postroom.http.server.asgi import Message, Receive, Scope, Send
from postroom.http.server.event_streams import STOP

CLOSED_BY_CLIENT = 499
"""The status of a request whose client left before there was an answer, as nginx counts it."""

Serve = Callable[[Scope, Receive, Send], Awaitable[None]]


class RequestObserver:
    """Passes requests on and notes what became of each."""

    def __init__(
        self,
        serve: Serve,
        metrics: ProcessMetrics,
        log: AccessLog | None = None,
        tracing: Tracing | None = None,
        client_of: Callable[[Scope], str] = lambda _: "",
    ) -> None:
        self._serve = serve if log is None and tracing is None else self._serve_identified
        self._inner = serve
        self._metrics = metrics
        self._log = log
        self._tracing = tracing
        self._client_of = client_of

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
            labels = (method_of(scope["method"]), route_of(scope["path"]), str(status or CLOSED_BY_CLIENT))
            metrics.requests.observe(labels, end - began)

    async def _serve_identified(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that has an id, which the client is told."""
        scope[REQUEST_ID] = given_id = request_id(scope)
        method, route = method_of(scope["method"]), route_of(scope["path"])
        span = self._tracing.begin(scope, method, route) if self._tracing is not None else None
        status, size, began = CLOSED_BY_CLIENT, 0, perf_counter()

        def sending(message: Message) -> Awaitable[None]:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (ID_HEADER, given_id.encode())]
            else:
                size += len(message.get("body", b""))
            return send(message)

        try:
            await self._inner(scope, receive, sending)
        finally:
            if span is not None:
                span.end(status, scope.get(PRINCIPAL, ""), given_id)
            if self._log is not None:
                self._log.note(self._record(scope, route, status, size, perf_counter() - began, span))

    def _record(
        self, scope: Scope, route: str, status: int, size: int, seconds: float, span: RequestSpan | None
    ) -> AccessRecord:
        return AccessRecord(
            time=now(),
            id=scope[REQUEST_ID],
            method=loggable(scope["method"]),
            path=loggable(scope["path"]),
            route=route,
            status=status,
            ms=round(seconds * 1000, 3),
            bytes=size,
            principal=loggable(scope.get(PRINCIPAL, "")),
            client=self._client_of(scope),
            agent=loggable(next((value for name, value in scope["headers"] if name == b"user-agent"), b"")),
            trace="" if span is None else span.trace_id,
        )
