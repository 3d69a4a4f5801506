"""Credentials of services that we ask: given as such, by reference to a variable or a file, or kept by a login."""

from __future__ import annotations

import base64
import json
import logging
import os
import stat
from pathlib import Path

from postroom.errors import BadSetting
from postroom.outbound.policy import port_of
from postroom.settings import Settings
from postroom.urls import parse_url

LOG = logging.getLogger(__name__)
ENVIRONMENT, FILE = "env:", "file:"
NO_KEY = "none"
REFERENCES = (ENVIRONMENT, FILE)
PRIVATE = 0o600
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def authorization_for(url: str, settings: Settings) -> str:
    """The Authorization header for a service: by the setting key, or what `postroom login` has kept; empty: none."""
    parts = parse_url(url)
    if parts is None or parts.has_user:
        return ""
    if settings.key == NO_KEY:
        return ""
    key = resolve_key(settings.key) or CredentialsFile().get(url)
    if key and parts.scheme == "http" and parts.host not in _LOOPBACK:
        LOG.warning("the key for %s goes over http, where others can read it", parts.host)
    if ":" in key:  # of services with users and passwords; no key of ours, and no token, has a colon
        return "Basic " + base64.b64encode(key.encode()).decode()
    return f"Bearer {key}" if key else ""


def resolve_key(given: str) -> str:
    """A key that is given as such, as `env:NAME` or as `file:PATH`."""
    key = resolve_reference(given, "key")
    if not key.isascii() or not key.isprintable():
        raise BadSetting("this is no key: it has characters that no header can have.", place="key")
    return key


def resolve_reference(given: str, place: str) -> str:
    """What `env:NAME` or `file:PATH` stands for; anything else stands for itself."""
    if given.startswith(ENVIRONMENT):
        name = given.removeprefix(ENVIRONMENT)
        found = os.environ.get(name, "")
        if not found:
            raise BadSetting(f"the variable {name} is not set.", place=place)
        return found.strip()
    if given.startswith(FILE):
        path = Path(given.removeprefix(FILE)).expanduser()
        _require_private(path)
        return path.read_text(encoding="utf-8").strip()
    return given.strip()


class CredentialsFile:
    """Keys by service, in a file that only its owner reads."""

    def __init__(self) -> None:
        folder = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
        self.path = Path(folder) / "postroom" / "credentials.json"

    def get(self, url: str) -> str:
        """The key for a service; empty when there is none."""
        return self._read().get(_origin(url), "") if self.path.exists() else ""

    def put(self, url: str, key: str) -> None:
        """Keep the key for a service."""
        self._write({**(self._read() if self.path.exists() else {}), _origin(url): key})

    def remove(self, url: str) -> bool:
        """Forget the key for a service; whether there was one."""
        kept = self._read() if self.path.exists() else {}
        found = kept.pop(_origin(url), None)
        if found is not None:
            self._write(kept)
        return found is not None

    def _read(self) -> dict[str, str]:
        _require_private(self.path)
        try:
            kept = json.loads(self.path.read_text(encoding="utf-8"))
        except ValueError:
            kept = None
        if not isinstance(kept, dict) or not all(isinstance(one, str) for one in kept.values()):
            raise BadSetting(
                "this is no file of credentials.", place=str(self.path), remedy="Remove it and log in again."
            )
        return kept

    def _write(self, kept: dict[str, str]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        new = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE), "w", encoding="utf-8") as file:
            json.dump(kept, file, indent=1)
        new.replace(self.path)


def _require_private(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise BadSetting(f"cannot be read: {error.strerror}.", place=str(path)) from None
    if os.name == "posix" and mode & _OTHERS:
        raise BadSetting(
            "others may read this file, and there is a key in it.", place=str(path), remedy=f"chmod 600 {path}"
        )


def _origin(url: str) -> str:
    parts = parse_url(url)
    return f"{parts.scheme.lower()}://{parts.host}:{port_of(parts)}" if parts is not None else url
