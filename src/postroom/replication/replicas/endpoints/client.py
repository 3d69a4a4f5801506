"""Requests to the other end of a link: those to any service, and answers that go on as long as the link does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from postroom.catalog.service_client import Reply, ServiceClient, problem_in
from postroom.settings import Settings

__all__ = ["Client", "Reply", "problem_in"]


class Client(ServiceClient):
    """One service as an end of a link."""

    remedy = "What was taken so far is kept."

    def __init__(self, url: str, settings: Settings) -> None:
        super().__init__(url, settings, trust_env=False)

    @contextmanager
    def streamed(self, path: str, silence: float) -> Iterator[httpx.Response]:
        """An answer that is read while it goes on; nothing for longer than `silence` seconds ends it."""
        self.requests += 1
        headers = {"accept": "text/event-stream"}
        try:
            timeout = httpx.Timeout(self.timeout, read=silence)
            with self._http.stream("GET", self.url_of(path), headers=headers, timeout=timeout) as answer:
                yield answer
        except httpx.HTTPError as error:
            raise self.unreachable(error) from None
