"""The policy of outgoing requests: hosts, addresses, time, size, redirects and proxies; and the errors it leads to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from postroom.urls import Url, parse_url

PORTS = {"http": 80, "https": 443}


class OutboundPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """What the requests of one use may do; each use states what differs from the defaults."""

    hosts: tuple[str, ...] = ()
    """The hosts that may be asked (`HOST` or `HOST:PORT`), beside the one that a client is for."""
    addresses: Literal["any", "pinned", "public"] = "any"
    """`pinned`: connect to exactly the addresses that were looked up; `public`: only if all of them are public ones.
    Either way a proxy is never used, and the whole exchange has to end within `answer_s`."""
    proxies: bool = True
    """Whether the environment may name proxies, certificates and logins."""
    timeout_s: float = 30.0
    """For connecting, and for each piece of an answer."""
    answer_s: float = 30.0
    """For the whole answer."""
    max_bytes: int = 16 * 1024 * 1024
    truncates: bool = False
    """Whether a longer answer is cut off instead of refused."""
    max_redirects: int = 0
    """How often a GET is led elsewhere; 0: a redirect is an answer like any other."""


class OutboundResponse(msgspec.Struct, frozen=True):
    """A response that was read to its end; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str = ""

    @property
    def is_success(self) -> bool:
        """Whether it is what was asked for."""
        return self.status < 300


class FetchRefused(Exception):
    """A document that is not fetched, or a request without a usable response; the sentence says why."""


class UrlRefused(FetchRefused):
    """A URL that the policy does not allow."""

    def __init__(self, sentence: str, url: str) -> None:
        super().__init__(sentence)
        self.url = url


class NoAnswer(FetchRefused):
    """A request that nobody answers in HTTP; `error_type` is the class of the error behind it."""

    def __init__(self, url: str, reason: str, error_type: str = "") -> None:
        super().__init__(f"{url} cannot be fetched: {reason or error_type}")
        self.reason = reason
        self.error_type = error_type


class BadAddress(NoAnswer):
    """A URL that cannot be turned into a request."""


class NoAddress(NoAnswer):
    """A host without an address."""


class PrivateAddress(NoAnswer):
    """A host with an address that is not public, where the policy wants it to be."""


class AnswerTooLarge(FetchRefused):
    """A response with more bytes than the policy allows."""


class AnswerTooSlow(FetchRefused):
    """A response that is not there in time."""


class TooManyRedirects(FetchRefused):
    """A URL that leads elsewhere more often than the policy allows."""


def host_names(host: str, port: int | None) -> set[str]:
    """All spellings by which a setting may name a host."""
    return {host, f"{host}:{port}", f"[{host}]", f"[{host}]:{port}"}


def check_host(url: str, hosts: Iterable[str]) -> None:
    """Raise UrlRefused for a URL of a host that is not among the given ones (`HOST` or `HOST:PORT`)."""
    parts = parse_url(url)
    if parts is None:
        raise UrlRefused(f"{url} is not a URL", url)
    if parts.scheme not in PORTS or not parts.host:
        raise UrlRefused(f"{url} is no http or https URL", url)
    if host_names(parts.host, port_of(parts)).isdisjoint(one.lower() for one in hosts):
        sentence = f"{parts.host} is not among the hosts that may be fetched from (setting allow_fetch)"
        raise UrlRefused(sentence, url)


def port_of(parts: Url) -> int | None:
    """The port of a URL, be it that of its scheme."""
    return parts.port or PORTS.get(parts.scheme.lower())
