"""The client of everything that leaves the process over HTTP, and fetching documents with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any
from urllib.parse import urlunsplit

from postroom.outbound.policy import (
    FetchRefused,
    OutboundPolicy,
    OutboundResponse,
    TooManyRedirects,
    check_host,
    port_of,
)
from postroom.urls import Url, join_url, parse_url

if TYPE_CHECKING:
    from postroom.outbound.pinned_transport import PinnedTransport
    from postroom.outbound.pooled_transport import PooledTransport, ResponseStream

_REDIRECTS = (301, 302, 303, 307, 308)


class HttpClient:
    """Sends requests within a policy, to the hosts that it names and to the one of `home`.

    `authorization` goes to that one only, wherever it leads.
    """

    def __init__(self, policy: OutboundPolicy, home: str = "", authorization: str = "") -> None:
        self.policy = policy
        self.requests = 0
        self._authorization = authorization
        self._home = parse_url(home) if home else None
        self._transport = _transport(policy)

    def request(
        self, method: str, url: str, *, headers: Mapping[str, str] | None = None, content: bytes | None = None
    ) -> OutboundResponse:
        """Any response, be it an error; whatever is none is FetchRefused."""
        for _ in range(self.policy.max_redirects + 1):
            url = self.allowed_url(url)
            self.requests += 1
            response = self._transport.exchange(method, url, self._with_authorization(url, headers or {}), content)
            location = response.headers.get("location")
            if method != "GET" or response.status not in _REDIRECTS or not (self.policy.max_redirects and location):
                return response
            url = join_url(url, location) or location
        raise TooManyRedirects(f"{url} redirects again and again")

    def stream(self, url: str, *, headers: Mapping[str, str], silence_s: float) -> ResponseStream:
        """A response that goes on; not over pinned connections."""
        url = self.allowed_url(url)
        self.requests += 1
        transport: Any = self._transport
        stream: ResponseStream = transport.stream(url, self._with_authorization(url, headers), silence_s)
        return stream

    def allowed_url(self, url: str) -> str:
        """A URL as it is asked, with the user of `home` on its host; UrlRefused when it may not be asked."""
        parts = parse_url(url)
        if self._home is None or parts is None or not self._is_home(url):
            check_host(url, self.policy.hosts)
            return url
        return urlunsplit((parts.scheme, self._home.netloc, parts.path, parts.query, ""))

    def _is_home(self, url: str) -> bool:
        parts = parse_url(url)
        return self._home is not None and parts is not None and _origin(parts) == _origin(self._home)

    def _with_authorization(self, url: str, headers: Mapping[str, str]) -> Mapping[str, str]:
        if not self._authorization or not self._is_home(url):
            return headers
        return {**headers, "authorization": self._authorization}

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()


def _transport(policy: OutboundPolicy) -> PinnedTransport | PooledTransport:
    if policy.addresses == "any":
        from postroom.outbound.pooled_transport import PooledTransport

        return PooledTransport(policy)
    from postroom.outbound.pinned_transport import PinnedTransport

    return PinnedTransport(policy)


def _origin(parts: Url) -> tuple[str, str, int | None]:
    return parts.scheme.lower(), parts.host, port_of(parts)


class Fetcher:
    """Fetches documents from the hosts that a policy names."""

    def __init__(self, policy: OutboundPolicy) -> None:
        self._policy = policy

    def __call__(self, url: str) -> bytes:
        """The bytes at a URL."""
        response = self.fetch(url)
        if response.status != 200:
            raise FetchRefused(f"{url} answers with status {response.status}")
        return response.body

    def fetch(self, url: str) -> OutboundResponse:
        """What a URL answers, whatever its status."""
        with closing(HttpClient(self._policy)) as client:
            return client.request("GET", url)


def allowed_fetcher(hosts: Iterable[str], timeout_s: float, limit_mb: int) -> Fetcher:
    """The fetcher that the settings allow_fetch, timeout_s and max_document_mb describe."""
    size = limit_mb * 1024 * 1024
    return Fetcher(OutboundPolicy(hosts=tuple(hosts), timeout_s=timeout_s, answer_s=timeout_s, max_bytes=size))
