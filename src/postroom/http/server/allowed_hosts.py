"""The names by which the service may be asked for: a web page can give its own name to any address (DNS rebinding)."""

from __future__ import annotations

import functools
import ipaddress
import re

from postroom.errors import BadSetting
from postroom.registry.problems import RegistryProblem
from postroom.settings import Settings

ANY = "*"
LOCAL_NAME = "localhost"
MOST_REMEMBERED = 1024
MISDIRECTED = 421

_NAME = re.compile(r"(?:\*\.)?[a-z0-9_~-]+(?:\.[a-z0-9_~-]+)*\Z")


class AllowedHosts:
    """Judges what `Host` says, its port aside.

    On loopback, the names of this machine and those that the setting `allowed_hosts` has. Elsewhere the setting alone
    decides, and any name will do as long as it is empty.
    """

    def __init__(self, settings: Settings) -> None:
        self._names = frozenset(map(_checked, settings.allowed_hosts))
        self._is_local = is_loopback(settings.host)
        self._is_open = ANY in self._names or not (self._names or self._is_local)
        self._allows = functools.lru_cache(MOST_REMEMBERED)(self._judge)

    def require(self, host: str) -> None:
        """Refuse a request for another host; one that names none (HTTP/1.0) is not from a web page."""
        if host and not self._is_open and not self._allows(host):
            detail = f"this service is not {host} (setting allowed_hosts)"
            raise RegistryProblem("bad_request", "/", error_detail=detail, status=MISDIRECTED)

    def _judge(self, host: str) -> bool:
        name = _without_port(host)
        if name in self._names or (self._is_local and is_loopback(name)):
            return True
        labels = name.split(".")
        return any("*." + ".".join(labels[start:]) in self._names for start in range(1, len(labels)))


def is_loopback(host: str) -> bool:
    """Whether a name or an address leads to this machine only."""
    if host == LOCAL_NAME or host.endswith("." + LOCAL_NAME):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _without_port(host: str) -> str:
    """What `Host` names, as names are compared: in lower case, addresses in their shortest form."""
    if host.startswith("["):
        return _address(host[1:].partition("]")[0])
    return host.partition(":")[0].lower().removesuffix(".")


def _address(given: str) -> str:
    """An address in its shortest form; nothing when it is none."""
    try:
        return str(ipaddress.ip_address(given))
    except ValueError:
        return ""


def _checked(given: str) -> str:
    name = given.lower().removesuffix(".")
    if name == ANY or _NAME.match(name):
        return name
    if address := _address(name.removeprefix("[").removesuffix("]")):
        return address
    raise BadSetting(
        f"{given!r} is no name of a host.",
        place="allowed_hosts",
        remedy="Give names such as registry.example or *.example.com, without a scheme and a port.",
    )
