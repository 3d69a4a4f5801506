"""Traces of OpenTelemetry: a span for each request and one for each of its transactions, sent by OTLP over HTTP.

The libraries are an extra. The variables of OpenTelemetry (OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES,
OTEL_EXPORTER_OTLP_HEADERS, OTEL_TRACES_SAMPLER, …) hold as everywhere.
"""

from __future__ import annotations

import os
import threading
import time
from typing import Any

from postroom.errors import ExtraMissing
from postroom.http.operations.access_log import loggable
from postroom.http.server.asgi import Scope
from postroom.settings import Settings
from postroom.version import VERSION

TRACES = "/v1/traces"
STOP_SECONDS = 2


def open_tracing(settings: Settings) -> Tracing | None:
    """Where traces go, if the settings say that they go anywhere."""
    return Tracing(settings.otlp_endpoint) if settings.otlp_endpoint else None


class Tracing:
    """Makes spans and sends them in batches, from a thread of the library."""

    def __init__(self, endpoint: str) -> None:
        try:
            from opentelemetry import context, trace
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
            from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
        except ImportError:
            raise ExtraMissing("this needs `pip install 'postroom[tracing]'`.", place="otlp_endpoint") from None
        named = {} if "OTEL_SERVICE_NAME" in os.environ else {"service.name": "postroom"}
        self._context, self._trace = context, trace
        self._provider = TracerProvider(
            resource=Resource.create({**named, "service.version": VERSION}), shutdown_on_exit=False
        )
        url = endpoint if endpoint.endswith(TRACES) else endpoint.rstrip("/") + TRACES
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=url)))
        self._tracer = self._provider.get_tracer("postroom", VERSION)
        self._propagator = TraceContextTextMapPropagator()

    def begin(self, scope: Scope, method: str, route: str) -> RequestSpan:
        """The span of a request, part of the trace that the client says it belongs to."""
        carrier = {
            name.decode("latin-1"): value.decode("latin-1")
            for name, value in scope["headers"]
            if name in (b"traceparent", b"tracestate")
        }
        attributes = {
            "http.request.method": method,
            "http.route": route,
            "url.path": loggable(scope["path"]),
            "url.scheme": scope.get("scheme", "http"),
        }
        span = self._tracer.start_span(
            f"{method} {route}",
            context=self._propagator.extract(carrier),
            kind=self._trace.SpanKind.SERVER,
            attributes=attributes,
        )
        return RequestSpan(span, self._context, self._trace)

    def observe_transaction(self, operation: str, outcome: str, begin_s: float, seconds: float) -> None:
        """Add a transaction that has just ended to the request that it was made for, if there is one."""
        if not self._trace.get_current_span().is_recording():
            return
        end = time.time_ns()
        attributes: dict[str, Any] = {"postroom.outcome": outcome, "postroom.begin_ms": begin_s * 1000}
        span = self._tracer.start_span(f"store {operation}", start_time=end - int(seconds * 1e9), attributes=attributes)
        span.end(end_time=end)

    def stop(self) -> None:
        """Send what is left, unless the collector keeps us waiting."""
        last = threading.Thread(target=self._provider.shutdown, daemon=True)
        last.start()
        last.join(STOP_SECONDS)


class RequestSpan:
    """The span of a request while it is answered: what is done for it, in this task, becomes part of it."""

    def __init__(self, span: Any, context: Any, trace: Any) -> None:
        self._span, self._context, self._trace = span, context, trace
        self._token = context.attach(trace.set_span_in_context(span))
        self.trace_id: str = trace.format_trace_id(span.get_span_context().trace_id)

    def end(self, status: int, principal: str, request_id: str) -> None:
        """End it with what became of the request."""
        self._context.detach(self._token)
        self._span.set_attribute("http.response.status_code", status)
        self._span.set_attribute("postroom.request_id", request_id)
        if principal:
            self._span.set_attribute("enduser.id", principal)
        if status >= 500:
            self._span.set_status(self._trace.Status(self._trace.StatusCode.ERROR))
        self._span.end()
