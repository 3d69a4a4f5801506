"""Addresses of sinks: hosts that a setting names, public unless a setting allows private ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from postroom.outbound.addresses import Address, is_public, resolve_host
from postroom.outbound.client import HttpClient
from postroom.outbound.policy import (
    AnswerTooSlow,
    FetchRefused,
    NoAddress,
    NoAnswer,
    OutboundPolicy,
    PrivateAddress,
    host_names,
)
from postroom.replication.subscriptions.sinks.options import PROTOCOLS
from postroom.replication.subscriptions.sinks.sink import DeliveryFailed
from postroom.settings import Settings
from postroom.urls import Url, is_plain, parse_url

ANY = "*"
MOST_BODY = 64 * 1024


class SinkRefused(ValueError):
    """A sink that events must not go to; the sentence says why."""


class SinkAddress(msgspec.Struct, frozen=True):
    """A sink's address, taken apart."""

    scheme: str
    host: str
    port: int
    path: str
    """The path and the query, as a request has them."""
    is_secure: bool

    @property
    def url(self) -> str:
        """The whole address."""
        return f"{self.scheme}://{self.authority}{self.path}"

    @property
    def authority(self) -> str:
        """Host and port as a URL has them."""
        return self.at(self.host)

    def at(self, address: str) -> str:
        """One of its addresses and the port, as a URL has them: clients look up whatever name they are given."""
        return f"[{address}]:{self.port}" if ":" in address else f"{address}:{self.port}"


def parse_sink(sink: str, protocol: str, settings: Settings) -> SinkAddress:
    """The target of a sink, or SinkRefused: it must fit its protocol, and its host must be allowed."""
    known = PROTOCOLS[protocol]
    parts = parse_url(sink)
    if parts is None:
        raise SinkRefused("this is no URI")
    if parts.scheme not in known.ports or not parts.host or not is_plain(sink):
        schemes = " or ".join(f"{scheme}://HOST" for scheme in known.ports)
        raise SinkRefused(f"a sink for {protocol} is a URI that begins with {schemes}")
    if parts.has_user or "access_token=" in parts.query:
        raise SinkRefused("credentials are no part of the sink, they belong into sinkcredential")
    target = SinkAddress(
        parts.scheme, parts.host, parts.port or known.ports[parts.scheme], _path(parts), parts.scheme in known.secure
    )
    check_allowed(target, settings)
    return target


def check_allowed(target: SinkAddress, settings: Settings) -> None:
    """Refuse a target whose host no setting names, or that is private as far as its name tells."""
    names = {ANY} | host_names(target.host, target.port)
    labels = target.host.split(".")
    names |= {"*." + ".".join(labels[start:]) for start in range(1, len(labels))}
    if not names & {host.lower() for host in settings.sink_hosts}:
        raise SinkRefused(f"{target.host} is not among the hosts that events may go to (setting sink_hosts)")
    if settings.sink_private:
        return
    if not target.is_secure:
        raise SinkRefused(f"{target.scheme}:// has no TLS, which only the setting sink_private allows")
    if target.host == "localhost" or not is_public(target.host):
        raise SinkRefused(f"{target.host} is a private address, which only the setting sink_private allows")


def resolve(target: SinkAddress, settings: Settings) -> list[Address]:
    """The addresses of a target's host, which have to be public unless the setting sink_private says otherwise."""
    with delivery_failures(target.host, settings):
        return resolve_host(target.host, target.port, public=not settings.sink_private)


def open_client(target: SinkAddress, settings: Settings) -> HttpClient:
    """A client for a target that speaks HTTP; it connects with the first request."""
    policy = OutboundPolicy(
        addresses="pinned" if settings.sink_private else "public",
        answer_s=settings.timeout_s,
        max_bytes=MOST_BODY,
        truncates=True,
    )
    return HttpClient(policy, target.url)


@contextmanager
def delivery_failures(host: str, settings: Settings) -> Iterator[None]:
    """Turn the errors of a request to a host, or of looking up its address, into DeliveryFailed."""
    try:
        yield
    except PrivateAddress:
        sentence = f"{host} has a private address, which only the setting sink_private allows"
        raise DeliveryFailed(sentence, "refused") from None
    except NoAddress:
        raise DeliveryFailed(f"{host} has no address") from None
    except AnswerTooSlow:
        raise DeliveryFailed(f"{host} does not answer within {settings.timeout_s:g} seconds") from None
    except NoAnswer as error:
        raise DeliveryFailed(f"{host} cannot be asked: {error.reason}") from None
    except FetchRefused:  # its sentence names the URL, which may hold a token
        raise DeliveryFailed(f"{host} cannot be asked") from None


def _path(parts: Url) -> str:
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
