"""Finding things by words, by facets and by field, by click and by keyboard."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Browser, Page, expect

Visit = Callable[..., Page]


def test_a_slash_a_word_and_enter_find_a_message(visit: Visit) -> None:
    page = visit("/ui/messagegroups")
    page.keyboard.press("/")
    page.keyboard.type("odometer")
    page.keyboard.press("Enter")
    page.wait_for_url("**/ui/-/search?q=odometer")
    expect(page.locator("#results mark").first).to_have_text("odometer")
    page.click("#results >> text=trip-started")
    assert page.inner_text("h1") == "trip-started"


def test_results_follow_what_is_typed(visit: Visit) -> None:
    page = visit("/ui/-/search?q=tyre")
    expect(page.locator("#results strong").first).to_have_text("Tyre pressures")
    page.fill("#search", "battery")
    expect(page.locator("#results strong").first).to_have_text("battery", ignore_case=True)
    assert page.url.endswith("q=battery")


def test_facets_narrow_down_and_are_taken_back(visit: Visit) -> None:
    page = visit("/ui/-/search?q=vehicle")
    count = page.locator("#results .rows > li").count()
    page.click("aside >> text=Message groups")
    expect(page.locator("[aria-current=true]")).to_have_text("Message groups")
    assert 0 < page.locator("#results .rows > li").count() < count
    page.click("[aria-current=true]")
    expect(page.locator("#results .rows > li")).to_have_count(count)


def test_nothing_found_says_what_to_do(visit: Visit) -> None:
    page = visit("/ui/-/search?q=zeppelin")
    assert "Fewer words" in page.inner_text("main")


def test_fields_that_several_schemas_have_and_those_that_differ(visit: Visit) -> None:
    page = visit("/ui/-/fields")
    page.check("input[name=shared]")
    page.fill("input[type=search][name=q] >> nth=-1", "fare")
    page.click("main button")
    row = page.locator("tbody tr")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("not the same everywhere")
    page.click("tbody >> text=trip-started")
    assert page.inner_text("h1") == "trip-started"


def test_searching_needs_no_scripts(browser: Browser, pages: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{pages}/ui/")
    page.fill("#search", "tyre pressure")
    page.press("#search", "Enter")
    assert "Tyre pressures" in page.inner_text("#results")
    context.close()
