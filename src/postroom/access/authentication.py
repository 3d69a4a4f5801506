"""From credentials to permissions: whom a key, a token or a trusted proxy speaks for, and what they may do."""

from __future__ import annotations

import hashlib
import itertools
import logging
import math
import threading
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from postroom.access.access_file import AccessFile
from postroom.access.grants import ANONYMOUS, AUTHENTICATED, LONGEST_NAME, GrantTable, read_grants, revision_of
from postroom.access.keys import ApiKey, note_uses, read_keys
from postroom.access.sessions import Session, create_session, end_session, find_session, session_id_of
from postroom.registry.permissions import Permissions
from postroom.registry.problems import RegistryProblem
from postroom.settings import Settings
from postroom.store.interface import Store

if TYPE_CHECKING:
    from postroom.access.oidc import TokenVerifier

LOG = logging.getLogger(__name__)
MOST_REMEMBERED = 10_000


class SignInFailed(Exception):
    """Credentials that are not good; the sentence may be told to whoever sent them."""

    def __init__(self, sentence: str, subject: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.subject = subject
        """Whose credentials they seem to be, for limits and for the audit."""


class ProviderDown(SignInFailed):
    """A token that cannot be checked, because its issuer does not give its keys."""


class SessionOver(SignInFailed):
    """A cookie that was good, perhaps: nobody guesses one, so it is no attempt to come in."""


class MustVerify(Exception):
    """Credentials that take a while to check."""


class Admission(msgspec.Struct, frozen=True):
    """Somebody who may come in."""

    permissions: Permissions
    visibility: int = 0
    """Equal for all who get the same answers."""


class KnownKey(msgspec.Struct, frozen=True):
    """A key that was good, which it is until it expires, or anything about keys and grants changes."""

    id: str
    until: float
    admission: Admission


def token_subject(token: str) -> str:
    """What failures with a token are counted for: one that is not good must not keep others at its address out."""
    return f"token:{hashlib.sha256(token.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


class AccessState(msgspec.Struct, frozen=True):
    """Grants and keys as they were read together."""

    revision: bytes
    grants: GrantTable
    keys: dict[str, ApiKey]
    admissions: dict[tuple[str, ...], Admission]
    """Those who were admitted since then, by their subjects."""
    sessions: dict[str, Session]
    """Sessions that were used since then, by the ids of their records."""
    known: dict[bytes, KnownKey]
    """Keys that were found to be good since then, by the digest of what was sent."""


class Authenticator:
    """Knows keys and grants, and reads them anew when they change. May be asked from any thread."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._file = AccessFile(settings.access_file) if settings.access_file else None
        self._reading = threading.Lock()
        self._version = -1
        self._visibilities: dict[tuple[object, ...], int] = {}
        self._numbers = itertools.count(1)
        self._uses: dict[str, float] = {}
        self._state = self._read()
        self.tokens: TokenVerifier | None = None
        if settings.oidc_issuer:
            from postroom.access.oidc import TokenVerifier

            self.tokens = TokenVerifier(settings)

    @property
    def grants(self) -> GrantTable:
        """The grants in force."""
        return self.state().grants

    def state(self, version: int | None = None) -> AccessState:
        """The present grants and keys; as long as nothing is committed this costs a comparison."""
        version = self._store.version() if version is None else version
        if version != self._version or (self._file is not None and self._file.changed()):
            with self._reading:
                self._state = self._read(self._state)
                self._version = version
        return self._state

    def anonymous(self) -> Admission:
        """Somebody without credentials."""
        return self._admit(ANONYMOUS, ())

    def known(self, sent: bytes, version: int) -> Admission | None:
        """Whoever sent a key before, in the same words; None when that has to be looked at."""
        found = self.state(version).known.get(hashlib.sha256(sent).digest())
        if found is None or (now := time.time()) >= found.until:
            return None
        self._uses[found.id] = now
        return found.admission

    def key(self, key_id: str, secret: str, sent: bytes) -> Admission:
        """Whoever holds a key, which was sent in these words."""
        state, now = self.state(), datetime.now(UTC)
        found = state.keys.get(key_id)
        subject = f"key:{key_id}"
        if found is None or not found.fits(secret):
            raise SignInFailed("this key is not known here", subject)
        status = found.status(now)
        if status != "active":
            raise SignInFailed(f"this key is {status}", subject)
        self._uses[key_id] = now.timestamp()
        admission = self._admit(subject, (AUTHENTICATED,))
        if len(state.known) < MOST_REMEMBERED:
            until = found.expires.timestamp() if found.expires is not None else math.inf
            state.known[hashlib.sha256(sent).digest()] = KnownKey(key_id, until, admission)
        return admission

    def user(self, name: str, claims: Iterable[str] = ()) -> Admission:
        """Somebody whom a trusted proxy or an OpenID provider has authenticated."""
        if not name or len(name) > LONGEST_NAME or not name.isprintable():
            raise SignInFailed("the name of the user is empty, too long, or not printable")
        return self._admit(f"user:{name}", (AUTHENTICATED, *sorted({f"claim:{value}" for value in claims})))

    def session(self, secret: str, *, waits: bool) -> tuple[Admission, Session]:
        """Whoever signed in with a browser, by the secret of the cookie; may take a while when it is not known."""
        state = self.state()
        name = session_id_of(secret)
        found = state.sessions.get(name)
        if found is None and not waits:
            raise MustVerify
        if found is None:
            with self._store.read() as tx:
                found = find_session(tx, secret)
            if found is not None and len(state.sessions) < MOST_REMEMBERED:
                state.sessions[name] = found
        if found is None or time.time() >= found.until:
            raise SessionOver("the session is over", "session")
        return self.user(found.user, found.claims), found

    def begin_session(self, user: str, claims: tuple[str, ...], seconds: float, before: str) -> str:
        """Let somebody in who signed in with a browser; the secret of their cookie. The session before it ends."""
        self.user(user, claims)
        with self._store.write() as tx:
            if before:
                end_session(tx, before)
            return create_session(tx, user, claims, seconds)

    def end_session(self, secret: str) -> None:
        """Let somebody out."""
        with self._store.write() as tx:
            end_session(tx, secret)

    def permissions_of(self, principal: str) -> Permissions | None:
        """What a principal may do now who is not here to ask; None when there is no such principal.

        Of a user only what is granted by name, or to everybody, is known: claims come with a token.
        """
        kind, _, name = principal.partition(":")
        key = self.state().keys.get(name) if kind == "key" else None
        if kind == "user" or (key is not None and key.status(datetime.now(UTC)) == "active"):
            return self._admit(principal, (AUTHENTICATED,)).permissions
        return None

    def token(self, token: str, *, waits: bool) -> Admission:
        """Whoever a token of the OpenID provider speaks for; unless it may take a while, only if it is known."""
        if self.tokens is None:
            raise SignInFailed("this service takes no tokens", token_subject(token))
        try:
            found = self.tokens.verify(token) if waits else self.tokens.known(token)
        except ProviderDown:
            raise
        except SignInFailed as failed:
            raise SignInFailed(failed.sentence, token_subject(token)) from None
        if found is None:
            raise MustVerify
        return self.user(found.name, found.claims)

    def flush_uses(self) -> None:
        """Keep when keys were used last. Seldom: what is committed makes all answers be rendered anew."""
        uses, self._uses = self._uses, {}
        if not uses:
            return
        try:
            with self._store.write() as tx:
                note_uses(tx, {key: datetime.fromtimestamp(moment, UTC) for key, moment in uses.items()})
        except RegistryProblem as problem:  # the store is busy or full: later
            LOG.warning("when keys were used last cannot be kept: %s", problem)
            self._uses = {**uses, **self._uses}

    def _admit(self, principal: str, also: tuple[str, ...]) -> Admission:
        state = self.state()
        subjects = (principal, *also)
        found = state.admissions.get(subjects)
        if found is None:
            permissions = state.grants.permissions(principal, {*subjects, ANONYMOUS})
            found = Admission(permissions, self._visibility(permissions))
            if len(state.admissions) >= MOST_REMEMBERED:
                state.admissions.clear()
            state.admissions[subjects] = found
        return found

    def _visibility(self, permissions: Permissions) -> int:
        shown = permissions.read, permissions.write, permissions.own, permissions.is_admin
        if len(self._visibilities) >= MOST_REMEMBERED:
            self._visibilities.clear()
        return self._visibilities.setdefault(shown, next(self._numbers))

    def _read(self, before: AccessState | None = None) -> AccessState:
        with self._store.read() as tx:
            revision = revision_of(tx)
            if before is not None and self._file is None and revision == before.revision:
                return before
            grants = self._file.grants if self._file is not None else read_grants(tx)
            return AccessState(revision, GrantTable(grants), read_keys(tx), {}, {}, {})
