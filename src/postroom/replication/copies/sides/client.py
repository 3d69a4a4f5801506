"""Requests to the other end of a link: one host, bounded answers, errors as sentences without secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urljoin, urlsplit, urlunsplit

import httpx
import msgspec

from postroom.errors import DocumentRefused, ServiceRefused, ServiceUnreachable
from postroom.replication.copies.sides.side import masked
from postroom.settings import Settings

_MEGABYTE = 1_000_000
_NEXT = re.compile(r'<([^>]*)>\s*;[^,]*\brel="?next"?', re.IGNORECASE)
_SHOWN = 300


class Reply(msgspec.Struct, frozen=True):
    """An answer that was read to its end."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_fine(self) -> bool:
        """Whether it is what was asked for."""
        return self.status < 300

    def next_page(self) -> str:
        """Where the collection goes on; empty at its end."""
        found = _NEXT.search(self.headers.get("link", ""))
        return found.group(1) if found else ""


class Client:
    """One service. Nothing that it answers leads to another host."""

    def __init__(self, url: str, settings: Settings) -> None:
        parts = urlsplit(url)
        self.base = urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))
        self.name = masked(self.base)
        self.requests = 0
        self._most = settings.max_document_mb * _MEGABYTE
        self._timeout = settings.timeout_s
        try:
            self._http = httpx.Client(timeout=settings.timeout_s, follow_redirects=False, trust_env=False)
        except (httpx.InvalidURL, ValueError) as error:
            raise ServiceUnreachable(f"this is not a usable address: {error}.", place=self.name) from None

    def ask(self, method: str, path: str, *, json: Any = None, headers: Mapping[str, str] | None = None) -> Reply:
        """Any answer, be it a refusal."""
        self.requests += 1
        content = None if json is None else msgspec.json.encode(json)
        given = {
            "accept": "application/json",
            **(headers or {}),
            **({"content-type": "application/json"} if content else {}),
        }
        try:
            with self._http.stream(method, self._url(path), content=content, headers=given) as answer:
                return Reply(answer.status_code, dict(answer.headers), self._body(answer))
        except httpx.HTTPError as error:
            sentence = f"the service does not answer ({type(error).__name__}: {error})."
            raise ServiceUnreachable(sentence, place=self.name, remedy="What was taken so far is kept.") from None
        except (httpx.InvalidURL, ValueError) as error:
            raise ServiceUnreachable(f"this is not a usable address: {error}.", place=self.name) from None

    @contextmanager
    def streamed(self, path: str, silence: float) -> Iterator[httpx.Response]:
        """An answer that is read while it goes on; nothing for longer than `silence` seconds ends it."""
        self.requests += 1
        headers = {"accept": "text/event-stream"}
        try:
            timeout = httpx.Timeout(self._timeout, read=silence)
            with self._http.stream("GET", self._url(path), headers=headers, timeout=timeout) as answer:
                yield answer
        except httpx.HTTPError as error:
            sentence = f"the service does not answer ({type(error).__name__}: {error})."
            raise ServiceUnreachable(sentence, place=self.name) from None

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

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _body(self, answer: httpx.Response) -> bytes:
        parts, size = [], 0
        for part in answer.iter_bytes():
            size += len(part)
            if size > self._most:
                raise DocumentRefused(
                    f"an answer has more than the {self._most // _MEGABYTE} MB that are read.",
                    place=self.name,
                    remedy="Raise the setting max_document_mb if that is right.",
                )
            parts.append(part)
        return b"".join(parts)

    def _url(self, path: str) -> str:
        url = urljoin(self.base + "/", path) if "://" in path else self.base + path
        if urlsplit(url)[:2] != urlsplit(self.base)[:2]:
            raise ServiceRefused(f"it leads to another host, {masked(url)}.", place=self.name)
        return url


def problem_in(reply: Reply) -> str:
    """What an error document says, in short."""
    try:
        problem = msgspec.json.decode(reply.body)
    except (msgspec.DecodeError, RecursionError):
        return reply.body[:_SHOWN].decode("utf-8", "replace")
    if not isinstance(problem, dict):
        return str(problem)[:_SHOWN]
    said = " ".join(str(problem[name]) for name in ("title", "detail") if problem.get(name))
    return said[:_SHOWN] or "no reason is given."
