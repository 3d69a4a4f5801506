"""Limits: how often somebody may fail to sign in, and how many requests a principal may send."""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict

WINDOW_SECONDS = 60.0
MOST_COUNTED = 50_000
CUSTOMER_BITS = 64
ADDRESS_FACTOR = 10
"""How many times as many failures one address may have as one key from that address: many people may be behind it."""


class RateLimit:
    """So many events a minute for each name; the least recently seen names are forgotten."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._windows: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def wait(self, name: str) -> int:
        """How many seconds a name has to wait; 0 when it need not."""
        if not self._most:
            return 0
        began, count = self._windows.get(name, (0.0, 0))
        remaining = began + WINDOW_SECONDS - time.monotonic()
        return 0 if count < self._most or remaining <= 0 else int(remaining) + 1

    def count(self, name: str) -> None:
        """Note an event."""
        if not self._most:
            return
        now = time.monotonic()
        began, count = self._windows.pop(name, (now, 0))
        if now - began >= WINDOW_SECONDS:
            began, count = now, 0
        self._windows[name] = (began, count + 1)
        if len(self._windows) > MOST_COUNTED:
            self._windows.popitem(last=False)


class SignInLimit:
    """Failed sign-ins, counted for each address, and for each key from an address.

    A key is not locked for others because of one who guesses: the address is part of the count.
    """

    def __init__(self, most: int) -> None:
        self._addresses = RateLimit(most * ADDRESS_FACTOR)
        self._keys = RateLimit(most)

    def wait(self, address: str, subject: str) -> int:
        """How many seconds to wait before credentials are looked at again."""
        network = network_of(address)
        return max(self._addresses.wait(network), self._keys.wait(f"{network} {subject}"))

    def fail(self, address: str, subject: str) -> None:
        """Note a failure."""
        network = network_of(address)
        self._addresses.count(network)
        self._keys.count(f"{network} {subject}")


def network_of(address: str) -> str:
    """What limits are counted for: of IPv6 the network that a customer is given, which has 2^64 addresses."""
    if ":" not in address:
        return address
    try:
        return str(ipaddress.ip_network(f"{address.partition('%')[0]}/{CUSTOMER_BITS}", strict=False))
    except ValueError:
        return address
