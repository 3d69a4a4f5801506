"""Traces: what a collector of OpenTelemetry gets from a running service, and that nothing is loaded without one."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from tests.http.running_service import serving

RIDE = "/messagegroups/fleet/messages/ride"
TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


class Collector:
    """Takes what an exporter sends, by the protocol's own messages."""

    def __init__(self) -> None:
        self.requests: list[ExportTraceServiceRequest] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                import gzip

                body = self.rfile.read(int(self.headers["content-length"]))
                if self.headers.get("content-encoding") == "gzip":
                    body = gzip.decompress(body)
                assert self.path == "/v1/traces"
                collector.requests.append(ExportTraceServiceRequest.FromString(body))
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    @property
    def spans(self) -> list[Span]:
        return [
            span
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]


@pytest.fixture
def collector() -> Iterator[Collector]:
    made = Collector()
    yield made
    made.server.shutdown()
    made.server.server_close()


def attributes(of: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in of.attributes}


def test_a_request_and_its_transactions_are_spans_of_the_clients_trace(tmp_path: Path, collector: Collector) -> None:
    database = f"sqlite:///{tmp_path}/registry.db"
    with serving(database, POSTROOM_OTLP_ENDPOINT=collector.url) as (_, url):
        given = {"traceparent": f"00-{TRACE}-{PARENT}-01", "X-Request-Id": "depot-4"}
        assert httpx.put(f"{url}{RIDE}?inline=*", json={}, headers=given).status_code == 201
        assert httpx.get(f"{url}/nothing/here").status_code == 404
    put, missing = [span for span in collector.spans if span.kind == Span.SPAN_KIND_SERVER]
    assert put.name == "PUT /{grouptype}/{groupid}/{resourcetype}/{resourceid}"
    assert (put.trace_id.hex(), put.parent_span_id.hex()) == (TRACE, PARENT)
    assert attributes(put) == {
        "http.request.method": "PUT",
        "http.route": "/{grouptype}/{groupid}/{resourcetype}/{resourceid}",
        "url.path": RIDE,
        "url.scheme": "http",
        "http.response.status_code": 201,
        "postroom.request_id": "depot-4",
    }
    assert put.status.code == missing.status.code == Status.STATUS_CODE_UNSET
    assert missing.trace_id.hex() != TRACE
    store = [span for span in collector.spans if span.parent_span_id == put.span_id]
    assert "store write" in [span.name for span in store]
    assert all(span.trace_id == put.trace_id for span in store)
    assert all(put.start_time_unix_nano <= span.start_time_unix_nano <= put.end_time_unix_nano for span in store)
    resource = attributes(collector.requests[0].resource_spans[0].resource)
    assert resource["service.name"] == "postroom"


def test_what_is_sampled_and_how_it_is_called_is_said_by_the_usual_variables(
    tmp_path: Path, collector: Collector
) -> None:
    variables = {"OTEL_SERVICE_NAME": "fleet-registry", "OTEL_TRACES_SAMPLER": "parentbased_always_off"}
    with serving(f"sqlite:///{tmp_path}/r.db", POSTROOM_OTLP_ENDPOINT=f"{collector.url}/", **variables) as (_, url):
        httpx.get(f"{url}/model")
        httpx.get(f"{url}/capabilities", headers={"traceparent": f"00-{TRACE}-{PARENT}-01"})
    assert {span.name for span in collector.spans if span.kind == Span.SPAN_KIND_SERVER} == {"GET /capabilities"}
    assert attributes(collector.requests[0].resource_spans[0].resource)["service.name"] == "fleet-registry"


def test_a_collector_that_is_not_there_holds_up_nothing(tmp_path: Path) -> None:
    with serving(f"sqlite:///{tmp_path}/r.db", POSTROOM_OTLP_ENDPOINT="http://127.0.0.1:9") as (process, url):
        began = time.monotonic()
        for _ in range(20):
            assert httpx.get(f"{url}/model").status_code == 200
        assert time.monotonic() - began < 10
        began = time.monotonic()
        process.terminate()
        assert process.wait(30) == 0
        assert time.monotonic() - began < 6


UNTRACED = """
import sys
from postroom.catalog.open_store import open_store
from postroom.http.server.app import create_app
from postroom.settings import Settings
create_app(open_store("sqlite:///" + sys.argv[1]), Settings())
print(sorted(name for name in sys.modules if name.startswith("opentelemetry")))
"""

NOT_INSTALLED = """
import sys
sys.modules["opentelemetry"] = None
from postroom.cli.main import run
run(["serve", "--db", "sqlite:///" + sys.argv[1], "--port", "0"])
"""


def test_without_the_setting_nothing_of_opentelemetry_is_loaded(tmp_path: Path) -> None:
    command = [sys.executable, "-c", UNTRACED, str(tmp_path / "r.db")]
    assert subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.strip() == "[]"


def test_where_the_libraries_are_missing_a_sentence_says_how_to_get_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POSTROOM_OTLP_ENDPOINT", "http://127.0.0.1:4318")
    command = [sys.executable, "-c", NOT_INSTALLED, str(tmp_path / "r.db")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 3
    assert "otlp_endpoint: this needs `pip install 'postroom[tracing]'`." in ended.stderr
    assert "Traceback" not in ended.stderr
