"""Documents from other hosts: only from hosts that a setting names, within a time and a size."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable

import httpx
import msgspec

from postroom.urls import parse_url

PORTS = {"http": 80, "https": 443}


class FetchRefused(Exception):
    """A document that is not fetched; the sentence says why."""


class Fetched(msgspec.Struct, frozen=True):
    """What another host answered."""

    status: int
    contenttype: str
    content: bytes


class Fetcher:
    """Fetches from the hosts it was given (`HOST` or `HOST:PORT`), never following a redirect."""

    def __init__(self, hosts: Iterable[str] = (), timeout_s: float = 30.0, limit: int = 16 * 1024 * 1024) -> None:
        self._hosts = frozenset(hosts)
        self._timeout_s = timeout_s
        self._limit = limit

    def __call__(self, url: str) -> bytes:
        """The bytes at a URL."""
        fetched = self.fetch(url)
        if fetched.status != httpx.codes.OK:
            raise FetchRefused(f"{url} answers with status {fetched.status}")
        return fetched.content

    def fetch(self, url: str) -> Fetched:
        """What a URL answers, whatever its status."""
        check_host(url, self._hosts)
        deadline = time.monotonic() + self._timeout_s
        try:
            with httpx.stream("GET", url, timeout=self._timeout_s, follow_redirects=False) as answer:
                content = self._read(answer, url, deadline)
                return Fetched(answer.status_code, answer.headers.get("content-type", ""), content)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise FetchRefused(f"{url} cannot be fetched: {error or type(error).__name__}") from None

    def _read(self, answer: httpx.Response, url: str, deadline: float) -> bytes:
        content = b""
        for chunk in answer.iter_bytes():
            content += chunk
            if len(content) > self._limit:
                raise FetchRefused(f"{url} is larger than {self._limit} bytes")
            if time.monotonic() > deadline:
                raise FetchRefused(f"{url} takes longer than {self._timeout_s:g} seconds")
        return content


def check_host(url: str, hosts: Collection[str]) -> None:
    """Raise FetchRefused for a URL of a host that is not among the given ones (`HOST` or `HOST:PORT`)."""
    parts = parse_url(url)
    if parts is None:
        raise FetchRefused(f"{url} is not a URL")
    host, port = parts.host, parts.port or PORTS.get(parts.scheme)
    if parts.scheme not in PORTS or not host:
        raise FetchRefused(f"{url} is no http or https URL")
    if {host, f"{host}:{port}", f"[{host}]", f"[{host}]:{port}"}.isdisjoint(one.lower() for one in hosts):
        raise FetchRefused(f"{host} is not among the hosts that may be fetched from (setting allow_fetch)")


def allowed_fetcher(hosts: Iterable[str], timeout_s: float, limit_mb: int) -> Fetcher:
    """The fetcher that the settings allow_fetch, timeout_s and max_document_mb describe."""
    return Fetcher(hosts, timeout_s, limit_mb * 1024 * 1024)
