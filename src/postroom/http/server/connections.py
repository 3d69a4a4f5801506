"""HTTP connections: uvicorn's protocol with limits of size and time, and problem documents for what is refused.

uvicorn gives keep-alive timeouts, pipelining and flow control. Each override here gives what it does not:

- `connection_made`, `data_received`, `on_message_begin`: a time limit for the head of a request, from its first byte;
- `on_url`, `on_header`, `data_received`: limits of size for the request target and the head; trailers are dropped;
- `on_headers_complete`: known versions of HTTP only, exactly one Host, targets in absolute form, methods of any name;
- `on_message_complete`: an offer to upgrade is declined and the body read all the same;
- `pause_writing`, `resume_writing`, `on_response_complete`: a time limit for clients that do not read their response,
  or do not send the rest of a body that nobody reads;
- `eof_received`: a client that only closed its side still gets its response;
- `shutdown`: event streams end, and no connection is closed under a request that is on its way;
- `connection_lost`, `_start_asgi_task`: timers go, and the request at hand hears of it though others came behind it.
"""

from __future__ import annotations

import asyncio
import re
import socket
import struct
from typing import Any, NoReturn

import httptools
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from postroom.http.server.event_streams import STOP
from postroom.http.server.representation import represent
from postroom.http.server.request import Request
from postroom.http.server.request_target import origin_form, with_encoded_line
from postroom.http.xregistry.dispatch import refuse
from postroom.registry.problems import RegistryProblem

MAX_TARGET = 64 * 1024
MAX_HEAD = 128 * 1024
HEADER_OVERHEAD = 32
"""What a header line counts beside its name and its value, as in RFC 9113 §10.5.1: an empty line is work as well."""
LINGER_SECONDS = 2.0
LAST_REQUEST_SECONDS = 1.0
"""How long a connection on which nothing is asked stays open once the service stops."""
NO_LINGER = struct.pack("ii", 1, 0)
MAX_UNSENT = 64 * 1024
"""With more than that in memory for a client, nothing more is written until all of it is gone."""
MIN_READ = 16 * 1024
"""What a client has to read of its answer, within the time that the setting gives, to be slow and not gone."""
PLACEHOLDER_METHOD = b"POST"
FRAMING = (b"content-length", b"transfer-encoding")
VERSIONS = ("1.0", "1.1")

_METHOD = re.compile(rb"(?:\r\n)*([!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}) ")


class HttpConnection(HttpToolsProtocol):
    """uvicorn's protocol, with limits on the head of a request, and with problem documents for what is no HTTP."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        head_timeout_s: float = 60.0,
        send_timeout_s: float = 60.0,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._head_timeout_s = head_timeout_s
        self._send_timeout_s = send_timeout_s
        self._timer: asyncio.TimerHandle | None = None
        self._send_timer: asyncio.TimerHandle | None = None
        self._running: RequestResponseCycle | None = None
        """The request that the application answers; others may have come behind it."""
        self._responses_sent = 0
        """How many responses were written whole, to the network or to memory."""
        self._is_stopping = False
        self._in_request = False
        self._in_head = False
        self._requests_begun = 0
        """How many requests began in the bytes at hand."""
        self._head_size = 0
        self._headers_size = 0
        self._method = b""
        """The method of the request at hand, if the parser does not know it and was given another one."""
        self._resumes_body = False
        """Whether the parser is made to read the body of a request whose head was read before."""
        self._problem: RegistryProblem | None = None
        self._error_response = b""
        """The response that ends the connection; nothing that arrives after its cause is looked at."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=MAX_UNSENT, low=0)
        self._start_timer(self._head_timeout_s)

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_timer()
        self._cancel_send_timer()
        running = self._running
        if running is not None and running is not self.cycle:  # uvicorn tells the last request that came
            running.disconnected = True
            running.message_event.set()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The client does not read as quickly as is written: nothing more is, until it has read everything."""
        super().pause_writing()
        self._start_send_timer()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._cancel_send_timer()

    def shutdown(self) -> None:
        """Begin to stop. What would go on for ever is told to end; a client that was not told that its connection
        closes, and may be sending a request right now, gets a last answer, which says so.
        """
        self._is_stopping = True
        if self.cycle is None or self.cycle.response_complete:
            self._start_timer(LAST_REQUEST_SECONDS)
            return
        if not self.cycle.response_started:
            self.cycle.keep_alive = False
        self._end_stream()

    def _end_stream(self) -> None:
        stop: Any = self.cycle.scope.get(STOP)
        if stop is not None:
            stop()

    def eof_received(self) -> bool:  # type: ignore[override]  # uvicorn's closes at once
        """A client that has said everything still wants its answer, but not one that goes on: that one has left."""
        if self._in_request or self.cycle is None or self.cycle.response_complete:
            return False
        self.cycle.keep_alive = False
        self._end_stream()
        return True

    def data_received(self, data: bytes) -> None:
        if self._error_response:
            return
        self._unset_keepalive_if_required()
        self._requests_begun, was_idle = 0, not self._in_request
        try:
            self._feed(with_encoded_line(data) if was_idle else data, was_idle)
        except httptools.HttpParserError as error:
            detail = f"this is no HTTP request ({str(error).rstrip('.').lower()})"
            self._refuse(self._problem or _bad(detail, self.url if self._in_request else b""))
        if self._in_head and not self._error_response:
            self._limit_head(len(data))

    def _feed(self, data: bytes, was_idle: bool) -> None:
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserInvalidMethodError:
            unknown = _METHOD.match(data)
            if not was_idle or self._requests_begun > 1 or unknown is None:
                raise
            self._method = unknown[1]
            self.parser = httptools.HttpRequestParser(self)
            self._feed(PLACEHOLDER_METHOD + data[unknown.end(1) :], was_idle=False)
        except httptools.HttpParserUpgrade as upgrade:
            if self.scope["method"] != "CONNECT":
                self._decline_upgrade(data[upgrade.args[0] :])

    def _decline_upgrade(self, rest: bytes) -> None:
        """Read the body after all: a request that offers another protocol is still a request (Java's clients offer)."""
        framing = [b"%b: %b\r\n" % one for one in self.headers if one[0] in FRAMING]
        self._resumes_body = True
        self.parser = httptools.HttpRequestParser(self)
        self._feed(b"".join((PLACEHOLDER_METHOD, b" / HTTP/1.1\r\n", *framing, b"\r\n", rest)), was_idle=False)

    def _limit_head(self, size: int) -> None:
        if self._requests_begun == 0:
            self._head_size += size
            if self._head_size > MAX_HEAD:
                self._refuse(_too_long("the head of the request", MAX_HEAD, self.url, 431))
                return
        if self._timer is None:
            self._start_timer(self._head_timeout_s)

    def on_message_begin(self) -> None:
        if self._resumes_body:
            return
        super().on_message_begin()
        self._in_request = self._in_head = True
        self._requests_begun += 1
        self._head_size = self._headers_size = 0

    def on_url(self, url: bytes) -> None:
        if self._resumes_body:
            return
        super().on_url(url)
        if len(self.url) > MAX_TARGET:
            self._abort_parsing(_too_long("the request target", MAX_TARGET, self.url, 414))

    def on_header(self, name: bytes, value: bytes) -> None:
        """Trailers are dropped: they come too late to be what they would be as headers."""
        if not self._in_head:
            return
        self._headers_size += len(name) + len(value) + HEADER_OVERHEAD
        if self._headers_size > MAX_HEAD:
            self._abort_parsing(_too_long("the head of the request", MAX_HEAD, self.url, 431))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        if self._resumes_body:
            self._resumes_body = False
            return
        self._cancel_timer()
        version = self.parser.get_http_version()
        if version not in VERSIONS:
            self._abort_parsing(_bad(f"HTTP/{version} is not spoken here", self.url, 505))
        hosts = sum(name == b"host" for name, _ in self.headers)
        if hosts > 1 or (not hosts and version == "1.1"):
            self._abort_parsing(_bad("there has to be exactly one Host header", self.url))
        authority, self.url = origin_form(self.url)
        if authority:
            self.headers[:] = [(b"host", authority), *(one for one in self.headers if one[0] != b"host")]
        self._in_head = False
        super().on_headers_complete()
        if self._method:
            self.scope["method"], self._method = self._method.decode("ascii"), b""
        if self.scope["method"] == "CONNECT":
            self.cycle.keep_alive = False

    def on_message_complete(self) -> None:
        if self.parser.should_upgrade() and self.scope["method"] != "CONNECT":
            return
        super().on_message_complete()
        self._in_request = False
        self._cancel_timer()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def on_response_complete(self) -> None:
        self._responses_sent += 1
        if self.transport.is_closing():  # the client has hung up
            super().on_response_complete()
            return
        if self.flow.write_paused:
            self._cancel_send_timer()  # from now on nothing is added, and what is read can be told
        self._start_send_timer()
        if self._error_response and not self.pipeline:
            self._send_error_response()
            return
        super().on_response_complete()
        if self._is_stopping and self.cycle.response_complete:
            self._start_timer(LAST_REQUEST_SECONDS)
        elif self._in_request and not self._in_head and self.cycle.response_complete:
            self._start_timer(LINGER_SECONDS)  # for the rest of a body that nobody reads

    def _abort_parsing(self, problem: RegistryProblem) -> NoReturn:
        """End parsing from within; the parser turns what is raised into an error of its own."""
        self._problem = problem
        raise problem

    def _refuse(self, problem: RegistryProblem) -> None:
        self._error_response = self._encoded_error(problem)
        cycle = self.cycle
        if cycle is None or cycle.response_complete:
            self._send_error_response()
        elif self._in_request and not self._in_head and not self.pipeline:
            cycle.disconnected = True  # its own body is what is wrong: the application hears that it ended early
            cycle.message_event.set()
            self._send_error_response()
        elif self._in_request and not self._in_head:
            self.pipeline.popleft()

    def _send_error_response(self) -> None:
        """Answer, then read and forget for a while: closing at once would take the answer away from a busy sender."""
        self._cancel_timer()
        if not self.transport.is_closing():
            self.flow.resume_reading()
            self.transport.write(self._error_response)
            if self.transport.can_write_eof():  # TLS cannot
                self.transport.write_eof()
            self._start_timer(LINGER_SECONDS)

    def _encoded_error(self, problem: RegistryProblem) -> bytes:
        host, port = (self.server or ("localhost", None))[:2]
        address = f"[{host}]" if ":" in host else host
        base = f"{self.scheme}://{address}:{port}" if port else f"{self.scheme}://{address}"
        request = Request(method="?", path=problem.subject, base=base)
        made = represent(refuse(problem, request), "?", gzips=False)
        headers = [*self.server_state.default_headers, *made.headers, (b"content-length", b"%d" % len(made.body))]
        lines = [b"%b: %b\r\n" % header for header in (*headers, (b"connection", b"close"))]
        return b"".join((STATUS_LINE[made.status], *lines, b"\r\n", made.body))

    def _start_timer(self, seconds: float) -> None:
        self._cancel_timer()
        self._timer = self.loop.call_later(seconds, self._on_timeout)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _start_send_timer(self) -> None:
        """Look again after a while whether the client has read anything, unless somebody does already."""
        unsent = self.transport.get_write_buffer_size()
        if unsent and self._send_timer is None:
            self._send_timer = self.loop.call_later(
                self._send_timeout_s, self._check_send_progress, unsent, self._responses_sent
            )

    def _check_send_progress(self, before: int, answered: int) -> None:
        self._send_timer = None
        read = before - self.transport.get_write_buffer_size()
        # Where other answers were written since, nobody can tell what was read; there is a limit to how many there are.
        if read < min(before, MIN_READ) and answered == self._responses_sent:
            self._reset()
        else:
            self._start_send_timer()

    def _reset(self) -> None:
        """End the connection at once; the system would keep what is not read for many minutes otherwise."""
        self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
        self.transport.abort()

    def _cancel_send_timer(self) -> None:
        if self._send_timer is not None:
            self._send_timer.cancel()
            self._send_timer = None

    def _on_timeout(self) -> None:
        if self._in_head and not self._error_response:
            self._refuse(_bad("the head of the request took too long", self.url, 408))
        else:
            self.transport.close()


def _bad(detail: str, target: bytes, status: int = 400) -> RegistryProblem:
    path = origin_form(target)[1].partition(b"?")[0].decode("ascii")
    return RegistryProblem("bad_request", path, error_detail=detail, status=status)


def _too_long(what: str, limit: int, target: bytes, status: int) -> RegistryProblem:
    return _bad(f"{what} is longer than {limit} bytes", target, status)
