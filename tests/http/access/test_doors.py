"""Who is let in: keys, a trusted proxy's word, nobody; and what is answered to bad credentials."""

from __future__ import annotations

import base64
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from postroom.access.audit import read_audit
from postroom.access.authentication import Authenticator
from postroom.access.grants import add_grants, parse_grant, remove_grants
from postroom.access.keys import revoke_key, rotate_key
from postroom.errors import AccessRefused, BadSetting
from postroom.http.access.doors import Doors
from postroom.http.server.app import create_app
from postroom.http.server.base_url import BaseUrlReader
from postroom.settings import Settings
from postroom.store.interface import Store
from tests.http.access.conftest import MakeKey
from tests.http.requests import AsgiClient
from tests.lying_provider import AUDIENCE, LyingProvider, provider

__all__ = ["provider"]

Start = Callable[..., AsgiClient]


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def basic(user: str, password: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


def grant(store: Store, subject: str, role: str, prefix: str) -> None:
    with store.write() as tx:
        add_grants(tx, [parse_grant(subject, role, prefix)])


def test_a_key_opens_as_bearer_and_as_basic(guarded: Start, make_key: MakeKey) -> None:
    key, service = make_key("ci", "read:/"), guarded()
    assert service.ask("GET", "/", headers=bearer(key)).status == 200
    assert service.ask("GET", "/", headers={"authorization": f"bearer  {key}"}).status == 200
    assert service.ask("GET", "/", headers=basic("ci", key)).status == 200
    assert service.ask("GET", "/", headers=basic("ci", key.removeprefix("postroom_ci_"))).status == 200


def wrong_credentials(key: str) -> dict[str, dict[str, str]]:
    other = key[:-1] + ("0" if key[-1] != "0" else "1")
    return {
        "another secret": bearer(other),
        "another id": bearer(key.replace("_ci_", "_cd_")),
        "no key at all": bearer("secret"),
        "nothing": bearer(""),
        "the user of another key": basic("cd", key),
        "the secret for another user": basic("cd", key.removeprefix("postroom_ci_")),
        "no user": basic("", key),
        "no base64": {"Authorization": "Basic %%%"},
        "no UTF-8": {"Authorization": "Basic /////w=="},
        "another scheme": {"Authorization": f"Digest {key}"},
        "a key without a scheme": {"Authorization": key},
        "too long": bearer(key + "0" * 20_000),
    }


@pytest.mark.parametrize("case", wrong_credentials("postroom_ci_" + "a" * 64))
@pytest.mark.parametrize("method", ["GET", "PUT", "OPTIONS"])
def test_wrong_credentials_are_never_taken_for_none(
    guarded: Start, make_key: MakeKey, store: Store, case: str, method: str
) -> None:
    key = make_key("ci", "read:/")
    grant(store, "anonymous", "read", "/")
    reply = guarded().ask(method, "/messagegroups/fleet", headers=wrong_credentials(key)[case])
    assert reply.status == 401
    assert reply.headers["www-authenticate"].startswith("Bearer ")
    assert "Basic " in reply.headers["www-authenticate"]
    assert key.rpartition("_")[2] not in reply.body.decode()


def test_two_sets_of_credentials_are_none(guarded: Start, make_key: MakeKey) -> None:
    line = (b"authorization", f"Bearer {make_key('ci', 'read:/')}".encode())
    assert guarded().ask("GET", "/", headers=[line, line]).status == 401


def test_without_credentials_and_without_grants_for_everybody_nothing_is_answered(guarded: Start) -> None:
    service = guarded()
    bodies = set()
    for path in ("/", "/messagegroups", "/messagegroups/none", "/nothing", "/-/grants", "/changes", "/match", "/v0.5"):
        reply = service.ask("GET", path)
        assert reply.status == 401
        assert reply.headers["www-authenticate"] == ('Bearer realm="postroom", Basic realm="postroom", charset="UTF-8"')
        bodies.add(reply.json["title"])
    assert len(bodies) == 1


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/-/healthz", "/-/readyz"])
def test_probes_need_no_credentials_and_wrong_ones_do_not_matter(guarded: Start, path: str) -> None:
    assert guarded().ask("GET", path).status == 200
    assert guarded().ask("GET", path, headers=bearer("wrong")).status == 200


def test_anonymous_reads_what_everybody_may_read(guarded: Start, store: Store) -> None:
    grant(store, "anonymous", "read", "/")
    assert guarded().ask("GET", "/messagegroups").status == 200


@pytest.mark.parametrize("end", ["expired", "revoked", "rotated"])
def test_a_key_whose_time_is_over_opens_nothing_from_the_next_request_on(
    guarded: Start, make_key: MakeKey, store: Store, end: str
) -> None:
    expires = datetime.now(UTC) - timedelta(seconds=1) if end == "expired" else None
    key, service = make_key("ci", "read:/", expires=expires), guarded()
    if end != "expired":
        assert service.ask("GET", "/", headers=bearer(key)).status == 200
        with store.write() as tx:
            revoke_key(tx, "ci") if end == "revoked" else rotate_key(tx, "ci")
    assert service.ask("GET", "/", headers=bearer(key)).status == 401


def test_a_kept_answer_is_given_only_to_those_who_may_have_it(guarded: Start, make_key: MakeKey, store: Store) -> None:
    key, service = make_key("ci", "read:/"), guarded()
    service.ask("PUT", "/messagegroups/fleet", {}, bearer(make_key("writer", "write:/")))
    first = service.ask("GET", "/messagegroups/fleet", headers=bearer(key))
    again = service.ask("GET", "/messagegroups/fleet", headers=bearer(key))
    assert (first.status, again.status, again.body) == (200, 200, first.body)
    assert service.ask("GET", "/messagegroups/fleet").status == 401
    assert service.ask("GET", "/messagegroups/fleet", headers={"If-None-Match": first.headers["etag"]}).status == 401
    other = bearer(make_key("other", "read:/messagegroups/fleet2"))
    assert service.ask("GET", "/messagegroups/fleet", headers=other).status == 404
    conditional = {**other, "If-None-Match": first.headers["etag"]}
    assert service.ask("GET", "/messagegroups/fleet", headers=conditional).status == 404
    with store.write() as tx:
        remove_grants(tx, [parse_grant("key:ci", "read", "/")])
    assert service.ask("GET", "/messagegroups/fleet", headers=bearer(key)).status == 404


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 200),
        ("GET", "/messagegroups/none", 404),
        ("PUT", "/messagegroups/fleet", 201),
        ("GET", "/changes", 200),
    ],
)
def test_every_answer_says_that_it_is_for_one_principal(
    guarded: Start, make_key: MakeKey, method: str, path: str, status: int
) -> None:
    key, service = make_key("ci", "write:/"), guarded()
    replies = [service.ask(method, path, {} if method == "PUT" else b"", bearer(key)) for _ in range(3)]
    assert replies[0].status == status
    for reply in [*replies, service.ask(method, path)]:
        assert (b"vary", b"Authorization, Cookie") in reply.raw
        controls = [value for name, value in reply.raw if name == b"cache-control"]
        assert len(controls) == 1
        assert controls[0] in (b"private", b"no-cache", b"no-store")


def test_a_body_is_not_read_for_somebody_who_is_not_let_in(store: Store) -> None:
    import asyncio

    app, sent = create_app(store, Settings(access="on")), []

    async def receive() -> dict[str, object]:
        raise AssertionError("the body is read")

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "PUT",
        "path": "/messagegroups/fleet",
        "raw_path": b"/messagegroups/fleet",
        "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"content-length", b"10000000")],
        "client": ("127.0.0.1", 1),
        "scheme": "http",
    }
    asyncio.run(app(scope, receive, send))
    assert sent[0]["status"] == 401


def test_a_trusted_proxy_says_who_asks_and_nobody_else_does(guarded: Start, store: Store) -> None:
    grant(store, "user:anna", "write", "/messagegroups/fleet")
    service = guarded(actor_header="X-User", trusted_proxies=("10.0.0.7",))
    as_anna = {"X-User": "anna"}
    assert service.ask("PUT", "/messagegroups/fleet", {}, as_anna, peer="10.0.0.7").status == 201
    assert service.ask("GET", "/messagegroups/fleet", headers=as_anna, peer="10.0.0.8").status == 401
    assert service.ask("GET", "/messagegroups/fleet", headers={"X-User": "ben"}, peer="10.0.0.7").status == 404
    with store.read() as tx:
        assert (tx.last_change() or pytest.fail("nothing was logged")).actor == "user:anna"


def test_a_name_beside_the_one_that_the_proxy_adds_is_refused(guarded: Start, store: Store) -> None:
    grant(store, "user:anna", "read", "/")
    grant(store, "anonymous", "read", "/")
    service = guarded(actor_header="X-User", trusted_proxies=("10.0.0.7",))
    lines = [(b"x-user", b"anna"), (b"x-user", b"mallory")]
    for given in (lines, lines[::-1]):
        assert service.ask("GET", "/-/session", headers=given, peer="10.0.0.7").status == 401


@pytest.mark.parametrize("name", ["a" * 201, "an\x01na"])
def test_a_name_that_could_be_cut_or_hidden_is_refused(guarded: Start, store: Store, name: str) -> None:
    grant(store, "authenticated", "read", "/")
    service = guarded(actor_header="X-User", trusted_proxies=("10.0.0.7",))
    assert service.ask("GET", "/", headers={"X-User": name}, peer="10.0.0.7").status == 401


def test_everybody_may_be_no_trusted_proxy_when_proxies_say_who_asks(store: Store) -> None:
    with pytest.raises(BadSetting, match="everybody could say who they are"):
        create_app(store, Settings(access="on", actor_header="X-User", trusted_proxies=("*",)))


def test_changes_are_logged_with_the_principal(guarded: Start, make_key: MakeKey, store: Store) -> None:
    guarded().ask("PUT", "/messagegroups/fleet", {}, bearer(make_key("ci", "write:/")))
    with store.read() as tx:
        assert (tx.last_change() or pytest.fail("nothing was logged")).actor == "key:ci"


def test_who_fails_to_sign_in_too_often_has_to_wait_and_others_need_not(guarded: Start, make_key: MakeKey) -> None:
    key, service = make_key("ci", "read:/"), guarded(sign_in_failures=3)
    wrong = bearer(key[:-6] + "000000")
    assert [service.ask("GET", "/", headers=wrong).status for _ in range(5)] == [401, 401, 401, 429, 429]
    blocked = service.ask("GET", "/", headers=bearer(key))
    assert blocked.status == 429
    assert 0 < int(blocked.headers["retry-after"]) <= 61
    assert service.ask("GET", "/", headers=bearer(key), peer="198.51.100.3").status == 200


def test_a_token_that_is_not_good_keeps_nobody_else_at_its_address_out(
    guarded: Start,
    provider: LyingProvider,
    store: Store,
) -> None:
    grant(store, "authenticated", "read", "/")
    service = guarded(oidc_issuer=provider.url, oidc_audience=AUDIENCE, sign_in_failures=3)

    def ask(token: str) -> int:
        return service.ask("GET", "/", headers=bearer(token)).status

    known, expired = provider.token(sub="anna"), provider.token(sub="cara", exp=1)
    assert ask(known) == 200
    assert [ask(expired) for _ in range(5)] == [401, 401, 401, 429, 429]
    assert [ask(known), ask(provider.token(sub="ben"))] == [200, 200]
    assert [ask(provider.token(sub=f"nobody {number}", exp=1)) for number in range(28)] == [401] * 27 + [429]


def test_behind_a_trusted_proxy_the_client_is_the_one_who_fails(guarded: Start, make_key: MakeKey) -> None:
    key = make_key("ci", "read:/")
    service = guarded(sign_in_failures=1, trusted_proxies=("10.0.0.0/8",))
    wrong = {**bearer(key[:-6] + "000000"), "X-Forwarded-For": "203.0.113.5, 192.0.2.9, 10.0.0.2"}
    assert [service.ask("GET", "/", headers=wrong, peer="10.0.0.7").status for _ in range(2)] == [401, 429]
    other = {**bearer(key), "X-Forwarded-For": "192.0.2.9, 203.0.113.5"}
    assert service.ask("GET", "/", headers=other, peer="10.0.0.7").status == 200


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(["9.9.9.1", "203.0.113.5"], ["9.9.9.2", "203.0.113.5"], id="the proxy adds a line of its own"),
        pytest.param(["9.9.9.1, 203.0.113.5"], ["9.9.9.2, 203.0.113.5"], id="the proxy adds to the line"),
        pytest.param(["203.0.113.5:4711"], ["203.0.113.5:4712"], id="with ports"),
        pytest.param(["[2001:db8::1]:4711"], ["2001:db8::1"], id="with ports, IPv6"),
        pytest.param(["2001:db8::1"], ["2001:db8::ffff:2"], id="the same network of IPv6"),
        pytest.param(["::ffff:203.0.113.5"], ["203.0.113.5"], id="IPv4 in IPv6"),
    ],
)
def test_nobody_is_somebody_else_because_of_what_they_say_about_their_address(
    guarded: Start, make_key: MakeKey, first: list[str], second: list[str]
) -> None:
    key = make_key("ci", "read:/")
    service = guarded(sign_in_failures=1, trusted_proxies=("10.0.0.0/8",))
    wrong = (b"authorization", f"Bearer {key[:-6]}000000".encode())
    replies = [
        service.ask("GET", "/", headers=[wrong, *((b"x-forwarded-for", hop.encode()) for hop in hops)], peer="10.0.0.7")
        for hops in (first, second)
    ]
    assert [reply.status for reply in replies] == [401, 429]


def test_who_has_a_network_of_addresses_has_one(guarded: Start, make_key: MakeKey) -> None:
    key, service = make_key("ci", "read:/"), guarded(sign_in_failures=1)
    wrong = bearer(key[:-6] + "000000")
    peers = ("2001:db8::1", "2001:db8::2", "2001:db8:0:1::1")
    assert [service.ask("GET", "/", headers=wrong, peer=peer).status for peer in peers] == [401, 429, 401]


def test_a_principal_may_send_so_many_requests_a_minute(guarded: Start, make_key: MakeKey) -> None:
    one, other, service = make_key("one", "read:/"), make_key("other", "read:/"), guarded(requests_per_minute=2)
    assert [service.ask("GET", "/", headers=bearer(one)).status for _ in range(3)] == [200, 200, 429]
    assert service.ask("GET", "/", headers=bearer(other)).status == 200


def test_a_known_key_that_comes_from_another_address_has_signed_in_there(store: Store, make_key: MakeKey) -> None:
    settings = Settings(access="on")
    doors = Doors(Authenticator(store, settings), settings, BaseUrlReader())
    headers = {b"authorization": f"Bearer {make_key('ci', 'read:/')}".encode()}
    for peer in ("203.0.113.9", "203.0.113.9", "198.51.100.3"):
        scope = {"method": "GET", "raw_path": b"/", "headers": [*headers.items()], "client": (peer, 4711)}
        assert doors.known(scope, headers, store.version()) or doors.admit(scope, headers, waits=True)
    doors.journal.flush(store)
    with store.read() as tx:
        found = read_audit(tx, event="signin")
    assert sorted((one.principal, one.address) for one in found) == [
        ("key:ci", "198.51.100.3"),
        ("key:ci", "203.0.113.9"),
    ]


def test_grants_in_a_file_are_the_only_ones(guarded: Start, make_key: MakeKey, tmp_path: Path) -> None:
    key, file = make_key("ci", "read:/"), tmp_path / "access.yaml"
    file.write_text("grants: []")
    service = guarded(access_file=str(file))
    assert service.ask("GET", "/messagegroups/none", headers=bearer(key)).status == 404
    assert service.ask("PUT", "/messagegroups/fleet", {}, bearer(key)).status != 201
    file.write_text("grants: [{subject: 'key:ci', role: write, prefix: /}]")
    import time

    time.sleep(1.1)
    assert service.ask("PUT", "/messagegroups/fleet", {}, bearer(key)).status == 201


def test_a_broken_file_of_grants_refuses_the_start(store: Store, tmp_path: Path) -> None:
    (tmp_path / "access.yaml").write_text("grants: [")
    with pytest.raises(AccessRefused, match="not YAML"):
        create_app(store, Settings(access="on", access_file=str(tmp_path / "access.yaml")))


def test_a_browser_that_asks_before_it_asks_needs_no_credentials(guarded: Start) -> None:
    service = guarded(cors_origins=("https://catalog.example.com",))
    asks = {"Origin": "https://catalog.example.com", "Access-Control-Request-Method": "PUT"}
    wanted = {**asks, "Access-Control-Request-Headers": "authorization"}
    reply = service.ask("OPTIONS", "/messagegroups/fleet", headers=wanted)
    assert reply.status == 200
    assert reply.headers["access-control-allow-origin"] == "https://catalog.example.com"
    assert reply.headers["access-control-allow-headers"] == "authorization"
    assert service.ask("OPTIONS", "/messagegroups/fleet").status == 401
    assert service.ask("OPTIONS", "/messagegroups/fleet", b"x", {**asks, "Content-Length": "1"}).status == 401
    stranger = {**asks, "Origin": "https://elsewhere.example.com"}
    assert service.ask("OPTIONS", "/messagegroups/fleet", headers=stranger).status == 401
    assert guarded().ask("OPTIONS", "/messagegroups/fleet", headers=asks).status == 401
