"""Requests over httpx, which looks up names by itself and knows proxies, compression and kept connections."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

import httpx

from postroom.outbound.policy import (
    AnswerTooLarge,
    AnswerTooSlow,
    BadAddress,
    NoAnswer,
    OutboundPolicy,
    OutboundResponse,
)


class PooledTransport:
    """Keeps connections to as many hosts as are asked."""

    def __init__(self, policy: OutboundPolicy) -> None:
        self._policy = policy
        self._http = httpx.Client(timeout=policy.timeout_s, follow_redirects=False, trust_env=policy.proxies)

    def exchange(self, method: str, url: str, headers: Mapping[str, str], content: bytes | None) -> OutboundResponse:
        """Send a request and read the response."""
        deadline = time.monotonic() + self._policy.answer_s
        with _translated(url), self._http.stream(method, url, content=content, headers=headers) as answer:
            return OutboundResponse(answer.status_code, dict(answer.headers), self._body(answer, url, deadline), url)

    def stream(self, url: str, headers: Mapping[str, str], silence_s: float) -> ResponseStream:
        """Send a GET whose response is read while it goes on; nothing for longer than `silence_s` ends it."""
        with _translated(url):
            timeout = httpx.Timeout(self._policy.timeout_s, read=silence_s)
            request = self._http.build_request("GET", url, headers=headers, timeout=timeout)
            return ResponseStream(url, self._http.send(request, stream=True))

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _body(self, answer: httpx.Response, url: str, deadline: float) -> bytes:
        policy, parts, size = self._policy, [], 0
        for part in answer.iter_bytes():
            parts.append(part)
            size += len(part)
            if size > policy.max_bytes:
                if policy.truncates:
                    break
                raise AnswerTooLarge(f"{url} is larger than {policy.max_bytes} bytes")
            if time.monotonic() > deadline:
                break
        if time.monotonic() > deadline:
            raise AnswerTooSlow(f"{url} takes longer than {policy.answer_s:g} seconds")
        return b"".join(parts)[: policy.max_bytes]


class ResponseStream:
    """A response that is read while it goes on."""

    def __init__(self, url: str, answer: httpx.Response) -> None:
        self._url = url
        self._answer = answer
        self._socket: socket.socket = answer.extensions["network_stream"].get_extra_info("socket")
        self.status = answer.status_code
        self.headers: Mapping[str, str] = answer.headers

    def __iter__(self) -> Iterator[bytes]:
        with _translated(self._url):
            yield from self._answer.iter_bytes()

    def close(self) -> None:
        """End it, also for a thread that waits for its next piece: closing alone would not wake it."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._answer.close()


@contextmanager
def _translated(url: str) -> Iterator[None]:
    try:
        yield
    except httpx.HTTPError as error:
        raise NoAnswer(url, str(error), type(error).__name__) from None
    except (httpx.InvalidURL, ValueError) as error:
        raise BadAddress(url, str(error), type(error).__name__) from None
