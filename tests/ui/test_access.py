"""Pages show what the API would show to the same person, and lead in those who may come in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from postroom.access.grants import add_grants, parse_grant
from postroom.access.keys import create_key
from postroom.catalog.open_store import open_store
from tests.conftest import DEMO_CATALOG
from tests.http.running_service import locate, serving
from tests.oidc_provider import oidc_provider
from tests.ui.conftest import POSITION, load

__all__ = ["oidc_provider"]

FLEET = "/messagegroups/fleet.telemetry"
ORDERS = "/messagegroups/shop.orders"


@pytest.fixture
def keys() -> dict[str, str]:
    return {}


@pytest.fixture
def guarded(tmp_path: Path, oidc_provider: str, keys: dict[str, str]) -> Iterator[str]:
    """A service where drivers may read one group, and an administrator everything."""
    database = f"sqlite:///{tmp_path}/registry.db"
    load(database, DEMO_CATALOG)
    with open_store(locate(database)) as store, store.write() as tx:
        add_grants(tx, [parse_grant("claim:drivers", "read", FLEET)])
        add_grants(tx, [parse_grant("claim:chiefs", "admin", "/")])
        keys["reader"] = create_key(tx, "reader", [parse_grant("key:reader", "read", FLEET)])[1]
        keys["root"] = create_key(tx, "root", [parse_grant("key:root", "admin", "/")])[1]
    settings = {
        "POSTROOM_OIDC_ISSUER": f"{oidc_provider}/staff",
        "POSTROOM_OIDC_AUDIENCE": "postroom",
        "POSTROOM_OIDC_CLIENT_ID": "postroom-web",
    }
    with serving(database, "--access", "on", **settings) as (_, url):
        yield url


def sign_in(page: Page, group: str) -> None:
    page.fill("input[name=username]", "anna")
    page.fill("textarea[name=claims]", f'{{"groups": ["{group}"]}}')
    page.click("input[type=submit]")


def test_somebody_is_led_in_reads_what_is_theirs_and_leaves(page: Page, guarded: str) -> None:
    answer = page.goto(f"{guarded}/ui{POSITION}")
    assert answer is not None
    assert answer.status == 401
    page.click("main a.button")
    sign_in(page, "drivers")
    page.wait_for_url(f"{guarded}/ui{POSITION}")
    assert page.inner_text("h1") == "Position"
    page.goto(f"{guarded}/ui/")
    assert "Vehicle telemetry" in page.inner_text("main")
    assert "Orders" not in page.inner_text("main")
    hidden, missing = (page.goto(f"{guarded}/ui{xid}") for xid in (ORDERS, "/messagegroups/none"))
    assert hidden is not None
    assert missing is not None
    assert (hidden.status, missing.status) == (404, 404)
    page.goto(f"{guarded}/ui/-/try")
    page.fill("#messages", "{}")
    page.click("button.main")
    expect(page.locator(".judged .badge")).to_have_text("unmatched")
    page.goto(f"{guarded}/ui/-/account")
    expect(page.locator("main")).to_contain_text("You are user:anna.")
    expect(page.locator("main")).not_to_contain_text("At the doors")
    page.click("main sign-out button")
    page.wait_for_selector("text=Please sign in")


def test_an_administrator_sees_keys_grants_and_the_doors(page: Page, guarded: str) -> None:
    page.goto(f"{guarded}/ui/-/account")
    page.click("main a.button")
    sign_in(page, "chiefs")
    page.wait_for_url(f"{guarded}/ui/-/account")
    text = page.inner_text("main")
    assert "You administer this registry." in text
    assert "claim:drivers" in text
    assert "reader" in text
    assert "At the doors" in text
    page.goto(f"{guarded}/ui/-/settings")
    assert "oidc_client_id" in page.inner_text("main")


def test_a_key_opens_what_it_was_granted_and_hidden_things_are_nowhere(guarded: str, keys: dict[str, str]) -> None:
    paths = (
        "/ui/", "/ui/messagegroups", f"/ui{FLEET}", f"/ui{POSITION}", "/ui/-/changes", "/ui/-/search?q=order",
        "/ui/-/fields", "/ui/-/model", "/ui/-/api", "/ui/-/account", "/ui/-/subscriptions", "/ui/-/try",
        "/ui/-/graph", f"/ui/-/graph?xid={FLEET}", f"/ui/-/example?xid={POSITION}", f"/ui/-/history?xid={POSITION}",
    )  # fmt: skip
    with httpx.Client(base_url=guarded, headers={"Authorization": f"Bearer {keys['reader']}"}) as client:
        for path in paths:
            answer = client.get(path)
            assert answer.status_code == 200, path
            assert "shop.orders" not in answer.text, path
            assert "order.placed" not in answer.text, path
        order = f"{ORDERS}/messages/order.placed"
        for path in (
            f"/ui{ORDERS}",
            f"/ui{order}",
            f"/ui/-/example?xid={order}",
            f"/ui/-/history?xid={order}",
            f"/ui/-/graph?xid={order}",
        ):
            assert client.get(path).status_code == 404, path
        assert client.get("/ui/-/compare?xid=/schemagroups/shop.schemas/schemas/order").status_code == 404
        assert client.get("/ui/-/settings").status_code == 403


def test_stylesheet_and_script_are_for_everybody_and_nothing_else_is(browser: Browser, guarded: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    failed: list[str] = []
    page.on("response", lambda answer: failed.append(answer.url) if answer.status != 200 else None)
    page.goto(f"{guarded}/ui/")
    assert failed == [f"{guarded}/ui/"]
    context.close()
    for path in ("/ui/-/api", "/ui/-/assets/../-/api", "/ui/-/assets/", "/ui/-/assets/x/y"):
        assert httpx.get(guarded + path).status_code in (401, 404), path
