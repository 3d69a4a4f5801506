"""Tokens of an OpenID provider: which are good, and what happens on bad days of the provider."""

from __future__ import annotations

import base64
import json
import time
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization

from postroom.access import oidc
from postroom.access.authentication import ProviderDown, SignInFailed
from postroom.access.oidc import LONGEST_TOKEN, TokenVerifier
from postroom.errors import BadSetting
from postroom.settings import Settings
from tests.lying_provider import AUDIENCE, EC_KEY, ED_KEY, OTHER_KEY, RSA_KEY, SMALL_KEY, LyingProvider, jwk, provider

__all__ = ["provider"]


def verifier(provider: LyingProvider, **settings: Any) -> TokenVerifier:
    return TokenVerifier(Settings(oidc_issuer=provider.url, oidc_audience=AUDIENCE, **settings))


def test_a_good_token_says_who_and_which_groups(provider: LyingProvider) -> None:
    found = verifier(provider).verify(provider.token(groups=["drivers", "baker", 1, ""]))
    assert (found.name, found.claims) == ("anna", ("baker", "drivers"))


@pytest.mark.parametrize(
    ("settings", "claims", "name", "values"),
    [
        ({"oidc_user_claim": "email"}, {"email": "anna@example.com"}, "anna@example.com", ()),
        ({"oidc_groups_claim": "realm_access.roles"}, {"realm_access": {"roles": ["a"]}}, "anna", ("a",)),
        ({"oidc_groups_claim": "https://example.com/roles"}, {"https://example.com/roles": ["a"]}, "anna", ("a",)),
        ({"oidc_groups_claim": "scope"}, {"scope": "read write"}, "anna", ("read", "write")),
        ({"oidc_groups_claim": "a.b"}, {"a": "b"}, "anna", ()),
        ({}, {"groups": {"a": 1}}, "anna", ()),
    ],
)
def test_the_settings_say_where_users_and_groups_are(
    provider: LyingProvider, settings: dict[str, str], claims: dict[str, Any], name: str, values: tuple[str, ...]
) -> None:
    found = verifier(provider, **settings).verify(provider.token(**claims))
    assert (found.name, found.claims) == (name, values)


@pytest.mark.parametrize(
    ("key", "algorithm"),
    [(RSA_KEY, "RS256"), (RSA_KEY, "PS512"), (EC_KEY, "ES256"), (ED_KEY, "EdDSA")],
    ids=["RS256", "PS512", "ES256", "EdDSA"],
)
def test_every_kind_of_asymmetric_key_counts(provider: LyingProvider, key: Any, algorithm: str) -> None:
    provider.keys = [jwk(key, "one")]
    assert verifier(provider).verify(provider.token(key, algorithm)).name == "anna"


def with_header(header: bytes) -> str:
    """A token with a header that no library would write."""
    return base64.urlsafe_b64encode(header).rstrip(b"=").decode() + ".e30.e30"


def signed(claims: bytes, key: Any = RSA_KEY, **header: Any) -> str:
    """A token of the provider with claims that no library would write."""
    return jwt.PyJWS().encode(claims, key, "RS256", {"kid": "one", **header})


def private_jwk(key: Any) -> dict[str, Any]:
    return dict(json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key)))


def _public_pem() -> bytes:
    return RSA_KEY.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def _signed_with_the_public_key(provider: LyingProvider) -> str:
    """The classic: the public key, which everybody has, used as the secret of HS256."""
    import hashlib
    import hmac

    def part(value: Any) -> bytes:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=")

    claims = {"iss": provider.issuer, "aud": AUDIENCE, "sub": "anna", "exp": int(time.time()) + 300}
    text = part({"alg": "HS256", "kid": "one"}) + b"." + part(claims)
    mac = base64.urlsafe_b64encode(hmac.new(_public_pem(), text, hashlib.sha256).digest()).rstrip(b"=")
    return (text + b"." + mac).decode()


NOW = int(time.time())
BAD = {
    "expired": (lambda p: p.token(exp=int(time.time()) - 31), "has expired"),
    "not yet valid": (lambda p: p.token(nbf=int(time.time()) + 60), "not valid yet"),
    "issued in the future": (lambda p: p.token(iat=int(time.time()) + 600), "not valid yet"),
    "wrong audience": (lambda p: p.token(aud="other"), "another audience"),
    "no audience": (lambda p: p.token(aud=None), "does not say"),
    "wrong issuer": (lambda p: p.token(iss="https://evil.example"), "another issuer"),
    "no issuer": (lambda p: p.token(iss=None), "does not say"),
    "no end": (lambda p: p.token(exp=None), "does not say"),
    "no user": (lambda p: p.token(sub=None), "who it is for"),
    "a user that is no text": (lambda p: p.token(sub=None, oid=7), "who it is for"),
    "unsigned": (lambda p: p.token("", "none"), "in a way that does not count"),
    "signed with a shared secret": (lambda p: p.token("x" * 32, "HS256"), "in a way that does not count"),
    "signed with the public key as a secret": (_signed_with_the_public_key, "in a way that does not count"),
    "another key under a known id": (lambda p: p.token(OTHER_KEY), "signature of the token is wrong"),
    "an unknown key": (lambda p: p.token(OTHER_KEY, kid="two"), "key that its issuer does not have"),
    "an algorithm of another kind of key": (lambda p: p.token(EC_KEY, "ES256"), "key that its issuer does not have"),
    "oversized": (lambda p: p.token(more="x" * LONGEST_TOKEN), "longer than"),
    "malformed": (lambda _: "a.b.c", "no token"),
    "an algorithm that is no name": (lambda _: with_header(b'{"alg":[]}'), "in a way that does not count"),
    "an algorithm that is an object": (lambda _: with_header(b'{"alg":{}}'), "in a way that does not count"),
    "no algorithm": (lambda _: with_header(b"{}"), "in a way that does not count"),
    "a key id that is no text": (lambda _: with_header(b'{"alg":"RS256","kid":["one"]}'), "no token"),
    "a key id that is a path": (lambda p: p.token(kid="../../../dev/null"), "key that its issuer does not have"),
    "a key of its own": (lambda p: signed(p.claims(), OTHER_KEY, jwk=jwk(OTHER_KEY, "one")), "signature .* is wrong"),
    "an address of its key": (lambda p: signed(p.claims(), OTHER_KEY, jku=f"{p.url}/mine"), "signature .* is wrong"),
    "a header that is a list": (lambda _: with_header(b"[]"), "no token"),
    "a deep header": (lambda _: with_header(b'{"alg":' + b"[" * 5000), "no token"),
    "a header with a long number": (lambda _: with_header(b'{"alg":' + b"9" * 5500 + b"}"), "no token|does not count"),
    "critical extensions": (lambda p: signed(p.claims(), crit=["exp"]), "no token|does not count"),
    "claims that are a list": (lambda _: signed(b"[]"), "not good"),
    "deep claims": (lambda _: signed(b"[" * 4000), "not good"),
    "an end that is no number": (lambda p: p.token(exp="tomorrow"), "not good"),
    "an end beyond all numbers": (lambda p: signed(p.claims(exp="1e999")), "not good"),
    "not a number as its end": (lambda p: signed(p.claims(exp="NaN")), "not good"),
    "a user that is a list": (lambda p: p.token(sub=["anna"]), "not good|who it is for"),
    "empty": (lambda _: "..", "no token"),
    "cut short": (lambda p: p.token()[:-10], "signature of the token is wrong"),
    "claims changed": (
        lambda p: ".".join((p.token().split(".")[0], p.token(sub="root").split(".")[1], p.token().split(".")[2])),
        "signature of the token is wrong",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_token_is_refused_with_the_reason_and_without_its_text(provider: LyingProvider, case: str) -> None:
    make, reason = BAD[case]
    token = make(provider)
    with pytest.raises(SignInFailed, match=reason) as failed:
        verifier(provider).verify(token)
    assert token not in failed.value.sentence
    assert not isinstance(failed.value, ProviderDown)


def test_a_token_without_an_end_worth_mentioning_is_good(provider: LyingProvider) -> None:
    assert verifier(provider).verify(signed(provider.claims(exp="9" * 400))).name == "anna"


def test_clocks_may_differ_by_a_little(provider: LyingProvider) -> None:
    one = verifier(provider, oidc_skew_s=60)
    assert one.verify(provider.token(exp=int(time.time()) - 30)).name == "anna"
    assert one.verify(provider.token(nbf=int(time.time()) + 30)).name == "anna"


def test_a_token_without_a_key_id_is_good_while_there_is_one_key(provider: LyingProvider) -> None:
    assert verifier(provider).verify(provider.token(kid=None)).name == "anna"
    provider.keys = [jwk(RSA_KEY, "one"), jwk(OTHER_KEY, "two")]
    with pytest.raises(SignInFailed, match="does not have"):
        verifier(provider).verify(provider.token(kid=None))


def test_a_good_token_is_remembered_until_it_ends(provider: LyingProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    checks, token = verifier(provider), provider.token()
    assert checks.known(token) is None
    found = checks.verify(token)
    assert checks.known(token) == found
    monkeypatch.setattr(time, "time", lambda: found.until + 1)
    assert checks.known(token) is None


def test_known_keys_go_on_while_the_provider_is_down_and_new_ones_fail_closed(
    provider: LyingProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = verifier(provider)
    checks.verify(provider.token())
    provider.status = 500
    monkeypatch.setattr(oidc, "REFRESH_SECONDS", -1.0)
    assert checks.verify(provider.token(sub="ben")).name == "ben"
    with pytest.raises(ProviderDown, match="does not give its keys"):
        checks.verify(provider.token(OTHER_KEY, kid="two"))


def test_a_provider_that_is_down_from_the_start_lets_nobody_in(provider: LyingProvider) -> None:
    provider.status = 503
    with pytest.raises(ProviderDown):
        verifier(provider).verify(provider.token())


def test_keys_rotate_and_what_the_old_ones_signed_ends_with_them(
    provider: LyingProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks, old = verifier(provider), provider.token()
    checks.verify(old)
    provider.keys = [jwk(RSA_KEY, "one"), jwk(OTHER_KEY, "two")]
    assert checks.verify(provider.token(OTHER_KEY, kid="two")).name == "anna"
    assert checks.verify(old).name == "anna"
    provider.keys = [jwk(OTHER_KEY, "two")]
    monkeypatch.setattr(oidc, "REFRESH_SECONDS", -1.0)
    checks.verify(provider.token(OTHER_KEY, kid="two", sub="ben"))
    assert checks.known(old) is None
    with pytest.raises(SignInFailed, match="does not have"):
        checks.verify(old)


def test_a_known_token_is_checked_again_when_the_keys_are_due(
    provider: LyingProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks, forged = verifier(provider), provider.token(exp=time.time() + 10**9)
    checks.verify(forged)
    provider.keys = [jwk(OTHER_KEY, "two")]
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + oidc.REFRESH_SECONDS)
    assert checks.known(forged) is None


def test_invented_key_ids_do_not_make_us_ask_again_and_again(
    provider: LyingProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oidc, "RETRY_SECONDS", 30.0)
    checks = verifier(provider)
    for number in range(20):
        with pytest.raises(SignInFailed):
            checks.verify(provider.token(OTHER_KEY, kid=f"invented-{number}"))
    assert len(provider.asked) == 2


@pytest.mark.parametrize(
    "keys",
    [
        "none",
        None,
        {},
        [1, None, {}],
        [{"kty": "oct", "kid": "one", "k": base64.urlsafe_b64encode(b"x" * 32).decode()}],
        [jwk(SMALL_KEY, "one")],
        [jwk(RSA_KEY, "one", use="enc")],
        [jwk(RSA_KEY, "one", alg="RS512")],
        [{**jwk(RSA_KEY, "one"), "n": "!"}],
        [{"kty": "EC", "kid": "one", "crv": "P-256", "x": "AA", "y": "AA"}],
        [{**jwk(RSA_KEY, "one"), "kty": ["RSA"]}],
        [{"kty": "OKP", "kid": "one", "crv": "P-256", "x": "AA"}],
        [{"kty": "OKP", "kid": "one", "crv": {}, "x": "AA"}],
        [{**private_jwk(RSA_KEY), "kid": "one"}],  # with it everybody could sign
    ],
)
def test_a_provider_that_gives_no_usable_keys_lets_nobody_in(provider: LyingProvider, keys: Any) -> None:
    provider.keys = keys
    with pytest.raises(SignInFailed):
        verifier(provider).verify(provider.token())


@pytest.mark.parametrize(
    "document",
    [
        {"issuer": "https://evil.example", "jwks_uri": "https://evil.example/jwks"},
        {"jwks_uri": "http://127.0.0.1/jwks"},
        {"issuer": 7, "jwks_uri": "x"},
        [],
    ],
)
def test_a_description_that_is_of_another_issuer_does_not_count(provider: LyingProvider, document: Any) -> None:
    provider.document = document
    with pytest.raises(ProviderDown):
        verifier(provider).verify(provider.token())


def test_keys_are_fetched_from_the_host_of_the_issuer_only(provider: LyingProvider) -> None:
    provider.document = {**provider.document, "jwks_uri": provider.url.replace("127.0.0.1", "localhost") + "/jwks"}
    with pytest.raises(ProviderDown):
        verifier(provider).verify(provider.token())
    assert verifier(provider, allow_fetch=("localhost",)).verify(provider.token()).name == "anna"


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"oidc_issuer": "https://id.example.com"}, "oidc_audience"),
        ({"oidc_issuer": "http://id.example.com", "oidc_audience": "x"}, "has to be https"),
        ({"oidc_issuer": "id.example.com", "oidc_audience": "x"}, "no URL"),
    ],
)
def test_settings_that_would_let_anybody_in_are_refused(settings: dict[str, str], reason: str) -> None:
    with pytest.raises(BadSetting, match=reason):
        TokenVerifier(Settings(**settings))  # type: ignore[arg-type]
