"""What `HttpConnection` and the worker processes use of uvicorn that its documentation does not promise.

uvicorn is not pinned below its next minor version: when one of these names is gone, these tests say which.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator

import pytest
from uvicorn import Config
from uvicorn.config import STARTUP_FAILURE
from uvicorn.protocols.http import httptools_impl
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.server import ServerState
from uvicorn.supervisors import Multiprocess

OVERRIDDEN = (
    *("connection_made", "connection_lost", "data_received", "eof_received", "pause_writing", "resume_writing"),
    *("on_message_begin", "on_url", "on_header", "on_headers_complete", "on_message_complete"),
    *("on_response_complete", "shutdown", "_unset_keepalive_if_required", "_start_asgi_task"),
)
READ_OF_CONNECTION = ("cycle", "flow", "headers", "loop", "parser", "pipeline", "scope", "server", "server_state")
READ_OF_CYCLE = ("disconnected", "keep_alive", "message_event", "response_complete", "response_started", "scope")
READ_OF_FLOW = ("resume_reading", "write_paused")


@pytest.fixture
def protocol() -> Iterator[httptools_impl.HttpToolsProtocol]:
    async def app(_scope: object, _receive: object, _send: object) -> None:
        """Answers nothing."""

    loop = asyncio.new_event_loop()
    yield httptools_impl.HttpToolsProtocol(Config(app, interface="asgi3"), ServerState(), {}, loop)
    loop.close()


@pytest.mark.parametrize("name", OVERRIDDEN)
def test_a_method_that_is_overridden_is_still_called_by_uvicorn(name: str) -> None:
    assert callable(getattr(httptools_impl.HttpToolsProtocol, name, None)), (
        f"uvicorn's protocol has no {name} any more: see http/server/connections.py"
    )


@pytest.mark.parametrize("name", READ_OF_CONNECTION)
def test_the_state_of_a_connection_is_where_it_was(protocol: httptools_impl.HttpToolsProtocol, name: str) -> None:
    assert hasattr(protocol, name), f"uvicorn's protocol has no {name} any more: see http/server/connections.py"


@pytest.mark.parametrize("name", READ_OF_CYCLE)
def test_the_state_of_a_request_is_where_it_was(name: str) -> None:
    source = inspect.getsource(httptools_impl.RequestResponseCycle.__init__)
    assert f"self.{name} " in source or f"self.{name}:" in source, (
        f"uvicorn's request has no {name} any more: see http/server/connections.py"
    )


@pytest.mark.parametrize("name", READ_OF_FLOW)
def test_the_state_of_writing_is_where_it_was(name: str) -> None:
    flow = FlowControl(asyncio.Transport())
    assert hasattr(flow, name), f"uvicorn's flow control has no {name} any more: see http/server/connections.py"


def test_status_lines_and_default_headers_are_where_they_were() -> None:
    assert httptools_impl.STATUS_LINE[431].startswith(b"HTTP/1.1 431 ")
    assert ServerState().default_headers == []


def test_a_supervisor_keeps_its_workers_and_the_code_of_a_failed_start() -> None:
    assert "self.processes" in inspect.getsource(Multiprocess.__init__)
    assert STARTUP_FAILURE == 3
