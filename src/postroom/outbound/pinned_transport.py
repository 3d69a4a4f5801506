"""Requests over a connection to exactly the addresses that were checked, each within one span of time.

The standard library's client, because it lets go of the name: whoever connects by name asks for its address again.
"""

from __future__ import annotations

import contextlib
import http.client
import math
import socket
import ssl
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from postroom.outbound.addresses import Address, resolve_host
from postroom.outbound.policy import (
    AnswerTooLarge,
    AnswerTooSlow,
    BadAddress,
    NoAnswer,
    OutboundPolicy,
    OutboundResponse,
    port_of,
)
from postroom.urls import parse_url

LEAST_SECONDS = 0.001

if TYPE_CHECKING:
    _Base = socket.socket
else:
    _Base = object

LEAST_S = 0.001
"""What is left of a span of time that is over: a socket takes no less."""


class _WithDeadline(_Base):
    """A socket whose reads all end at one moment: a host that sends a byte now and then holds nobody for long."""

    deadline = math.inf

    def recv_into(self, *arguments: Any) -> int:
        self.settimeout(max(LEAST_SECONDS, self.deadline - time.monotonic()))
        return super().recv_into(*arguments)


class _Socket(_WithDeadline, socket.socket):
    pass


class _TlsSocket(_WithDeadline, ssl.SSLSocket):
    pass


class PinnedTransport:
    """Keeps one connection, which stays between requests to one host."""

    def __init__(self, policy: OutboundPolicy) -> None:
        self._policy = policy
        self._connection: _Connection | None = None

    def exchange(self, method: str, url: str, headers: Mapping[str, str], content: bytes | None) -> OutboundResponse:
        """Send a request and read the response; a kept connection that was closed is opened anew."""
        connection, path = self._connected(url)
        was_open = connection.sock is not None
        deadline = time.monotonic() + self._policy.answer_s
        try:
            try:
                return self._exchange(connection, deadline, method, path, headers, content)
            except (http.client.RemoteDisconnected, ConnectionError):
                if not was_open:
                    raise
                connection.close()
                return self._exchange(connection, deadline, method, path, headers, content)
        except TimeoutError:
            connection.close()
            raise AnswerTooSlow(f"{url} takes longer than {self._policy.answer_s:g} seconds") from None
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise NoAnswer(url, _reason(error), type(error).__name__) from None

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connected(self, url: str) -> tuple[_Connection, str]:
        parts = parse_url(url)
        port = port_of(parts) if parts is not None else None
        if parts is None or port is None:
            raise BadAddress(url, "it is no http or https URL")
        end = (parts.host, port, parts.scheme == "https")
        if self._connection is None or self._connection.sock is None or self._connection.end != end:
            self.close()
            addresses = resolve_host(parts.host, port, public=self._policy.addresses == "public")
            self._connection = _Connection(end, addresses)
        return self._connection, (parts.path or "/") + (f"?{parts.query}" if parts.query else "")

    def _exchange(
        self,
        connection: _Connection,
        deadline: float,
        method: str,
        path: str,
        headers: Mapping[str, str],
        content: bytes | None,
    ) -> OutboundResponse:
        most = self._policy.max_bytes
        connection.begin(max(deadline - time.monotonic(), LEAST_S))
        connection.request(method, path, content, headers)
        with connection.getresponse() as answer:
            body = answer.read(most)
            is_whole = answer.isclosed() or not answer.read(1)
            found = {name.lower(): value for name, value in answer.getheaders()}
        if not is_whole:
            connection.close()
            if not self._policy.truncates:
                raise AnswerTooLarge(f"{connection.host}{path} is larger than {most} bytes")
        return OutboundResponse(answer.status, found, body)


class _Connection(http.client.HTTPConnection):
    """A connection to one of some addresses of a host."""

    def __init__(self, end: tuple[str, int, bool], addresses: Sequence[Address]) -> None:
        host, port, self._is_secure = self.end = end
        super().__init__(host, port)
        self.default_port = 443 if self._is_secure else 80
        self._addresses = addresses
        self._deadline = math.inf

    def begin(self, seconds: float) -> None:
        """Give the exchange that follows so many seconds, connecting included."""
        self._deadline = time.monotonic() + seconds
        if self.sock is None:
            self.connect()
        self.sock.deadline = self._deadline  # type: ignore[union-attr]  # it is one of the two above
        self.sock.settimeout(seconds)

    def connect(self) -> None:
        """Connect to the first address that answers."""
        for number, (family, address) in enumerate(self._addresses, 1):
            plain = _Socket(family, socket.SOCK_STREAM)
            try:
                plain.settimeout(max(LEAST_SECONDS, self._deadline - time.monotonic()))
                plain.connect((address, self.port))
                plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.sock = self._secured(plain) if self._is_secure else plain
            except OSError:
                with contextlib.suppress(OSError):
                    plain.close()
                if number == len(self._addresses):
                    raise
            else:
                return

    def _secured(self, plain: socket.socket) -> ssl.SSLSocket:
        context = ssl.create_default_context()
        context.sslsocket_class = _TlsSocket
        return context.wrap_socket(plain, server_hostname=self.host)


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not good ({error.verify_message})"
    if isinstance(error, OSError):
        return (error.strerror or type(error).__name__).lower()
    return f"what it answers is no HTTP ({type(error).__name__})"
