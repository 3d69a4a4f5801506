"""The base URL that a client uses: from the request itself, or from the proxy in front when that one is trusted."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping

from postroom.errors import BadSetting
from postroom.http.server.allowed_hosts import AllowedHosts
from postroom.http.server.asgi import Scope
from postroom.registry.problems import RegistryProblem

Headers = Mapping[bytes, bytes]

_HOST = re.compile(r"(?:[A-Za-z0-9._~-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?\Z")
_PREFIX = re.compile(r"(?:/[A-Za-z0-9._~@:-]+)*\Z")
_SCHEMES = ("http", "https")
_LONGEST_ADDRESS = 64
_PROBES = (b"/-/healthz", b"/-/readyz")
"""What says nothing about the registry: those who look after a process know its address only."""


class BaseUrlReader:
    """Reads base URLs; `X-Forwarded-*` counts only when the peer is a proxy that the setting names (or `*`)."""

    def __init__(self, trusted_proxies: Iterable[str] = (), hosts: AllowedHosts | None = None) -> None:
        names = tuple(trusted_proxies)
        self._hosts = hosts
        self._everyone = "*" in names
        self._networks = tuple(_network(name) for name in names if name != "*")

    def base(self, scope: Scope, headers: Headers) -> str:
        """The URL of the registry's root without a final slash."""
        given = headers.get(b"host", b"").decode("latin-1")
        scheme, host, prefix = str(scope.get("scheme") or "http"), given, str(scope.get("root_path") or "")
        if self.trusts(scope):
            scheme = _first(headers, b"x-forwarded-proto").lower() or scheme
            host = _first(headers, b"x-forwarded-host") or host
            prefix = _first(headers, b"x-forwarded-prefix").rstrip("/") or prefix
        if scheme not in _SCHEMES or not _HOST.match(host or "localhost") or not _PREFIX.match(prefix):
            detail = "the Host header, or what the proxy says about it, is no address"
            raise RegistryProblem("bad_request", "/", error_detail=detail)
        if self._hosts is not None and scope.get("raw_path") not in _PROBES:
            # A page that gave its name to this address can send any header, so what a proxy says does not replace Host.
            self._hosts.require(given)
            if host != given:
                self._hosts.require(host)
        return f"{scheme}://{host or 'localhost'}{prefix}"

    def trusts(self, scope: Scope) -> bool:
        """Whether the peer is a proxy whose headers count."""
        if not self._networks:
            return self._everyone
        peer = scope.get("client")
        return self._everyone or bool(peer and self._is_proxy(peer[0]))

    def client_address(self, scope: Scope) -> str:
        """The address of the client: the peer's, or the last one before the proxies that are trusted."""
        peer = scope.get("client")
        address = str(peer[0]) if peer else "?"
        if not self.trusts(scope):
            return address
        hops = [_without_port(hop.strip()) for hop in reversed(_all(scope, b"x-forwarded-for").split(","))]
        return next((hop for hop in hops if hop and not self._is_proxy(hop)), address)[:_LONGEST_ADDRESS]

    def _is_proxy(self, name: str) -> bool:
        if not self._networks:
            return False
        address = parse_address(name)
        return address is not None and any(address in network for network in self._networks)


def parse_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """An address, in one form only: a socket for both versions of IP gives those of IPv4 inside of IPv6."""
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return None
    return found.ipv4_mapped or found if isinstance(found, ipaddress.IPv6Address) else found


def _without_port(hop: str) -> str:
    """An address that a proxy noted; some note the port, too, which is another one with each connection."""
    host = hop[1:].partition("]")[0] if hop.startswith("[") else hop.partition(":")[0] if hop.count(":") == 1 else hop
    return str(parse_address(host) or hop)


def _all(scope: Scope, name: bytes) -> str:
    """The values of a header that proxies append to, be it to the line or as another line: the last is the last's."""
    return ",".join(value.decode("latin-1") for one, value in scope["headers"] if one == name)


def _network(name: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    try:
        return ipaddress.ip_network(name, strict=False)
    except ValueError:
        raise BadSetting(
            f"{name!r} is no address.", place="trusted_proxies", remedy="Give addresses such as 10.0.0.7 or 10.0.0.0/8."
        ) from None


def _first(headers: Headers, name: bytes) -> str:
    """The value of a header that proxies append to: the first is what the client's side saw."""
    return headers.get(name, b"").decode("latin-1").partition(",")[0].strip()
