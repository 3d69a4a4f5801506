"""Sessions of people who signed in with a browser.

They are kept in the store rather than signed into the cookie: signing out, or an administrator, ends them in all server
processes at once, they outlive a restart, and no process has to share a secret with another.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec

from postroom.access.grants import mark_changed
from postroom.registry.transaction_interface import Transaction
from postroom.store.interface import Store

SESSION = "session"
"""The kind of the records in a store."""
_PAGE = 1000


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody who signed in. The secret of the cookie is not in it: the id of the record is its hash."""

    user: str
    claims: tuple[str, ...]
    csrf: str
    """What a page of the same origin has to send with writes: a page of another one cannot know it."""
    since: float
    until: float

    @property
    def principal(self) -> str:
        """Who signed in."""
        return f"user:{self.user}"

    def allows(self, token: str) -> bool:
        """Whether a write with this token comes from a page that may write."""
        return hmac.compare_digest(self.csrf.encode(), token.encode("utf-8", "surrogatepass"))


_SESSIONS: msgspec.json.Decoder[Session] = msgspec.json.Decoder(Session)


def create_session(tx: Transaction, user: str, claims: tuple[str, ...], seconds: float) -> str:
    """Begin a session; the secret for the cookie, which is a new one with every sign-in."""
    secret, now = secrets.token_urlsafe(32), time.time()
    session = Session(user=user, claims=claims, csrf=secrets.token_urlsafe(32), since=now, until=now + seconds)
    tx.put_record(SESSION, session_id_of(secret), msgspec.json.encode(session))
    return secret


def find_session(tx: Transaction, secret: str) -> Session | None:
    """The session of a cookie, unless it is over."""
    body = tx.record(SESSION, session_id_of(secret))
    found = None if body is None else _SESSIONS.decode(body)
    return found if found is not None and time.time() < found.until else None


def end_session(tx: Transaction, secret: str) -> None:
    """End the session of a cookie."""
    tx.delete_record(SESSION, session_id_of(secret))
    mark_changed(tx)


def end_sessions(tx: Transaction, principal: str) -> int:
    """End all sessions of somebody; how many there were."""
    found = [name for name, session in _all(tx) if session.principal == principal]
    for name in found:
        tx.delete_record(SESSION, name)
    if found:
        mark_changed(tx)
    return len(found)


def described_sessions(tx: Transaction, principal: str = "") -> list[dict[str, Any]]:
    """The sessions that go on, of one principal or of all, newest first; without what is secret."""
    now = time.time()
    found = [one for _, one in _all(tx) if one.until > now and principal in ("", one.principal)]
    return [
        {"principal": one.principal, "since": _moment(one.since), "until": _moment(one.until)}
        for one in sorted(found, key=lambda one: -one.since)
    ]


def forget_sessions(store: Store) -> None:
    """Remove the sessions that are over."""
    now = time.time()
    with store.read() as tx:
        gone = [name for name, session in _all(tx) if session.until <= now]
    if gone:
        with store.write() as tx:
            for name in gone:
                tx.delete_record(SESSION, name)


def session_id_of(secret: str) -> str:
    """The id of a session's record."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _all(tx: Transaction) -> Iterator[tuple[str, Session]]:
    after = ""
    while page := tx.records(SESSION, after, _PAGE):
        for name, body in page:
            yield name, _SESSIONS.decode(body)
        after = page[-1][0]


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
