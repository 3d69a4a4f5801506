"""Pasted messages and schemas: what becomes of them, what is wrong where, and what would fit."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from postroom.catalog.catalog import open_catalog
from postroom.ui.trying.pasted_messages import read_pasted
from postroom.ui.trying.tried_message import TriedMessage, judge
from tests.conftest import DEMO_CATALOG
from tests.ui.conftest import POSITION

Visit = Callable[..., Page]

CATALOG = open_catalog(str(DEMO_CATALOG))
BATTERY = "/messagegroups/fleet.telemetry/messages/vehicle.telemetry.battery"
RIGHT = {"vin": "WVW-1", "depot": "north"}


def battery(payload: str = '{"charge_percent": 40, "temperature_c": 20}', **changed: str | None) -> dict[str, Any]:
    headers: dict[str, str | None] = {
        "ce_specversion": "1.0",
        "ce_id": "1",
        "ce_type": "com.harbour-mobility.vehicle.battery",
        "ce_source": "/fleet/north/vehicles/WVW-1",
        "ce_time": "2026-05-04T10:00:00Z",
        "content-type": "application/json",
        **changed,
    }
    kept = {name: value for name, value in headers.items() if value is not None}
    metadata = {"topic": "fleet.telemetry", "key": "WVW-1", "headers": kept}
    return {"protocol": "KAFKA", "metadata": metadata, "payload": payload}


def judged(text: str) -> list[TriedMessage]:
    return [
        judge(CATALOG, message, is_payload=one.is_payload)
        for one in read_pasted(text)
        for message in CATALOG.engine.opened(one.line)
    ]


EVENT = {
    "specversion": "1.0",
    "id": "1",
    "type": "com.harbour-mobility.order.placed",
    "source": "/shop",
    "data": {},
}


@pytest.mark.parametrize(
    ("text", "outcomes"),
    [
        (json.dumps(battery()), ["landed"]),
        (json.dumps(battery(), indent=2), ["landed"]),
        (json.dumps([battery(), battery(ce_time=None)], indent=2), ["landed", "invalid"]),
        (f"{json.dumps(battery())}\n\n{json.dumps(battery())}\n", ["landed", "landed"]),
        (json.dumps([EVENT, EVENT]), ["invalid", "invalid"]),
        (("curl -X POST http://x/orders -H 'ce-specversion: 1.0' -H 'ce-id: 1' -H 'ce-source: /s' "
         "-H 'ce-type: com.harbour-mobility.order.placed' --json '{}'"), ["invalid"]),
        ("this is no message", ["malformed"]),
        ("", []),
    ],
)  # fmt: skip
def test_messages_are_read_as_people_have_them(text: str, outcomes: list[str]) -> None:
    assert [one.match.outcome for one in judged(text)] == outcomes


def test_reasons_stand_beside_the_parts_that_they_are_about() -> None:
    (found,) = judged(json.dumps(battery(ce_source="/boats/9", ce_time=None)))
    wrong = {(part.section, part.name): part.reasons[0].sentence for part in found.parts if part.reasons}
    assert set(wrong) == {("envelope", "source"), ("envelope", "time")}
    (found,) = judged(json.dumps(battery('{"charge_percent": 400, "charging": [1]}')))
    wrong = {(part.section, part.name): part.reasons[0].sentence for part in found.parts if part.reasons}
    assert set(wrong) == {("payload", "charge_percent"), ("payload", "charging"), ("payload", "temperature_c")}
    assert "at most 100" in wrong["payload", "charge_percent"]


def test_what_would_fit_keeps_what_was_right() -> None:
    text = json.dumps(battery('{"charge_percent": 400, "temperature_c": 21, "cycles": 7}', ce_source="/boats/9"))
    (found,) = judged(text)
    suggestion = json.loads(found.suggestion)
    assert [one.match.outcome for one in judged(found.suggestion)] == ["landed"]
    payload = json.loads(suggestion["payload"])
    assert (payload["temperature_c"], payload["cycles"]) == (21, 7)
    assert suggestion["metadata"]["key"] == "WVW-1"


def test_a_payload_alone_is_told_which_definitions_it_fits() -> None:
    (found,) = judged('{"charge_percent": 40, "temperature_c": 20, "charging": true}')
    assert BATTERY in found.fitting


def test_paste_see_what_is_wrong_and_try_what_fits(visit: Visit) -> None:
    page = visit("/ui/-/try")
    page.fill("#messages", json.dumps(battery(ce_source="/boats/9")))
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    row = page.locator("tr.wrong")
    expect(row).to_contain_text("source")
    expect(row).to_contain_text("must look like")
    page.click("text=Make it fit")
    page.click("text=Try this one")
    expect(page.locator(".judged .badge")).to_have_text("landed")
    page.click(".judged h2 a")
    assert page.inner_text("h1") == "Battery"


def test_trying_needs_no_scripts(browser: Browser, pages: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{pages}/ui/-/try")
    page.fill("#messages", json.dumps(battery()))
    page.click("button[type=submit]")
    assert "landed" in page.inner_text(".judged")
    context.close()


def test_a_stored_schema_and_a_pasted_one(visit: Visit) -> None:
    page = visit("/ui/schemagroups/fleet.schemas/schemas/tyres")
    page.click("text=Compare with another text or version")
    page.fill("#text", '{"type": "object", "required": ["colour"]}')
    page.click("text=Compare >> nth=-1")
    expect(page.locator(".judged").first).to_contain_text("requires colour")
    expect(page.locator(".judged").first).to_contain_text("cannot be read")
    page.fill("#text", "this is no schema")
    page.click("main button.main")
    expect(page.locator(".judged").first).to_contain_text("nobody can say")


@pytest.mark.parametrize("body", [b"{}", b"messages=" + b"%FF" * 10, b"&".join([b"a=1"] * 200)])
def test_forms_that_no_page_sends_are_refused_or_harmless(pages: str, body: bytes) -> None:
    for kind in ("application/x-www-form-urlencoded", "application/json"):
        answer = httpx.post(f"{pages}/ui/-/try", content=body, headers={"content-type": kind})
        assert answer.status_code in (200, 400)


def test_a_command_with_an_address_that_is_none_is_judged_all_the_same(pages: str) -> None:
    sent = httpx.post(f"{pages}/ui/-/try", data={"messages": "curl http://[::1 -d '{}'"})
    assert sent.status_code == 200
    assert "unmatched" in sent.text


def test_no_more_is_judged_than_is_shown(pages: str) -> None:
    batch = json.dumps([EVENT] * 60)
    sent = httpx.post(f"{pages}/ui/-/try", data={"messages": "\n".join([batch] * 90)}, timeout=60)
    assert sent.status_code == 200
    assert sent.text.count('<section class="judged"') == 100


def test_a_message_that_is_nested_too_deeply_is_malformed(pages: str) -> None:
    deep = "[" * 5_000 + "]" * 5_000
    answer = httpx.post(f"{pages}/ui/-/try", data={"messages": deep})
    assert answer.status_code == 200
    assert POSITION not in answer.text
