"""Which sinks may be reached: hosts that a setting names, at addresses that are public unless a setting says more."""

from __future__ import annotations

import ipaddress
import socket

import msgspec

from postroom.replication.subscriptions.sinks.options import PROTOCOLS
from postroom.replication.subscriptions.sinks.sink import DeliveryFailed
from postroom.settings import Settings
from postroom.urls import Url, is_plain, parse_url

ANY = "*"
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
# All that is given out of version 6; the rest has uses inside of networks, or had them.
_GIVEN_OUT = ipaddress.ip_network("2000::/3")

Address = tuple[socket.AddressFamily, str]


class SinkRefused(ValueError):
    """A sink that events must not go to; the sentence says why."""


class Target(msgspec.Struct, frozen=True):
    """A sink's address, taken apart."""

    scheme: str
    host: str
    port: int
    path: str
    """The path and the query, as a request has them."""
    is_secure: bool

    @property
    def authority(self) -> str:
        """Host and port as a URL has them."""
        return self.at(self.host)

    def at(self, address: str) -> str:
        """One of its addresses and the port, as a URL has them: clients look up whatever name they are given."""
        return f"[{address}]:{self.port}" if ":" in address else f"{address}:{self.port}"


def parse_target(sink: str, protocol: str, settings: Settings) -> Target:
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
    target = Target(
        parts.scheme, parts.host, parts.port or known.ports[parts.scheme], _path(parts), parts.scheme in known.secure
    )
    check_allowed(target, settings)
    return target


def check_allowed(target: Target, settings: Settings) -> None:
    """Refuse a target whose host no setting names, or that is private as far as its name tells."""
    names = {target.host, f"{target.host}:{target.port}", f"[{target.host}]", target.authority, ANY}
    labels = target.host.split(".")
    names |= {"*." + ".".join(labels[start:]) for start in range(1, len(labels))}
    if not names & {host.lower() for host in settings.sink_hosts}:
        raise SinkRefused(f"{target.host} is not among the hosts that events may go to (setting sink_hosts)")
    if settings.sink_private:
        return
    if not target.is_secure:
        raise SinkRefused(f"{target.scheme}:// has no TLS, which only the setting sink_private allows")
    if target.host == "localhost" or not _is_public(target.host):
        raise SinkRefused(f"{target.host} is a private address, which only the setting sink_private allows")


def resolve(target: Target, settings: Settings) -> list[Address]:
    """The addresses of a target's host, right before a connection is opened to one of them and to no other.

    All of them must be public: a name that changes its mind (DNS rebinding) gets no second chance.
    """
    try:
        found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise DeliveryFailed(f"{target.host} has no address") from None
    addresses: list[Address] = list(dict.fromkeys((family, str(address[0])) for family, _, _, _, address in found))
    if not settings.sink_private and not all(_is_public(address) for _, address in addresses):
        sentence = f"{target.host} has a private address, which only the setting sink_private allows"
        raise DeliveryFailed(sentence, "refused")
    return addresses


def _is_public(host: str) -> bool:
    """Whether an address is one of the open Internet; a name is not known to be anything else."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return True
    inner = _carried(address)
    return (
        address.is_global
        and (address.version == 4 or address in _GIVEN_OUT or address in _NAT64)
        and not address.is_multicast
        and (inner is None or (inner.is_global and not inner.is_multicast))
    )


def _carried(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The address of version 4 that one of version 6 leads to."""
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour


def _path(parts: Url) -> str:
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
