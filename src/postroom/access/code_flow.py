"""Sign-in of people: OpenID's code flow with PKCE, from the address of the provider's page to who it was."""

from __future__ import annotations

import base64
import hashlib
import logging
import secrets
import threading
import time
from urllib.parse import quote_plus, urlencode, urlsplit

import msgspec

from postroom.access.authentication import ProviderDown, SignInFailed
from postroom.access.oidc import REFRESH_SECONDS, Provider, TokenUser, TokenVerifier
from postroom.errors import BadSetting
from postroom.outbound.policy import FetchRefused
from postroom.settings import Settings

LOG = logging.getLogger(__name__)
RETRY_SECONDS = 5.0
"""How long a provider that could not be reached is left alone: people come again and again."""
LONGEST_CODE = 4096


class Login(msgspec.Struct, frozen=True):
    """A sign-in that began: what the provider's answer has to fit. Only the browser that began it has this."""

    state: str
    """Comes back with the answer."""
    nonce: str
    """Comes back in the ID token."""
    verifier: str
    """What the code is good with, and nothing else (PKCE)."""


def begin_login() -> Login:
    """A sign-in that nobody can guess."""
    return Login(*(secrets.token_urlsafe(32) for _ in range(3)))


class CodeFlow:
    """This service as a client of the provider. May be asked from any thread."""

    def __init__(self, settings: Settings, tokens: TokenVerifier | None) -> None:
        if tokens is None:
            raise BadSetting(
                "nobody can sign in with a browser without an OpenID provider.",
                place="oidc_client_id",
                remedy="Name the provider in oidc_issuer.",
            )
        self._client_id = settings.oidc_client_id
        self._client_secret = settings.oidc_client_secret
        self._scope = settings.oidc_scope
        self._tokens = tokens
        self._asking = threading.Lock()
        self._provider: Provider | None = None
        self._asks_again = 0.0

    def address(self, login: Login, callback: str) -> str:
        """Where somebody is sent to sign in."""
        challenge = base64.urlsafe_b64encode(hashlib.sha256(login.verifier.encode()).digest())
        query = {
            "response_type": "code",
            "client_id": self._client_id,
            "redirect_uri": callback,
            "scope": self._scope,
            "state": login.state,
            "nonce": login.nonce,
            "code_challenge": challenge.rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        endpoint = self._described().authorization_endpoint
        if urlsplit(endpoint).scheme not in ("http", "https"):
            raise ProviderDown("the provider does not say where people sign in")
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(query)}"

    def user(self, login: Login, callback: str, code: str, issuer: str) -> TokenUser:
        """Who signed in, by the code that the provider gave their browser; `issuer` where it said its name as well."""
        provider = self._described()
        if issuer and issuer.rstrip("/") != provider.issuer.rstrip("/"):
            raise SignInFailed("the answer is of another provider")  # RFC 9207
        if not code or len(code) > LONGEST_CODE:
            raise SignInFailed("the provider gave no code")
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": callback,
            "client_id": self._client_id,
            "code_verifier": login.verifier,
        }
        token = self._id_token(provider.token_endpoint, form)
        return self._tokens.verify_login(token, self._client_id, login.nonce)

    def _id_token(self, endpoint: str, form: dict[str, str]) -> str:
        headers = {"content-type": "application/x-www-form-urlencoded"}
        if self._client_secret:  # RFC 6749, 2.3.1: both are encoded like a form
            pair = f"{quote_plus(self._client_id)}:{quote_plus(self._client_secret)}"
            headers["authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
        try:
            status, found = self._tokens.client.ask("POST", endpoint, headers, urlencode(form).encode())
        except FetchRefused as refused:
            LOG.warning("no token can be had from %s: %s", endpoint, refused)
            raise ProviderDown("the provider gives no tokens at present") from None
        document = found if isinstance(found, dict) else {}
        if status in (400, 401, 403) and document.get("error") == "invalid_grant":
            raise SignInFailed("the provider does not take its code back")
        token = document.get("id_token")
        if status != 200 or not isinstance(token, str):
            LOG.warning("no token can be had from %s: status %d, %r", endpoint, status, _shown(document.get("error")))
            raise ProviderDown("the provider gives this service no tokens")
        return token

    def _described(self) -> Provider:
        """What discovery says; what it said before while the provider is down."""
        with self._asking:
            now = time.monotonic()
            if now >= self._asks_again:
                try:
                    self._provider, self._asks_again = self._tokens.client.discover(), now + REFRESH_SECONDS
                except FetchRefused as refused:
                    LOG.warning("the OpenID provider cannot be asked: %s", refused)
                    self._asks_again = now + RETRY_SECONDS
            if self._provider is None:
                raise ProviderDown("the provider cannot be reached")
            return self._provider


def _shown(value: object) -> str:
    return value[:80] if isinstance(value, str) else ""
