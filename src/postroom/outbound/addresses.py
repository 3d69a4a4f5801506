"""Addresses of hosts: looked up once, checked to be public, and handed to whoever connects."""

from __future__ import annotations

import ipaddress
import socket

from postroom.outbound.policy import NoAddress, PrivateAddress

_NAT64 = ipaddress.ip_network("64:ff9b::/96")
# All that is assigned of version 6; the rest has uses inside of networks, or had them.
_ASSIGNED = ipaddress.ip_network("2000::/3")

Address = tuple[socket.AddressFamily, str]


def resolve_host(host: str, port: int, *, public: bool) -> list[Address]:
    """The addresses of a host, right before a connection is opened to one of them and to no other.

    With `public` all of them must be: a name that changes its mind (DNS rebinding) gets no second chance.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise NoAddress(host, "it has no address") from None
    addresses: list[Address] = list(dict.fromkeys((family, str(address[0])) for family, _, _, _, address in found))
    if public and not all(is_public(address) for _, address in addresses):
        raise PrivateAddress(host, "it has a private address")
    return addresses


def is_public(host: str) -> bool:
    """Whether an address is one of the open Internet; a name is not known to be anything else."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return True
    inner = _embedded(address)
    return (
        address.is_global
        and (address.version == 4 or address in _ASSIGNED or address in _NAT64)
        and not address.is_multicast
        and (inner is None or (inner.is_global and not inner.is_multicast))
    )


def _embedded(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The address of version 4 that one of version 6 leads to."""
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour
