"""Signing in with a browser: what the provider's answer has to fit, the cookie, the token for writes, and the end."""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from postroom.access import code_flow, sessions
from postroom.access.audit import read_audit
from postroom.access.grants import add_grants, parse_grant
from postroom.access.sessions import SESSION
from postroom.errors import BadSetting
from postroom.http.access.browser import local_path
from postroom.http.server.app import create_app
from postroom.settings import Settings
from postroom.store.interface import Store
from tests.http.requests import AsgiClient, Reply
from tests.lying_provider import AUDIENCE, OTHER_KEY, LyingProvider, provider

__all__ = ["provider"]

FLEET = "/messagegroups/fleet"
CLIENT = "postroom-web"
PAGE = {"Accept": "text/html,*/*"}


class Person:
    """Somebody with a browser: keeps cookies, follows to the provider and back."""

    def __init__(self, service: AsgiClient, provider: LyingProvider, **more: Any) -> None:
        self.service, self.provider, self.more = service, provider, more
        self.cookies: dict[str, str] = {}
        self.asked: dict[str, str] = {}

    def ask(self, method: str, target: str, body: Any = b"", headers: dict[str, str] | None = None) -> Reply:
        kept = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        given = {**({"Cookie": kept} if kept else {}), **(headers or {})}
        reply = self.service.ask(method, target, body, given, **self.more)
        for header in set_cookies(reply):
            name, _, value = header.partition(";")[0].partition("=")
            self.cookies.pop(name, None)
            if "Max-Age=0" not in header:
                self.cookies[name] = value
        return reply

    def begin(self, target: str = "/-/login") -> Reply:
        """Go to the provider, and see what it is asked."""
        reply = self.ask("GET", target)
        self.asked = dict(parse_qsl(urlsplit(reply.headers.get("location", "")).query))
        return reply

    def come_back(self, headers: dict[str, str] | None = None, **query: str) -> Reply:
        """Come back from the provider with a code."""
        sent = {"code": "c0de", "state": self.asked.get("state", ""), **query}
        target = "/-/callback?" + "&".join(f"{name}={value}" for name, value in sent.items())
        return self.ask("GET", target, headers=headers)

    def sign_in(self, target: str = "/-/login", **claims: Any) -> Reply:
        """Go there and come back."""
        self.begin(target)
        self.provider.tokens = lambda form: (200, {"id_token": self.id_token(**claims)})
        return self.come_back()

    def id_token(self, **claims: Any) -> str:
        signing = {name: claims.pop(name) for name in ("key", "algorithm", "kid") if name in claims}
        return self.provider.token(**signing, **{"aud": CLIENT, "nonce": self.asked["nonce"], **claims})

    @property
    def session(self) -> Any:
        return self.ask("GET", "/-/session").json

    @property
    def csrf(self) -> dict[str, str]:
        return {"X-CSRF-Token": self.session["csrf"]}


def set_cookies(reply: Reply) -> list[str]:
    return [value.decode() for name, value in reply.raw if name == b"set-cookie"]


@pytest.fixture
def service(provider: LyingProvider, store: Store, guarded: Callable[..., AsgiClient]) -> Callable[..., AsgiClient]:
    with store.write() as tx:
        add_grants(
            tx, [parse_grant("user:anna", "write", FLEET), parse_grant("claim:drivers", "read", "/schemagroups")]
        )

    def start(**settings: Any) -> AsgiClient:
        oidc = {"oidc_issuer": provider.url, "oidc_audience": AUDIENCE, "oidc_client_id": CLIENT}
        return guarded(**{**oidc, **settings})

    return start


@pytest.fixture
def anna(service: Callable[..., AsgiClient], provider: LyingProvider) -> Person:
    return Person(service(), provider)


def test_the_provider_is_asked_with_a_state_a_nonce_and_a_challenge(anna: Person, provider: LyingProvider) -> None:
    reply = anna.begin()
    assert (reply.status, reply.headers["cache-control"]) == (303, "no-store")
    assert reply.headers["location"].startswith(f"{provider.url}/authorize?")
    first = anna.asked
    assert (first["response_type"], first["client_id"], first["scope"]) == ("code", CLIENT, "openid profile email")
    assert (first["redirect_uri"], first["code_challenge_method"]) == ("http://ovens.localhost/-/callback", "S256")
    anna.begin()
    assert not {first[name] for name in ("state", "nonce", "code_challenge")} & set(anna.asked.values())


def test_the_code_is_sent_with_the_verifier_of_the_challenge(anna: Person, provider: LyingProvider) -> None:
    anna.sign_in()
    (form,) = provider.forms
    digest = hashlib.sha256(form["code_verifier"].encode()).digest()
    assert base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == anna.asked["code_challenge"]
    assert (form["code"], form["redirect_uri"], form["client_id"]) == ("c0de", anna.asked["redirect_uri"], CLIENT)


def test_whoever_signed_in_reads_and_writes_what_they_may(anna: Person) -> None:
    reply = anna.sign_in(groups=["drivers"])
    assert (reply.status, reply.headers["location"]) == (303, "http://ovens.localhost/")
    assert (anna.session["principal"], anna.session["read"]) == (
        "user:anna",
        ["/messagegroups/fleet", "/schemagroups/*"],
    )
    assert anna.ask("PUT", FLEET, {}, anna.csrf).status == 201
    assert anna.ask("GET", FLEET).status == 200
    assert anna.ask("PUT", "/messagegroups/ovens", {}, anna.csrf).status == 403


@pytest.mark.parametrize(
    ("scheme", "names", "secure"),
    [("http", {"postroom_session"}, False), ("https", {"__Host-postroom_session"}, True)],
)
def test_the_cookie_is_for_this_host_and_no_script(
    service: Callable[..., AsgiClient], provider: LyingProvider, scheme: str, names: set[str], secure: bool
) -> None:
    anna = Person(service(session_hours=2), provider, scheme=scheme)
    cookie, gone = set_cookies(anna.sign_in())
    assert set(anna.cookies) == names
    assert cookie.endswith(
        "; Path=/; Max-Age=7200; HttpOnly; SameSite=Lax; Secure"
        if secure
        else "; Path=/; Max-Age=7200; HttpOnly; SameSite=Lax"
    )
    assert "postroom_login=; " in gone
    assert anna.session["principal"] == "user:anna"


def test_behind_a_proxy_with_tls_and_a_prefix_the_cookie_is_for_that_prefix(
    service: Callable[..., AsgiClient], provider: LyingProvider
) -> None:
    anna = Person(service(trusted_proxies=("203.0.113.9",)), provider)
    proxy = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "ovens.localhost", "X-Forwarded-Prefix": "/registry"}
    began = anna.ask("GET", "/-/login", headers=proxy)
    assert set_cookies(began)[0].endswith("; Path=/registry; Max-Age=600; HttpOnly; SameSite=Lax; Secure")
    assert "redirect_uri=https%3A%2F%2Fovens.localhost%2Fregistry%2F-%2Fcallback" in began.headers["location"]


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("/messagegroups?inline=*", "/messagegroups?inline=*"),
        ("/-/session", "/-/session"),
        ("https://evil.example/", "/"),
        ("//evil.example/", "/"),
        ("/\\evil.example/", "/"),
        ("/\t/evil.example/", "/"),
        ("\\\\evil.example/", "/"),
        (".evil.example/", "/"),
        ("@evil.example/", "/"),
        ("javascript:alert(1)", "/"),
        ("/a\r\nSet-Cookie: x=1", "/"),
        ("/ü", "/"),
        ("/-/login?next=/-/login", "/"),
        ("/" + "x" * 1000, "/"),
        ("", "/"),
    ],
)
def test_a_sign_in_leads_to_a_path_of_this_service_only(target: str, found: str) -> None:
    assert local_path(target) == found


def test_next_is_where_a_sign_in_leads(anna: Person) -> None:
    assert anna.sign_in("/-/login?next=/messagegroups").headers["location"] == "http://ovens.localhost/messagegroups"
    assert anna.sign_in("/-/login?next=https://evil.example").headers["location"] == "http://ovens.localhost/"


BAD_TOKENS: dict[str, tuple[dict[str, Any], str]] = {
    "the nonce of another sign-in": ({"nonce": "another"}, "of another login"),
    "no nonce": ({"nonce": None}, "of another login"),
    "for another client": ({"aud": AUDIENCE}, "another audience"),
    "given to another client": ({"aud": [CLIENT, "other"], "azp": "other"}, "of another login"),
    "expired": ({"exp": 1}, "has expired"),
    "of another issuer": ({"iss": "https://evil.example"}, "another issuer"),
    "signed by another": ({"key": OTHER_KEY}, "signature of the token is wrong"),
    "unsigned": ({"key": "", "algorithm": "none"}, "in a way that does not count"),
    "of nobody": ({"sub": None}, "who it is for"),
    "of somebody with a name that cannot be": ({"sub": "a\nb"}, "not printable"),
}


@pytest.mark.parametrize("case", BAD_TOKENS)
def test_an_id_token_that_does_not_fit_the_sign_in_lets_nobody_in(anna: Person, case: str) -> None:
    claims, reason = BAD_TOKENS[case]
    reply = anna.sign_in(**claims)
    assert (reply.status, anna.cookies) == (401, {})
    assert reason in reply.json["title"]
    assert "Basic" not in reply.headers["www-authenticate"]


def test_an_answer_without_the_state_of_this_browser_does_not_count(anna: Person, provider: LyingProvider) -> None:
    for query in ({"state": "invented"}, {"state": ""}):
        anna.begin()
        reply = anna.come_back(**query)
        assert reply.status == 401
        assert "of no sign-in that began in this browser" in reply.json["title"]
    assert anna.come_back().status == 401
    for cookie in ("", "a.b.c.d", "....", f"{'x' * 43}." * 3 + "x", "é"):
        anna.cookies = {"postroom_login": cookie}
        assert anna.come_back(state=cookie.partition(".")[0]).status in (400, 401)
    assert provider.forms == []


def test_an_answer_counts_once(anna: Person) -> None:
    anna.sign_in()
    assert anna.come_back().status == 401


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ({"error": "access_denied"}, "the provider refuses it (access_denied)"),
        ({"error": "<script>"}, "the provider refuses it (without a reason)"),
    ],
)
def test_what_the_provider_refuses_is_one_sentence_on_a_page(anna: Person, query: dict[str, str], reason: str) -> None:
    anna.begin()
    state = anna.asked["state"]
    target = f"/-/callback?state={state}&" + "&".join(f"{name}={value}" for name, value in query.items())
    reply = anna.ask("GET", target, headers=PAGE)
    assert (reply.status, reply.headers["content-type"]) == (401, "text/html; charset=utf-8")
    assert reply.headers["content-security-policy"] == "default-src 'none'"
    assert f"<p>The sign-in failed: {reason}. <a " in reply.body.decode()
    assert state not in reply.body.decode()


@pytest.mark.parametrize(
    ("answer", "status", "reason"),
    [
        ((400, {"error": "invalid_grant"}), 401, "does not take its code back"),
        ((401, {"error": "invalid_client"}), 503, "gives this service no tokens"),
        ((500, {}), 503, "gives this service no tokens"),
        ((200, {}), 503, "gives this service no tokens"),
        ((200, {"id_token": 7}), 503, "gives this service no tokens"),
        ((200, []), 503, "gives this service no tokens"),
    ],
)
def test_a_provider_that_gives_no_token_lets_nobody_in(
    anna: Person, provider: LyingProvider, answer: tuple[int, Any], status: int, reason: str
) -> None:
    anna.begin()
    provider.tokens = lambda _: answer
    reply = anna.come_back()
    assert (reply.status, anna.cookies) == (status, {})
    assert reason in reply.json["title"]


def test_an_answer_that_names_another_issuer_does_not_count(anna: Person, provider: LyingProvider) -> None:
    anna.begin()
    assert "of another provider" in anna.come_back(iss="https://evil.example").json["title"]
    assert provider.forms == []


def test_a_provider_that_is_down_is_said_and_not_asked_at_once_again(
    anna: Person, provider: LyingProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider.status = 500
    for _ in range(3):
        reply = anna.begin()
        assert (reply.status, reply.headers["retry-after"]) == (503, "10")
        assert "the provider cannot be reached" in reply.json["title"]
    assert len(provider.asked) == 1
    provider.status = 200
    later = time.monotonic() + 60
    monkeypatch.setattr(code_flow.time, "monotonic", lambda: later)
    assert anna.begin().status == 303


def test_the_client_secret_goes_to_the_provider_only(
    service: Callable[..., AsgiClient], provider: LyingProvider, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    anna = Person(service(oidc_client_secret="s3cr:et ü"), provider)
    replies = [anna.begin(), anna.come_back()]
    assert (
        provider.headers[-1]["authorization"] == "Basic " + base64.b64encode(b"postroom-web:s3cr%3Aet+%C3%BC").decode()
    )
    told = caplog.text + "".join(str(reply.raw) + reply.body.decode() for reply in replies)
    assert "s3cr" not in told
    assert "c0de" not in caplog.text


@pytest.mark.parametrize("method", ["PUT", "PATCH", "POST", "DELETE"])
def test_a_write_with_a_cookie_needs_the_token_of_its_session(anna: Person, method: str) -> None:
    anna.sign_in()
    other = Person(anna.service, anna.provider)
    other.sign_in()
    for headers in ({}, {"X-CSRF-Token": ""}, {"X-CSRF-Token": "é"}, other.csrf):
        reply = anna.ask(method, FLEET, {}, headers)
        assert reply.status == 403
        assert "X-CSRF-Token" in reply.json["title"]
    assert anna.ask(method, FLEET, {}, anna.csrf).status not in (401, 403)


def test_a_page_of_another_origin_cannot_write_even_with_the_token(anna: Person) -> None:
    anna.sign_in()
    reply = anna.ask("PUT", FLEET, {}, {**anna.csrf, "Origin": "http://evil.example"})
    assert reply.status == 403
    assert "access-control-allow-origin" not in reply.headers
    assert "access-control-allow-credentials" not in reply.headers
    assert anna.ask("PUT", FLEET, {}, {**anna.csrf, "Origin": "http://ovens.localhost"}).status == 201


def test_signing_out_ends_the_session_for_every_copy_of_the_cookie(anna: Person) -> None:
    anna.sign_in()
    kept = dict(anna.cookies)
    assert anna.ask("POST", "/-/logout").status == 403
    assert anna.ask("POST", "/-/logout", headers=anna.csrf).status == 204
    assert anna.cookies == {}
    anna.cookies = kept
    reply = anna.ask("GET", FLEET)
    assert (reply.status, anna.cookies) == (401, {})
    assert "the session is over; sign in at /-/login" in reply.json["title"]


def test_another_process_learns_of_the_end(anna: Person, store: Store, service: Callable[..., AsgiClient]) -> None:
    anna.sign_in()
    elsewhere = Person(service(), anna.provider)
    elsewhere.cookies = dict(anna.cookies)
    assert elsewhere.session["principal"] == "user:anna"
    anna.ask("POST", "/-/logout", headers=anna.csrf)
    assert elsewhere.ask("GET", "/-/session").status == 401


def test_every_sign_in_has_a_new_secret_and_ends_the_session_before(anna: Person) -> None:
    anna.sign_in()
    before = dict(anna.cookies)
    anna.sign_in()
    assert anna.cookies != before
    assert anna.session["principal"] == "user:anna"
    anna.cookies = before
    assert anna.ask("GET", "/-/session").status == 401


def test_a_cookie_that_was_planted_before_the_sign_in_is_not_the_session(anna: Person) -> None:
    anna.cookies = {"postroom_session": "planted"}
    anna.sign_in()
    assert anna.cookies["postroom_session"] != "planted"
    anna.cookies = {"postroom_session": "planted"}
    assert anna.ask("GET", "/-/session").status == 401


def test_a_session_ends_after_its_hours_and_is_then_removed(
    anna: Person, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna.sign_in()
    later = time.time() + 8 * 3600 + 1
    monkeypatch.setattr(sessions.time, "time", lambda: later)
    assert anna.ask("GET", "/-/session").status == 401
    sessions.forget_sessions(store)
    with store.read() as tx:
        assert list(tx.records(SESSION)) == []


def test_the_store_keeps_no_secret_of_a_session(anna: Person, store: Store) -> None:
    anna.sign_in()
    secret = anna.cookies["postroom_session"]
    with store.read() as tx:
        assert all(secret not in name + body.decode() for name, body in tx.records(SESSION))


def test_administrators_end_sessions_and_everybody_their_own(
    anna: Person, make_key: Callable[..., str], store: Store
) -> None:
    root = {"Authorization": f"Bearer {make_key('root', 'admin:/')}"}
    ben = Person(anna.service, anna.provider)
    anna.sign_in()
    ben.sign_in(sub="ben", groups=["drivers"])
    listed = anna.service.ask("GET", "/-/sessions", headers=root).json["sessions"]
    assert {one["principal"] for one in listed} == {"user:anna", "user:ben"}
    assert set(listed[0]) == {"principal", "since", "until"}
    assert [one["principal"] for one in anna.ask("GET", "/-/sessions").json["sessions"]] == ["user:anna"]
    assert anna.ask("DELETE", "/-/sessions?principal=user:ben", headers=anna.csrf).status == 403
    assert anna.service.ask("DELETE", "/-/sessions", headers=root).status == 400
    assert anna.service.ask("DELETE", "/-/sessions?principal=user:ben", headers=root).json == {"ended": 1}
    assert ben.ask("GET", "/-/session").status == 401
    assert anna.ask("DELETE", "/-/sessions?principal=user:anna", headers=anna.csrf).json == {"ended": 1}
    assert anna.ask("GET", "/-/session").status == 401
    with store.read() as tx:
        assert [one.detail for one in read_audit(tx, event="changed")][:2] == [
            "ended the sessions of user:anna",
            "ended the sessions of user:ben",
        ]


def test_a_grant_that_is_taken_is_gone_from_sessions_too(anna: Person, store: Store) -> None:
    from postroom.access.grants import remove_grants

    anna.sign_in()
    assert anna.ask("PUT", FLEET, {}, anna.csrf).status == 201
    csrf = anna.csrf
    with store.write() as tx:
        remove_grants(tx, [parse_grant("user:anna", role, FLEET) for role in ("write", "own")])
    assert anna.ask("PUT", FLEET, {}, csrf).status == 403
    assert anna.ask("GET", FLEET).status == 404


def test_failed_sign_ins_are_limited(service: Callable[..., AsgiClient], provider: LyingProvider) -> None:
    anna = Person(service(sign_in_failures=2), provider)
    assert [anna.come_back().status for _ in range(3)] == [401, 401, 429]
    assert anna.begin().status == 429
    assert anna.service.ask("GET", "/-/login", peer="203.0.113.10").status == 303


def test_an_old_cookie_is_no_attempt_to_come_in(service: Callable[..., AsgiClient], provider: LyingProvider) -> None:
    anna = Person(service(sign_in_failures=2), provider)
    for _ in range(5):
        anna.cookies = {"postroom_session": "old"}
        assert anna.ask("GET", "/").status == 401
    assert anna.sign_in().status == 303


def test_a_browser_is_told_where_to_sign_in_and_asks_for_no_password(anna: Person) -> None:
    reply = anna.ask("GET", "/", headers=PAGE)
    assert reply.status == 401
    assert "sign in at /-/login" in reply.json["title"]
    assert "Basic" not in reply.headers["www-authenticate"]
    assert "Basic" in anna.ask("GET", "/").headers["www-authenticate"]


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [("POST", "/-/login", "GET"), ("PUT", "/-/callback", "GET"), ("GET", "/-/logout", "POST")],
)
def test_the_methods_of_each_path(anna: Person, method: str, path: str, allowed: str) -> None:
    anna.sign_in()
    reply = anna.ask(method, path, headers=anna.csrf)
    assert (reply.status, reply.headers["allow"]) == (405, allowed)


def test_without_a_client_id_there_is_nowhere_to_sign_in(
    service: Callable[..., AsgiClient], provider: LyingProvider
) -> None:
    anna = Person(service(oidc_client_id=""), provider)
    assert anna.begin().status == 401
    anna.cookies = {"postroom_session": "x"}
    assert "credentials are needed" in anna.ask("GET", "/").json["title"]


def test_a_client_id_without_a_provider_is_a_mistake(store: Store) -> None:
    with pytest.raises(BadSetting, match="oidc_issuer"):
        create_app(store, Settings(access="on", oidc_client_id=CLIENT))
