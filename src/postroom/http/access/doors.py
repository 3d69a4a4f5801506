"""The credentials of requests: a trusted proxy's word, an API key, or none, and what is answered to bad ones."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from typing import NoReturn

from postroom.access.audit import AuditJournal
from postroom.access.authentication import (
    Admission,
    Authenticator,
    ProviderDown,
    SessionOver,
    SignInFailed,
    token_subject,
)
from postroom.access.keys import MARK, split_key
from postroom.access.sign_in_limits import RateLimit, SignInLimit, network_of
from postroom.errors import BadSetting
from postroom.http.access.browser import CALLBACK, LOGIN, BrowserDoor, end_of_session, session_secret
from postroom.http.server.asgi import Scope
from postroom.http.server.base_url import BaseUrlReader, Headers
from postroom.http.server.cors import ANY, READING
from postroom.http.server.request import Request
from postroom.http.server.response import Response
from postroom.registry.permissions import UNRESTRICTED, Permissions
from postroom.registry.problems import RegistryProblem
from postroom.settings import Settings

OPEN = Admission(UNRESTRICTED)
"""Everybody, where access is off."""
NOBODY = Admission(Permissions())
"""Somebody who is not let in."""
REALM = 'realm="postroom"'
CHALLENGE = f'Bearer {REALM}, Basic {REALM}, charset="UTF-8"'
OPEN_PATHS = frozenset({b"/healthz", b"/readyz", b"/-/healthz", b"/-/readyz"})
"""What needs no credentials, because it says nothing about the registry. A Group type may have such a name at the root;
without grants nothing of it is seen.
"""
_CONFIRM = re.compile(rb"/(-/)?subscriptions/[^/]+/confirm")
"""What a sink calls that agrees to a subscription; it was sent a key for this, and has no other credentials."""
RETRY_AFTER = "10"
_ASSETS = re.compile(rb"/(-/)?ui/-/assets/[^/]+")
"""What pages look like and how they behave, which is the same for everybody; also that on which one signs in."""
SIGN_IN_PATHS = frozenset({LOGIN.encode(), CALLBACK.encode()})
"""What needs no credentials where people can sign in with a browser."""
LONGEST_CREDENTIALS = 16 * 1024
PRIVATE = [(b"vary", b"Authorization, Cookie"), (b"cache-control", b"private")]
"""What keeps a shared cache from giving one principal's answer to another."""


class Doors:
    """Finds out who sent a request. What it refuses is a problem to be answered; nobody falls back to anonymous."""

    def __init__(self, authenticator: Authenticator, settings: Settings, base_urls: BaseUrlReader) -> None:
        if settings.actor_header and "*" in settings.trusted_proxies:
            raise BadSetting(
                "with access on, everybody could say who they are.",
                place="trusted_proxies",
                remedy="Name the addresses of the proxies whose actor_header counts.",
            )
        self.authenticator = authenticator
        self.journal = AuditJournal()
        self._base_urls = base_urls
        self._actor_header = settings.actor_header.lower().encode("latin-1", "replace")
        self._failures = SignInLimit(settings.sign_in_failures)
        self._browser: BrowserDoor | None = None
        if settings.oidc_client_id:
            self._browser = BrowserDoor(authenticator, settings, self.journal, self._failures)
        self._open_paths = OPEN_PATHS | SIGN_IN_PATHS if self._browser is not None else OPEN_PATHS
        self._origins = frozenset(origin.encode("latin-1", "replace") for origin in settings.cors_origins)
        self._requests = RateLimit(settings.requests_per_minute)
        self._is_plain = not settings.actor_header and not settings.requests_per_minute
        """Whether nothing but the credentials themselves counts, so that those that are known need no more."""

    def admit(self, scope: Scope, headers: Headers, *, waits: bool) -> Admission:
        """Whoever sent a request; RegistryProblem (401, 429) when that is not good enough.

        Unless it may take a while, MustVerify for credentials that have to be looked at in a thread.
        """
        address = self._base_urls.client_address(scope)
        if self._is_open(scope.get("raw_path", b"")) or self._is_preflight(scope, headers):
            return self.authenticator.anonymous()
        admission = self._recognised(scope, headers, address, waits)
        self._limit_requests(admission, address)
        if admission.permissions.is_named:
            self.journal.note_sign_in(admission.permissions.principal, address, self._door(admission, headers))
        return admission

    def known(self, scope: Scope, headers: Headers, version: int) -> Admission | None:
        """Whoever sends a key that was good before; None when more has to be looked at. `version` is the store's."""
        sent = headers.get(b"authorization")
        if sent is None or not self._is_plain or len(headers) != len(scope["headers"]):
            return None
        found = self.authenticator.known(sent, version)
        if found is not None:  # a key that was stolen is known, too: the audit says where it is used
            self.journal.note_sign_in(found.permissions.principal, self._base_urls.client_address(scope), "key")
        return found

    def _is_open(self, path: bytes) -> bool:
        return path in self._open_paths or any(one.fullmatch(path) is not None for one in (_CONFIRM, _ASSETS))

    def _is_preflight(self, scope: Scope, headers: Headers) -> bool:
        """Whether a browser asks for a page of an origin that cors_origins names: it sends no credentials with that
        (Fetch standard, CORS-preflight).
        """
        has_body = b"content-length" in headers or b"transfer-encoding" in headers
        is_asked = scope["method"] == "OPTIONS" and b"access-control-request-method" in headers
        return is_asked and not has_body and not self._origins.isdisjoint((headers.get(b"origin", b""), ANY.encode()))

    def _door(self, admission: Admission, headers: Headers) -> str:
        """By which door somebody came in."""
        if admission.permissions.principal.startswith("key:"):
            return "key"
        if self._actor_header and self._actor_header in headers:
            return "proxy"
        return "token" if b"authorization" in headers else "browser"

    def sign_in_handler(self, path: str) -> Callable[[Request], Response] | None:
        """What answers the paths where people sign in and out; it takes its time."""
        return self._browser.handler(path) if self._browser is not None else None

    def note_forbidden(self, request: Request) -> None:
        """Note that somebody wanted what they may not do."""
        principal = request.permissions.principal
        self.journal.note("forbidden", principal, request.address, method=request.method, path=request.path)

    def still_admits(self, admission: Admission, scope: Scope, headers: Headers) -> bool:
        """Whether a request would be answered alike if it came now; a stream goes on as long as that is so."""
        try:
            return self._recognised(scope, headers, "", waits=True).permissions == admission.permissions
        except RegistryProblem:
            return False

    def _recognised(self, scope: Scope, headers: Headers, address: str, waits: bool) -> Admission:
        try:
            if self._actor_header and headers.get(self._actor_header) and self._base_urls.trusts(scope):
                return self._by_proxy(scope, headers[self._actor_header])
            if b"authorization" in headers:
                return self._by_authorization(scope, headers[b"authorization"], address, waits)
            if self._browser is not None and b"cookie" in headers:
                base = self._base_urls.base(scope, headers)
                if secret := session_secret(headers[b"cookie"].decode("latin-1"), base):
                    return self._by_session(scope, headers, secret, address, waits)
        except ProviderDown as down:
            detail = f"{down.sentence}, please try again later"
            raise RegistryProblem(
                "bad_request", "/", error_detail=detail, status=503, headers={"retry-after": RETRY_AFTER}
            ) from None
        except SessionOver as over:
            self.journal.note("refused", over.subject, address, detail=over.sentence)
            raise self._for_browsers(over.sentence, end_of_session(self._base_urls.base(scope, headers))) from None
        except SignInFailed as failed:
            self._refuse(failed, address)
        admission = self.authenticator.anonymous()
        if not admission.permissions.read.patterns:
            if self._browser is not None and b"text/html" in headers.get(b"accept", b""):
                raise self._for_browsers("credentials are needed")
            raise _unauthorized("credentials are needed")
        return admission

    def _by_proxy(self, scope: Scope, name: bytes) -> Admission:
        if sum(one == self._actor_header for one, _ in scope["headers"]) > 1:
            raise SignInFailed("the header with the name of the user is there twice: one may be the client's own")
        return self.authenticator.user(name.decode("utf-8", "replace").strip())

    def _for_browsers(self, detail: str, cookie: str = "") -> RegistryProblem:
        """What tells people where they sign in; a browser that hears of Basic would ask them for a password."""
        headers = {"www-authenticate": f"Bearer {REALM}", **({"set-cookie": cookie} if cookie else {})}
        return RegistryProblem("unauthorized", "/", error_detail=f"{detail}; sign in at {LOGIN}", headers=headers)

    def _by_authorization(self, scope: Scope, given: bytes, address: str, waits: bool) -> Admission:
        if len(given) > LONGEST_CREDENTIALS or sum(name == b"authorization" for name, _ in scope["headers"]) > 1:
            raise SignInFailed("the Authorization header is there twice, or too long")
        scheme, _, value = given.decode("latin-1").partition(" ")
        is_bearer, value = scheme.lower() == "bearer", value.strip()
        found = split_key(value if is_bearer else _basic(value) if scheme.lower() == "basic" else "")
        if found is None and is_bearer and value.count(".") == 2:
            self._limit_failures(address, token_subject(value))
            return self.authenticator.token(value, waits=waits)
        if found is None:
            raise SignInFailed("the Authorization header holds no key of this service")
        self._limit_failures(address, f"key:{found[0]}")
        return self.authenticator.key(*found, given)

    def _by_session(self, scope: Scope, headers: Headers, secret: str, address: str, waits: bool) -> Admission:
        admission, session = self.authenticator.session(secret, waits=waits)
        sent = headers.get(b"x-csrf-token", b"").decode("latin-1")
        if scope["method"] not in READING and not session.allows(sent):
            detail = "a write with a cookie needs the header X-CSRF-Token with what /-/session says (csrf)"
            path = scope["path"]
            self.journal.note("forbidden", session.principal, address, method=scope["method"], path=path, detail=detail)
            raise RegistryProblem("bad_request", "/", error_detail=detail, status=403)
        return admission

    def _limit_failures(self, address: str, subject: str) -> None:
        wait = self._failures.wait(address, subject) if address else 0
        if wait:
            self.journal.note("refused", subject, address, detail="too many sign-ins failed")
            raise _too_many("too many sign-ins failed", wait)

    def _limit_requests(self, admission: Admission, address: str) -> None:
        principal = admission.permissions.principal
        name = principal if ":" in principal else f"{principal} {network_of(address)}"
        if wait := self._requests.wait(name):
            self.journal.note("refused", principal, address, detail="too many requests")
            raise _too_many("this principal sends too many requests", wait)
        self._requests.count(name)

    def _refuse(self, failed: SignInFailed, address: str) -> NoReturn:
        if address:
            self._limit_failures(address, failed.subject)
            self._failures.fail(address, failed.subject)
            self.journal.note("refused", failed.subject, address, detail=failed.sentence)
        raise _unauthorized(failed.sentence, 'Bearer realm="postroom", error="invalid_token", Basic realm="postroom"')


def _basic(value: str) -> str:
    """The key of Basic credentials, `ID:KEY` or `ID:SECRET`; what names another key is none."""
    try:
        user, _, given = base64.b64decode(value.strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return ""
    start = f"{MARK}_{user}_"
    return given if given.startswith(start) else start + given


def _unauthorized(detail: str, challenge: str = CHALLENGE) -> RegistryProblem:
    headers = {"www-authenticate": challenge}
    return RegistryProblem("unauthorized", "/", error_detail=detail, headers=headers)


def _too_many(detail: str, wait: int) -> RegistryProblem:
    return RegistryProblem("bad_request", "/", error_detail=detail, status=429, headers={"retry-after": str(wait)})
