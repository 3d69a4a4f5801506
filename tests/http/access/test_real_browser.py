"""A person with Chromium and an account at a real OpenID provider signs in, reads, writes; foreign pages cannot."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page

from postroom.access.audit import read_audit
from postroom.access.grants import add_grants, parse_grant
from postroom.access.keys import create_key
from postroom.catalog.open_store import open_store
from tests.browser import browser, page
from tests.http.running_service import serving
from tests.oidc_provider import oidc_provider

__all__ = ["browser", "oidc_provider", "page"]

FLEET, OVENS = "/messagegroups/fleet", "/messagegroups/ovens"
ASK = """async ([method, url, token, body]) => {
  const headers = token ? {"X-CSRF-Token": token} : {};
  const answer = await fetch(url, {method, headers, body, credentials: "include"}).catch(String);
  return typeof answer === "string" ? answer : [answer.status, await answer.text()];
}"""


@pytest.fixture
def database(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/registry.db"


@pytest.fixture
def root(database: str) -> dict[str, str]:
    """The headers of an administrator; drivers may write one group."""
    with open_store(database) as store, store.write() as tx:
        add_grants(tx, [parse_grant("claim:drivers", "write", FLEET)])
        return {"Authorization": f"Bearer {create_key(tx, 'root', [parse_grant('key:root', 'admin', '/')])[1]}"}


def settings_for(provider: str) -> dict[str, str]:
    return {
        "POSTROOM_OIDC_ISSUER": f"{provider}/staff",
        "POSTROOM_OIDC_AUDIENCE": "postroom",
        "POSTROOM_OIDC_CLIENT_ID": "postroom-web",
    }


@pytest.fixture
def service(database: str, oidc_provider: str, root: dict[str, str]) -> Iterator[str]:
    with serving(database, "--access", "on", "--workers", "2", **settings_for(oidc_provider)) as (_, url):
        yield url


def sign_in(page: Page, service: str, name: str = "anna", after: str = "/-/session") -> None:
    """What somebody does who wants to see a page of the service."""
    page.goto(f"{service}/-/login?next={after}")
    page.fill("input[name=username]", name)
    page.fill("textarea[name=claims]", '{"groups": ["drivers"]}')
    page.click("input[type=submit]")
    page.wait_for_url(f"{service}{after}")


def ask(page: Page, method: str, url: str, token: str = "", body: str | None = None) -> Any:
    """What a script of the page gets; the name of the error where the browser tells it nothing."""
    return page.evaluate(ASK, [method, url, token, body])


def own_session(page: Page, service: str) -> dict[str, Any]:
    return dict(page.evaluate("async url => (await fetch(url)).json()", f"{service}/-/session"))


@contextmanager
def foreign_page() -> Iterator[int]:
    """The port of a web page that is not ours."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>kittens</title>")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


def test_somebody_signs_in_reads_writes_and_signs_out(page: Page, service: str, root: dict[str, str]) -> None:
    assert httpx.put(f"{service}{OVENS}", json={}, headers=root).status_code == 201
    sign_in(page, service)
    session = own_session(page, service)
    assert (session["principal"], session["write"]) == ("user:anna", [FLEET])
    (cookie,) = page.context.cookies(service)
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["secure"]) == (True, "Lax", False)
    assert page.evaluate("document.cookie") == ""
    token = session["csrf"]
    status, body = ask(page, "PUT", FLEET, body="{}")
    assert status == 403, body
    assert "X-CSRF-Token" in body
    assert ask(page, "PUT", FLEET, token, "{}")[0] == 201
    assert ask(page, "GET", FLEET)[0] == 200
    assert ask(page, "PUT", "/messagegroups/trains", token, "{}")[0] == 403
    assert ask(page, "GET", OVENS)[0] == 404
    changes = httpx.get(f"{service}/changes?values&xid={FLEET}", headers=root).json()["changes"]
    assert [one["actor"] for one in changes if one["xid"] == FLEET] == ["user:anna"]
    assert ask(page, "POST", "/-/logout", token)[0] == 204
    assert page.context.cookies(service) == []
    assert ask(page, "GET", FLEET)[0] == 401


def test_a_session_outlives_a_restart_and_ends_when_an_administrator_says_so(
    page: Page, database: str, oidc_provider: str, root: dict[str, str]
) -> None:
    settings = settings_for(oidc_provider)
    with serving(database, "--access", "on", **settings) as (_, url):
        sign_in(page, url)
        port = url.rpartition(":")[2]
    with open_store(database) as store, store.read() as tx:
        happened = [(one.event, one.principal, one.detail) for one in read_audit(tx)]
        assert ("signin", "user:anna", "browser, a new session") in happened
    with serving(database, "--access", "on", "--port", port, **settings) as (_, url):
        page.goto(f"{url}/-/session")
        assert own_session(page, url)["principal"] == "user:anna"
        ended = httpx.delete(f"{url}/-/sessions?principal=user:anna", headers=root)
        assert ended.json() == {"ended": 1}
        assert ask(page, "GET", "/-/session")[0] == 401
        assert page.context.cookies(url) == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_foreign_page_can_neither_read_nor_write(page: Page, service: str, root: dict[str, str], host: str) -> None:
    """127.0.0.1 with another port is the same site, so that the cookie is sent; localhost is another one."""
    sign_in(page, service)
    token = own_session(page, service)["csrf"]
    with foreign_page() as port:
        page.goto(f"http://{host}:{port}/")
        for method, sent in (("POST", ""), ("PUT", ""), ("PUT", token), ("GET", "")):
            assert "Failed to fetch" in ask(page, method, f"{service}{FLEET}", sent, None if method == "GET" else "{}")
        page.set_content(
            f'<form method="post" enctype="text/plain" action="{service}/messagegroups">'
            """<input name='{"fleet": {"name": "' value='"}}'></form>"""
        )
        with page.expect_navigation():
            page.evaluate("document.forms[0].submit()")
    assert httpx.get(f"{service}{FLEET}", headers=root).status_code == 404


def test_an_answer_of_the_provider_in_another_browser_is_a_page_with_one_sentence(page: Page, service: str) -> None:
    answer = page.goto(f"{service}/-/callback?code=stolen&state=invented")
    assert answer is not None
    assert answer.status == 401
    assert page.inner_text("p").startswith("The sign-in failed: this answer of the provider is of no sign-in")
    page.click("a")
    page.wait_for_selector("input[name=username]")


def test_a_code_is_good_with_the_verifier_of_its_own_browser_only(service: str, oidc_provider: str) -> None:
    """Somebody puts the code of another's sign-in into the answer to their own."""
    with httpx.Client(base_url=service) as thief, httpx.Client(base_url=service) as victim:
        began = [client.get("/-/login").headers["location"] for client in (thief, victim)]
        stolen = httpx.post(began[1], data={"username": "anna"}).headers["location"]
        code, state = httpx.URL(stolen).params["code"], httpx.URL(began[0]).params["state"]
        refused = thief.get("/-/callback", params={"code": code, "state": state})
        assert refused.status_code == 401
        assert "does not take its code back" in refused.json()["title"]
        assert "set-cookie" in refused.headers
        assert thief.get("/-/session").status_code == 401
