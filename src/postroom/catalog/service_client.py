"""Requests to one service: bounded answers, no other host that is not allowed, errors as sentences without secrets."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlunsplit

import httpx
import msgspec

from postroom.errors import DocumentRefused, ServiceRefused, ServiceUnreachable
from postroom.outbound import PORTS, FetchRefused, check_host
from postroom.settings import Settings
from postroom.urls import Url, join_url, parse_url

MEGABYTE = 1_000_000
_NEXT = re.compile(r'<([^>]*)>\s*;[^,]*\brel="?next"?', re.IGNORECASE)
_SHOWN = 300
_MOST_REDIRECTS = 5
_MOVED = (301, 302, 303, 307, 308)
_BODY_TIMEOUTS = 10
"""A large answer may take longer than `timeout_s`, which is for each piece of it, but not for ever."""
_DOCUMENT_SUFFIXES = (".json", ".cereg", ".yaml", ".yml", "/export")


class Reply(msgspec.Struct, frozen=True):
    """An answer that was read to its end."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str = ""

    @property
    def is_fine(self) -> bool:
        """Whether it is what was asked for."""
        return self.status < 300

    def next_page(self) -> str:
        """The URL where the collection goes on; empty at its end."""
        found = _NEXT.search(self.headers.get("link", ""))
        return (join_url(self.url, found.group(1)) or found.group(1)) if found else ""


class ServiceClient:
    """One service. What it answers leads to no other host, unless the setting allow_fetch names that host."""

    remedy = "Is it running? `postroom serve` starts one."
    """What to do when it does not answer."""

    def __init__(self, url: str, settings: Settings, *, trust_env: bool = True) -> None:
        parts = parse_url(url)
        if parts is None or not parts.host:
            raise ServiceUnreachable("this is not a usable address.", place=masked(url))
        self._netloc, self._origin = parts.netloc, _origin(parts)
        self.base = urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))
        self.name = masked(self.base)
        self._http = httpx.Client(timeout=settings.timeout_s, follow_redirects=False, trust_env=trust_env)
        self.requests = 0
        self.timeout = settings.timeout_s
        self.most_bytes = settings.max_document_mb * MEGABYTE
        self._allowed = settings.allow_fetch

    @property
    def is_document(self) -> bool:
        """Whether the address is that of a document instead of a service."""
        return self.base.endswith(_DOCUMENT_SUFFIXES)

    def ask(self, method: str, path: str, *, json: Any = None, headers: Mapping[str, str] | None = None) -> Reply:
        """Any answer, be it a refusal; a GET follows redirects."""
        content = None if json is None else msgspec.json.encode(json)
        given = {
            "accept": "application/json, */*;q=0.8",
            **(headers or {}),
            **({"content-type": "application/json"} if content else {}),
        }
        url = self.url_of(path)
        for _ in range(_MOST_REDIRECTS):
            reply = self._ask(method, url, content, given)
            if method != "GET" or reply.status not in _MOVED or "location" not in reply.headers:
                return reply
            location = reply.headers["location"]
            url = self.url_of(join_url(url, location) or location)
        raise ServiceRefused(f"{path} redirects again and again.", place=self.name)

    def get(self, path: str) -> Any:
        """The JSON at a path."""
        return self.json(self.ask("GET", path), path)

    def send(self, method: str, path: str, json: Any = None) -> Any:
        """Ask for a change; what came of it."""
        return self.json(self.ask(method, path, json=json), path)

    def json(self, reply: Reply, path: str) -> Any:
        """The JSON of an answer that has to be a good one."""
        if not reply.is_fine:
            raise ServiceRefused(f"{path} answers {reply.status}: {problem_in(reply)}", place=self.name)
        if not reply.body:
            return None
        try:
            return msgspec.json.decode(reply.body)
        except (msgspec.DecodeError, RecursionError) as error:
            raise ServiceRefused(f"{path} does not answer with JSON ({error}).", place=self.name) from None

    def reaches(self, url: str) -> bool:
        """Whether a URL may be asked: it is on this host, or on one that the setting allow_fetch names."""
        if self._is_here(url):
            return True
        try:
            check_host(url, self._allowed)
        except FetchRefused:
            return False
        return True

    def _is_here(self, url: str) -> bool:
        parts = parse_url(url)
        return parts is not None and _origin(parts) == self._origin

    def url_of(self, path: str) -> str:
        """The URL of a path below the service, or a URL as it is asked: with the user of the service on its host."""
        url = self.base + path if path.startswith(("/", "?")) or not path else path
        if not self.reaches(url):
            raise ServiceRefused(
                f"it leads to another host, {masked(url)}.",
                place=self.name,
                remedy="Give that address, or name its host in the setting allow_fetch.",
            )
        parts = parse_url(url)
        if parts is None or not self._is_here(url):
            return url
        return urlunsplit((parts.scheme, self._netloc, parts.path, parts.query, ""))

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _ask(self, method: str, url: str, content: bytes | None, headers: Mapping[str, str]) -> Reply:
        self.requests += 1
        try:
            with self._http.stream(method, url, content=content, headers=headers) as answer:
                return Reply(answer.status_code, dict(answer.headers), self._body(answer), url)
        except httpx.HTTPError as error:
            raise self.unreachable(error) from None
        except (httpx.InvalidURL, ValueError) as error:
            raise ServiceUnreachable(f"this is not a usable address: {error}.", place=self.name) from None

    def unreachable(self, error: httpx.HTTPError) -> ServiceUnreachable:
        """What to say when there is no answer."""
        sentence = f"the service does not answer ({type(error).__name__}: {error})."
        return ServiceUnreachable(sentence, place=self.name, remedy=self.remedy)

    def _body(self, answer: httpx.Response) -> bytes:
        parts, size = [], 0
        deadline = time.monotonic() + _BODY_TIMEOUTS * self.timeout
        for part in answer.iter_bytes():
            size += len(part)
            if size > self.most_bytes:
                raise DocumentRefused(
                    f"an answer has more than the {self.most_bytes // MEGABYTE} MB that are read.",
                    place=self.name,
                    remedy="Raise the setting max_document_mb if that is right.",
                )
            if time.monotonic() > deadline:
                raise ServiceUnreachable(
                    f"an answer takes longer than {_BODY_TIMEOUTS * self.timeout:g} seconds.",
                    place=self.name,
                    remedy="Raise the setting timeout_s if that is right.",
                )
            parts.append(part)
        return b"".join(parts)


@contextmanager
def open_client(url: str, settings: Settings) -> Iterator[ServiceClient]:
    """A service to be asked, until the end of a block."""
    client = ServiceClient(url, settings)
    try:
        yield client
    finally:
        client.close()


def problem_in(reply: Reply) -> str:
    """What an error document says, in short."""
    try:
        problem = msgspec.json.decode(reply.body)
    except (msgspec.DecodeError, RecursionError):
        is_page = "html" in reply.headers.get("content-type", "")
        return "" if is_page else reply.body[:_SHOWN].decode("utf-8", "replace")
    if not isinstance(problem, dict):
        return str(problem)[:_SHOWN]
    said = " ".join(str(problem[name]) for name in ("title", "detail") if problem.get(name))
    return said[:_SHOWN] or "no reason is given."


def masked(address: str) -> str:
    """An address without user and password, and without its query, which may hold a token."""
    parts = parse_url(address)
    if parts is None:
        scheme, separator, rest = address.partition("://")
        return scheme + separator + rest.rpartition("@")[2].partition("?")[0]
    if not parts.netloc:
        return address
    return urlunsplit((parts.scheme, parts.place, parts.path, "", ""))


def _origin(parts: Url) -> tuple[str, str, int | None]:
    scheme = parts.scheme.lower()
    return scheme, parts.host, parts.port or PORTS.get(scheme)
