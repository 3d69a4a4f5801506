"""Bearer tokens of an OpenID provider: its keys are found and kept, signatures and claims are checked."""

from __future__ import annotations

import hashlib
import hmac
import logging
import threading
import time
from contextlib import closing
from typing import Any

import jwt
import msgspec
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from postroom.access.authentication import ProviderDown, SignInFailed
from postroom.errors import BadSetting
from postroom.outbound.client import HttpClient
from postroom.outbound.policy import FetchRefused, OutboundPolicy, port_of
from postroom.settings import Settings
from postroom.urls import parse_url

LOG = logging.getLogger(__name__)
ALGORITHMS = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"}
)
"""Asymmetric ones only: with `none` nobody signs, and with HS everybody who may check may also sign."""
KINDS = {"RSA": ("RS", "PS"), "EC": ("ES",), "OKP": ("Ed",)}
"""The algorithms of each kind of key, by how they begin."""
LONGEST_TOKEN = 8 * 1024
TIMEOUT_SECONDS = 5.0
LARGEST_ANSWER = 1024 * 1024
MOST_KEYS = 100
MOST_CLAIMS = 500
MOST_TOKENS = 10_000
SMALLEST_RSA = 2048
LAST_MOMENT = 2**53
"""The end of tokens that say they never end, in numbers that are too large to count with."""
REFRESH_SECONDS = 3600.0
"""How old the provider's keys may become before they are fetched anew."""
RETRY_SECONDS = 30.0
"""How long the provider is left alone after it was asked: tokens with invented keys must not make us ask it."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class TokenUser(msgspec.Struct, frozen=True):
    """Whom a good token speaks for, and until when."""

    name: str
    claims: tuple[str, ...]
    until: float
    checked: float

    def is_fresh(self, now: float) -> bool:
        """Whether it need not be checked again: by then the provider may have other keys."""
        return now < self.until and 0 <= now - self.checked < REFRESH_SECONDS


class Provider(msgspec.Struct, frozen=True):
    """What discovery says about a provider."""

    issuer: str
    jwks_uri: str
    authorization_endpoint: str = ""
    token_endpoint: str = ""


class ProviderClient:
    """Asks one provider, and no host that neither is its own nor is named by the setting allow_fetch."""

    def __init__(self, settings: Settings) -> None:
        self.issuer = settings.oidc_issuer.rstrip("/") if settings.oidc_issuer.count("/") == 3 else settings.oidc_issuer
        parts = parse_url(self.issuer)
        if parts is None or not parts.host or parts.scheme not in ("http", "https"):
            raise BadSetting(f"{self.issuer!r} is no URL.", place="oidc_issuer")
        if parts.scheme == "http" and parts.host not in _LOOPBACK:
            raise BadSetting(
                "tokens are only as good as the way to their issuer: it has to be https.", place="oidc_issuer"
            )
        hosts = (f"{parts.host}:{port_of(parts)}", *settings.allow_fetch)
        self._policy = OutboundPolicy(
            hosts=hosts, timeout_s=TIMEOUT_SECONDS, answer_s=2 * TIMEOUT_SECONDS, max_bytes=LARGEST_ANSWER
        )

    def discover(self) -> Provider:
        """The provider's own description; one that is of another issuer is a lie."""
        url = self.issuer.rstrip("/") + "/.well-known/openid-configuration"
        try:
            found = msgspec.convert(self.get(url), Provider)
        except msgspec.ValidationError:
            raise FetchRefused(f"{url} describes no OpenID provider") from None
        if found.issuer.rstrip("/") != self.issuer.rstrip("/"):
            raise FetchRefused(f"{url} describes another issuer, {found.issuer[:200]}")
        return found

    def get(self, url: str) -> Any:
        """The JSON that a URL of the provider answers."""
        status, decoded = self.ask("GET", url)
        if status != 200:
            raise FetchRefused(f"{url} answers with status {status}")
        return decoded

    def ask(
        self, method: str, url: str, headers: dict[str, str] | None = None, content: bytes | None = None
    ) -> tuple[int, Any]:
        """Status and JSON of an answer of the provider."""
        with closing(HttpClient(self._policy)) as client:
            answer = client.request(
                method, url, headers={"accept": "application/json", **(headers or {})}, content=content
            )
        try:
            return answer.status, msgspec.json.decode(answer.body)
        except (msgspec.DecodeError, RecursionError):
            raise FetchRefused(f"{url} does not answer with JSON, but with status {answer.status}") from None


class SigningKey(msgspec.Struct, frozen=True):
    """A public key of a provider."""

    public: Any
    kind: str
    algorithm: str | None
    text: bytes
    """As the provider gave it, to compare it with another."""

    def signs(self, algorithm: str) -> bool:
        """Whether signatures by that algorithm can be of this key."""
        return algorithm.startswith(KINDS[self.kind]) and self.algorithm in (None, algorithm)


class ProviderKeys:
    """The public keys of a provider, by their ids. Those that are known stay while it cannot be reached."""

    def __init__(self, client: ProviderClient) -> None:
        self._client = client
        self._keys: dict[str, SigningKey] = {}
        self._fetched = self._asked = -REFRESH_SECONDS
        self._fetching = threading.Lock()
        self.changes = 0
        """How often another set of keys came: what was checked with the one before is to be checked again."""

    def find(self, key_id: str | None, algorithm: str) -> SigningKey:
        """The key that a token names; where it names none, the only one there is."""
        is_known = self._named(key_id) is not None
        if not is_known or time.monotonic() - self._fetched > REFRESH_SECONDS:
            failure = self._refresh(waits=not is_known)
            if failure and not is_known:
                raise ProviderDown(f"the issuer of the token does not give its keys ({failure})")
        found = self._named(key_id)
        if found is None or not found.signs(algorithm):
            raise SignInFailed("the token is signed with a key that its issuer does not have")
        return found

    def _named(self, key_id: str | None) -> SigningKey | None:
        if key_id is None:
            return next(iter(self._keys.values())) if len(self._keys) == 1 else None
        return self._keys.get(key_id)

    def _refresh(self, *, waits: bool) -> str:
        """Fetch the keys, but not again and again; why that is not possible, else nothing.

        Unless it waits, nothing is done while another thread fetches them.
        """
        if not self._fetching.acquire(blocking=waits):
            return ""
        try:
            if time.monotonic() - self._asked < RETRY_SECONDS:
                return "" if self._fetched >= self._asked else "it was asked a moment ago"
            self._asked = time.monotonic()
            keys = _readable(self._client.get(self._client.discover().jwks_uri))
        except FetchRefused as refused:
            LOG.warning("the keys of %s cannot be fetched: %s", self._client.issuer, refused)
            return "it cannot be reached"
        else:
            self._fetched = time.monotonic()
            self.changes += {one.text for one in keys.values()} != {one.text for one in self._keys.values()}
            self._keys = keys
            return ""
        finally:
            self._fetching.release()


def _readable(document: Any) -> dict[str, SigningKey]:
    """The keys of a JWKS that can check signatures; secrets and keys that are too weak are none of them."""
    listed = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise FetchRefused("what the issuer gives is no set of keys")
    found: dict[str, SigningKey] = {}
    for number, one in enumerate(listed[:MOST_KEYS]):
        key = _public_key(one) if isinstance(one, dict) and one.get("use", "sig") == "sig" else None
        if key is not None:
            text = msgspec.json.encode(one, order="sorted")
            found[str(one.get("kid", f"#{number}"))] = SigningKey(key, one["kty"], one.get("alg"), text)
    return found


def _public_key(given: dict[str, Any]) -> Any:
    """A key of a JWKS, None where it is none; one whose private half is there, too, is everybody's."""
    if "d" in given or not isinstance(given.get("kty"), str) or given["kty"] not in KINDS:
        return None
    try:
        key = jwt.PyJWK(given).key
    except (jwt.PyJWTError, ValueError, TypeError, KeyError, NotImplementedError):
        return None
    return None if isinstance(key, RSAPublicKey) and key.key_size < SMALLEST_RSA else key


class TokenVerifier:
    """Checks tokens of one issuer for one audience. A good token is remembered as long as it is good."""

    def __init__(self, settings: Settings) -> None:
        if not settings.oidc_audience:
            raise BadSetting(
                "tokens for others must not count here.",
                place="oidc_audience",
                remedy="Say which audience (aud) the tokens for this service have.",
            )
        self.client = ProviderClient(settings)
        self._keys = ProviderKeys(self.client)
        self._audience = settings.oidc_audience
        self._user_claim = settings.oidc_user_claim
        self._groups_claim = settings.oidc_groups_claim
        self._skew = settings.oidc_skew_s
        self._known: dict[bytes, TokenUser] = {}
        self._changes = 0

    def known(self, token: str) -> TokenUser | None:
        """Whom a token speaks for that was checked before and is still good."""
        self._forget()
        found = self._known.get(_digest(token))
        return found if found is not None and found.is_fresh(time.time()) else None

    def verify(self, token: str) -> TokenUser:
        """Whom a token speaks for; may ask the provider."""
        found = self.known(token)
        if found is None:
            found = self._user(self._claims(token, self._audience))
            self._forget()
            self._known[_digest(token)] = found
        return found

    def _forget(self) -> None:
        """Forget the tokens that were checked with other keys than the provider has now, or all when they are many."""
        if self._changes != self._keys.changes or len(self._known) >= MOST_TOKENS:
            self._known, self._changes = {}, self._keys.changes

    def verify_login(self, token: str, client_id: str, nonce: str) -> TokenUser:
        """Whom the ID token of one login speaks for; it is for the client, and has the nonce of that login."""
        claims = self._claims(token, client_id)
        sent = str(claims.get("nonce", "")).encode("utf-8", "surrogatepass")
        if not hmac.compare_digest(sent, nonce.encode()) or claims.get("azp", client_id) != client_id:
            raise SignInFailed("the token is of another login")
        return self._user(claims)

    def _claims(self, token: str, audience: str) -> dict[str, Any]:
        if len(token) > LONGEST_TOKEN:
            raise SignInFailed(f"the token is longer than {LONGEST_TOKEN} bytes")
        try:
            header = jwt.get_unverified_header(token)
        except jwt.PyJWTError:
            raise SignInFailed("this is no token") from None
        algorithm = header.get("alg")
        if not isinstance(algorithm, str) or algorithm not in ALGORITHMS or "crit" in header:
            raise SignInFailed("the token is signed in a way that does not count here")
        key = self._keys.find(header.get("kid"), algorithm)
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                key.public,
                algorithms=[algorithm],
                audience=audience,
                issuer=[self.client.issuer, self.client.issuer.rstrip("/") + "/"],
                leeway=self._skew,
                options={"require": ["exp", "iss", "aud"]},
            )
        except jwt.PyJWTError as error:
            raise SignInFailed(_REASONS.get(type(error), "the token is not good")) from None
        return claims

    def _user(self, claims: dict[str, Any]) -> TokenUser:
        name = claims.get(self._user_claim)
        if not isinstance(name, str) or not name:
            raise SignInFailed(f"the token does not say who it is for ({self._user_claim})")
        until = float(min(int(claims["exp"]), LAST_MOMENT)) + self._skew
        return TokenUser(name, _values(claims, self._groups_claim), until, checked=time.time())


_REASONS: dict[type[Exception], str] = {
    jwt.ExpiredSignatureError: "the token has expired",
    jwt.ImmatureSignatureError: "the token is not valid yet",
    jwt.InvalidAudienceError: "the token is for another audience",
    jwt.InvalidIssuerError: "the token is of another issuer",
    jwt.InvalidSignatureError: "the signature of the token is wrong",
    jwt.MissingRequiredClaimError: "the token does not say who issued it, for whom, or until when",
}


def _values(claims: dict[str, Any], path: str) -> tuple[str, ...]:
    """The values of a claim, which may be inside of others (`realm_access.roles`): a list, or a text with spaces."""
    found: Any = claims.get(path)
    if found is None:
        found = claims
        for name in path.split("."):
            found = found.get(name) if isinstance(found, dict) else None
    listed = found.split() if isinstance(found, str) else found if isinstance(found, list) else []
    return tuple(sorted({one for one in listed if isinstance(one, str) and one})[:MOST_CLAIMS])


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
