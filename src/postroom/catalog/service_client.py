"""Requests to one service: bounded answers, no other host that is not allowed, errors as sentences without secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlunsplit

import msgspec

from postroom.catalog.credentials import authorization_for
from postroom.errors import DocumentRefused, PostroomError, ServiceRefused, ServiceUnreachable
from postroom.outbound.client import HttpClient
from postroom.outbound.policy import (
    AnswerTooLarge,
    AnswerTooSlow,
    BadAddress,
    FetchRefused,
    NoAnswer,
    OutboundPolicy,
    OutboundResponse,
    UrlRefused,
)
from postroom.settings import Settings
from postroom.urls import join_url, masked, parse_url

MEGABYTE = 1_000_000
_NEXT = re.compile(r'<([^>]*)>\s*;[^,]*\brel="?next"?', re.IGNORECASE)
_SHOWN = 300
_MOST_REDIRECTS = 4
_BODY_TIMEOUTS = 10
"""A large answer may take longer than `timeout_s`, which is for each piece of it, but not for ever."""
_DOCUMENT_SUFFIXES = (".json", ".cereg", ".yaml", ".yml", "/export")


class ServiceClient:
    """One service. What it answers leads to no other host, unless the setting allow_fetch names that host."""

    remedy = "Is it running? `postroom serve` starts one."
    """What to do when it does not answer."""
    proxies = True

    def __init__(self, url: str, settings: Settings) -> None:
        parts = parse_url(url)
        if parts is None or not parts.host:
            raise ServiceUnreachable("this is not a usable address.", place=masked(url))
        self.base = urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))
        self.name = masked(self.base)
        self.max_bytes = settings.max_document_mb * MEGABYTE
        policy = OutboundPolicy(
            hosts=settings.allow_fetch,
            proxies=self.proxies,
            timeout_s=settings.timeout_s,
            answer_s=_BODY_TIMEOUTS * settings.timeout_s,
            max_bytes=self.max_bytes,
            max_redirects=_MOST_REDIRECTS,
        )
        self._http = HttpClient(policy, self.base, authorization_for(self.base, settings))

    @property
    def requests(self) -> int:
        """How many requests were sent so far."""
        return self._http.requests

    @property
    def is_document(self) -> bool:
        """Whether the address is that of a document instead of a service."""
        return self.base.endswith(_DOCUMENT_SUFFIXES)

    def ask(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> OutboundResponse:
        """Any answer, be it a refusal; a GET follows redirects. The body is JSON, or content as the headers say."""
        stated = {} if json is None else {"content-type": "application/json"}
        given = {"accept": "application/json, */*;q=0.8", **(headers or {}), **stated}
        content = content if json is None else msgspec.json.encode(json)
        try:
            return self._http.request(method, self.url_of(path), headers=given, content=content)
        except FetchRefused as refused:
            raise self.error_of(refused, path) from None

    def get(self, path: str) -> Any:
        """The JSON at a path."""
        return self.json(self.ask("GET", path), path)

    def send(self, method: str, path: str, json: Any = None) -> Any:
        """Ask for a change; what came of it."""
        return self.json(self.ask(method, path, json=json), path)

    def json(self, response: OutboundResponse, path: str) -> Any:
        """The JSON of an answer that has to be a good one."""
        self.check(response, path)
        if not response.body:
            return None
        try:
            return msgspec.json.decode(response.body)
        except (msgspec.DecodeError, RecursionError) as error:
            raise ServiceRefused(f"{masked(path)} does not answer with JSON ({error}).", place=self.name) from None

    def check(self, response: OutboundResponse, path: str) -> None:
        """Raise what a refusal says."""
        if response.status == 401:
            raise ServiceRefused(
                f"it wants credentials: {problem_in(response)}",
                place=self.name,
                remedy="Give --key or POSTROOM_KEY, or `postroom login`.",
            )
        if not response.is_success:
            raise ServiceRefused(f"{masked(path)} answers {response.status}: {problem_in(response)}", place=self.name)

    def reaches(self, url: str) -> bool:
        """Whether a URL may be asked: it is on this host, or on one that the setting allow_fetch names."""
        try:
            self._http.allowed_url(url)
        except UrlRefused:
            return False
        return True

    def url_of(self, path: str) -> str:
        """The URL of a path below the service; a URL stays one."""
        return self.base + path if path.startswith(("/", "?")) or not path else path

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def error_of(self, refused: FetchRefused, path: str) -> PostroomError:
        """What to say when there is no answer that can be used."""
        if isinstance(refused, UrlRefused):
            remedy = "Give that address, or name its host in the setting allow_fetch."
            return ServiceRefused(f"it leads to another host, {masked(refused.url)}.", place=self.name, remedy=remedy)
        if isinstance(refused, BadAddress):
            return ServiceUnreachable(f"this is not a usable address: {refused.reason}.", place=self.name)
        if isinstance(refused, NoAnswer):
            sentence = f"the service does not answer ({refused.error_type}: {refused.reason})."
            return ServiceUnreachable(sentence, place=self.name, remedy=self.remedy)
        if isinstance(refused, AnswerTooLarge):
            sentence = f"an answer has more than the {self.max_bytes // MEGABYTE} MB that are read."
            remedy = "Raise the setting max_document_mb if that is right."
            return DocumentRefused(sentence, place=self.name, remedy=remedy)
        if isinstance(refused, AnswerTooSlow):
            sentence = f"an answer takes longer than {self._http.policy.answer_s:g} seconds."
            remedy = "Raise the setting timeout_s if that is right."
            return ServiceUnreachable(sentence, place=self.name, remedy=remedy)
        return ServiceRefused(f"{masked(path)} redirects again and again.", place=self.name)


@contextmanager
def open_client(url: str, settings: Settings) -> Iterator[ServiceClient]:
    """A service to be asked, until the end of a block."""
    client = ServiceClient(url, settings)
    try:
        yield client
    finally:
        client.close()


def next_page(response: OutboundResponse) -> str:
    """The URL where a collection goes on; empty at its end."""
    found = _NEXT.search(response.headers.get("link", ""))
    return (join_url(response.url, found.group(1)) or found.group(1)) if found else ""


def problem_in(response: OutboundResponse) -> str:
    """What an error document says, in short."""
    try:
        problem = msgspec.json.decode(response.body)
    except (msgspec.DecodeError, RecursionError):
        is_page = "html" in response.headers.get("content-type", "")
        return "" if is_page else response.body[:_SHOWN].decode("utf-8", "replace")
    if not isinstance(problem, dict):
        return str(problem)[:_SHOWN]
    reasons = " ".join(str(problem[name]) for name in ("title", "detail") if problem.get(name))
    return reasons[:_SHOWN] or "no reason is given."
