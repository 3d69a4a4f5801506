"""Administration of keys, grants and sessions: of a running service over HTTP, or in its store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Protocol
from urllib.parse import quote, urlencode

import msgspec

from postroom.access import keys
from postroom.access.audit import audit_change, audit_grants, read_audit
from postroom.access.grants import Grant, add_grants, parse_grants, read_grants, remove_grants
from postroom.access.sessions import described_sessions, end_sessions
from postroom.catalog.open_store import open_store
from postroom.catalog.service_client import ServiceClient, open_client
from postroom.errors import AccessRefused, BadFlag
from postroom.settings import Settings
from postroom.store.interface import Store
from postroom.urls import scheme_of

STORE = "store"
"""The principal of whoever has the store at hand."""
KEYS, GRANTS, SESSIONS = "/-/keys", "/-/grants", "/-/sessions"


class AccessAdmin(Protocol):
    """Where keys, grants and sessions are listed and changed."""

    def keys(self) -> list[dict[str, Any]]:
        """All keys, without their secrets."""

    def create_key(self, key_id: str, grants: Iterable[Grant], expires: str) -> str:
        """Make a key; what its holder sends."""

    def rotate_key(self, key_id: str, expires: str) -> str:
        """Give a key another secret; what its holder sends from now on."""

    def revoke_key(self, key_id: str) -> None:
        """End a key."""

    def grants(self) -> list[Grant]:
        """All grants."""

    def add(self, grant: Grant) -> None:
        """Add a grant."""

    def remove(self, grant: Grant) -> bool:
        """Remove a grant; whether it was there."""

    def sessions(self) -> list[dict[str, Any]]:
        """The sessions of people who signed in with a browser."""

    def end_sessions(self, principal: str) -> int:
        """End all sessions of somebody; how many there were."""

    def audit(self, since: datetime | None, limit: int, chosen: dict[str, str]) -> list[dict[str, Any]]:
        """What happened at the doors, newest first."""


class _Remote:
    """Over HTTP."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    def keys(self) -> list[dict[str, Any]]:
        """All keys."""
        found: list[dict[str, Any]] = self._client.get(KEYS)["keys"]
        return found

    def create_key(self, key_id: str, grants: Iterable[Grant], expires: str) -> str:
        """Make a key."""
        rows = [{"role": grant.role, "prefix": grant.prefix} for grant in grants]
        return str(self._client.send("POST", KEYS, {"id": key_id, "grants": rows, "expires": expires})["key"])

    def rotate_key(self, key_id: str, expires: str) -> str:
        """Give a key another secret."""
        return str(self._client.send("POST", f"{KEYS}/{quote(key_id, safe='')}/rotate", {"expires": expires})["key"])

    def revoke_key(self, key_id: str) -> None:
        """End a key."""
        self._client.send("DELETE", f"{KEYS}/{quote(key_id, safe='')}")

    def grants(self) -> list[Grant]:
        """All grants that the asker may see."""
        return parse_grants(self._client.get(GRANTS)["grants"])

    def add(self, grant: Grant) -> None:
        """Add a grant."""
        self._client.send("POST", GRANTS, {"grants": [grant]})

    def remove(self, grant: Grant) -> bool:
        """Remove a grant."""
        return bool(self._client.send("DELETE", f"{GRANTS}?{urlencode(msgspec.to_builtins(grant))}")["removed"])

    def sessions(self) -> list[dict[str, Any]]:
        """All sessions that the asker may see."""
        found: list[dict[str, Any]] = self._client.get(SESSIONS)["sessions"]
        return found

    def end_sessions(self, principal: str) -> int:
        """End all sessions of somebody."""
        return int(self._client.send("DELETE", f"{SESSIONS}?{urlencode({'principal': principal})}")["ended"])

    def audit(self, since: datetime | None, limit: int, chosen: dict[str, str]) -> list[dict[str, Any]]:
        """What happened, newest first."""
        query = {**chosen, "limit": str(limit), **({"since": since.isoformat()} if since else {})}
        found: list[dict[str, Any]] = self._client.get(f"/-/audit?{urlencode(query)}")["records"]
        return found


class _Local:
    """In the store."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._file = settings.access_file

    def keys(self) -> list[dict[str, Any]]:
        """All keys."""
        with self._store.read() as tx:
            return keys.described(tx)

    def create_key(self, key_id: str, grants: Iterable[Grant], expires: str) -> str:
        """Make a key."""
        wanted = list(grants)
        if wanted:
            self._require_rows()
        with self._store.write() as tx:
            made = keys.create_key(tx, key_id, wanted, expires=_end(expires))[1]
            audit_change(tx, STORE, f"made the key {key_id}")
            audit_grants(tx, STORE, [], wanted)
            return made

    def rotate_key(self, key_id: str, expires: str) -> str:
        """Give a key another secret."""
        with self._store.write() as tx:
            made = keys.rotate_key(tx, key_id, expires=_end(expires))[1]
            audit_change(tx, STORE, f"rotated the key {key_id}")
            return made

    def revoke_key(self, key_id: str) -> None:
        """End a key."""
        with self._store.write() as tx:
            keys.revoke_key(tx, key_id)
            audit_change(tx, STORE, f"revoked the key {key_id}")

    def grants(self) -> list[Grant]:
        """All grants."""
        with self._store.read() as tx:
            return read_grants(tx)

    def add(self, grant: Grant) -> None:
        """Add a grant."""
        self._require_rows()
        with self._store.write() as tx:
            add_grants(tx, [grant])
            audit_grants(tx, STORE, [], [grant])

    def remove(self, grant: Grant) -> bool:
        """Remove a grant."""
        self._require_rows()
        with self._store.write() as tx:
            is_removed = bool(remove_grants(tx, [grant]))
            audit_grants(tx, STORE, [grant] if is_removed else [], [])
            return is_removed

    def sessions(self) -> list[dict[str, Any]]:
        """All sessions."""
        with self._store.read() as tx:
            return described_sessions(tx)

    def end_sessions(self, principal: str) -> int:
        """End all sessions of somebody."""
        with self._store.write() as tx:
            count = end_sessions(tx, principal)
            if count:
                audit_change(tx, STORE, f"ended the sessions of {principal}")
            return count

    def audit(self, since: datetime | None, limit: int, chosen: dict[str, str]) -> list[dict[str, Any]]:
        """What happened, newest first."""
        with self._store.read() as tx:
            found = read_audit(tx, since=since, limit=limit, **chosen)
        return [msgspec.to_builtins(one) for one in found]

    def _require_rows(self) -> None:
        if self._file:
            remedy = "Change them there; a key can be made without --grant."
            raise AccessRefused("the grants are in a file (setting access_file).", place=self._file, remedy=remedy)


def _end(span: str) -> datetime | None:
    return keys.parse_span(span, datetime.now(UTC)) if span else None


@contextmanager
def open_access_admin(where: str, settings: Settings) -> Iterator[AccessAdmin]:
    """The keys and grants of a service or a store; of the one that the setting names when nobody says which."""
    where = where or settings.db
    if not where:
        raise BadFlag("which registry?", place="--at", remedy="Give http(s)://… or sqlite:///path.db.")
    if scheme_of(where) in ("http", "https"):
        with open_client(where, settings) as client:
            yield _Remote(client)
    else:
        with open_store(where) as store:
            yield _Local(store, settings)
