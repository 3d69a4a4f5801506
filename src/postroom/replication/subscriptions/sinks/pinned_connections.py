"""HTTP connections to exactly the addresses that were checked, each request within one span of time.

The standard library's client, because it lets go of the name: whoever connects by name asks for its address again.
"""

from __future__ import annotations

import contextlib
import http.client
import math
import socket
import ssl
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from postroom.replication.subscriptions.sinks.allowed_addresses import Address, Target
from postroom.replication.subscriptions.sinks.sink import DeliveryFailed

MOST_BODY = 64 * 1024
LEAST_SECONDS = 0.001

if TYPE_CHECKING:
    _Base = socket.socket
else:
    _Base = object


class _Hurried(_Base):
    """A socket whose reads all end at one moment: a sink that sends a byte now and then holds nobody for long."""

    deadline = math.inf

    def recv_into(self, *arguments: Any) -> int:
        self.settimeout(max(LEAST_SECONDS, self.deadline - time.monotonic()))
        return super().recv_into(*arguments)


class _Socket(_Hurried, socket.socket):
    pass


class _TlsSocket(_Hurried, ssl.SSLSocket):
    pass


class _NamedContext(ssl.SSLContext):
    """TLS with the host of a name, for a client that connects to its address and takes that for the name."""

    name = ""

    def wrap_socket(self, sock: socket.socket, **options: Any) -> ssl.SSLSocket:  # type: ignore[override]
        return super().wrap_socket(sock, **{**options, "server_hostname": self.name})


def context_for(name: str) -> ssl.SSLContext:
    """TLS as it is by default, in which the certificate has to be for a name, whatever the client calls the host."""
    context = _NamedContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_default_certs()
    context.name = name
    return context


class Reply(msgspec.Struct, frozen=True):
    """What came back: the status, the headers by their lower-case names, and the beginning of the body."""

    status: int
    headers: dict[str, str]
    body: bytes


class Connection(http.client.HTTPConnection):
    """A connection to one of some addresses."""

    def __init__(self, target: Target, addresses: Sequence[Address], seconds: float) -> None:
        super().__init__(target.host, target.port)
        self.default_port = 443 if target.is_secure else 80
        self._target = target
        self._addresses = addresses
        self._seconds = seconds
        self._deadline = math.inf

    def exchange(self, method: str, headers: dict[str, str], body: bytes | None) -> Reply:
        """Send a request and read the answer, or DeliveryFailed; a kept connection that was closed is opened anew."""
        was_open = self.sock is not None
        try:
            try:
                return self._exchange(method, headers, body)
            except (http.client.RemoteDisconnected, ConnectionError):
                if not was_open:
                    raise
                self.close()
                return self._exchange(method, headers, body)
        except TimeoutError:
            self.close()
            raise DeliveryFailed(f"{self.host} does not answer within {self._seconds:g} seconds") from None
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise DeliveryFailed(f"{self.host} cannot be asked: {_reason(error)}") from None

    def _exchange(self, method: str, headers: dict[str, str], body: bytes | None) -> Reply:
        self._deadline = time.monotonic() + self._seconds
        if self.sock is None:
            self.connect()
        self.sock.deadline = self._deadline  # type: ignore[union-attr]  # it is one of the two above
        self.sock.settimeout(self._seconds)
        self.request(method, self._target.path, body, headers)
        with self.getresponse() as answer:
            content = answer.read(MOST_BODY)
            is_whole = answer.isclosed() or not answer.read(1)
            found = {name.lower(): value for name, value in answer.getheaders()}
        if not is_whole:
            self.close()
        return Reply(answer.status, found, content)

    def connect(self) -> None:
        """Connect to the first address that answers."""
        for number, (family, address) in enumerate(self._addresses, 1):
            plain = _Socket(family, socket.SOCK_STREAM)
            try:
                plain.settimeout(max(LEAST_SECONDS, self._deadline - time.monotonic()))
                plain.connect((address, self._target.port))
                plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.sock = self._secured(plain) if self._target.is_secure else plain
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
