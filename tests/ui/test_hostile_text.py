"""What people put into a catalog is shown as text: it neither runs, nor loads, nor hides, nor makes a page useless."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markupsafe import Markup, escape
from playwright.sync_api import Browser, Page

from postroom.catalog.open_store import open_store
from postroom.registry.operations import import_document
from postroom.settings import Settings
from postroom.ui.page import Links
from postroom.ui.rendering.markdown import markdown
from postroom.ui.rendering.safe_text import LONGEST_TEXT, safe_link, visible
from postroom.ui.rendering.template_engine import breakable, moment, render_template, shown, template_text
from tests.http.running_service import locate, serving
from tests.ui.conftest import Visitor, wait_for_parts

SCRIPTS = (
    "<script>document.title='taken'</script>",
    "<img src=x onerror=\"document.title='taken'\">",
    "\"><svg onload=document.title='taken'>",
    "'-document.title='taken'-'",
    "{{ 7*7 }}{% raw %}",
    "[click](javascript:document.title='taken')",
    "![pixel](https://tracker.example/pixel.png)",
    "</textarea></code></pre><iframe src=\"javascript:parent.document.title='taken'\">",
    "<a href=\"data:text/html,<script>document.title='taken'</script>\">data</a>",
    "<style>*{display:none}</style>",
)
HOSTILE = " ".join(SCRIPTS)
HIDDEN = "user\u202egpj.exe\u200b\u2066"
GROUP = "/messagegroups/ovens"
MESSAGE = f"{GROUP}/messages/loaf"
WIDE = f"{GROUP}/messages/wide"
SCHEMA = "/schemagroups/ovens/schemas/loaf"
WIDE_SCHEMA = "/schemagroups/ovens/schemas/wide"
LINKS = {"documentation": "javascript:document.title='taken'", "icon": "data:image/svg+xml,%3Csvg%20onload=alert(1)%3E"}


def _members(count: int, text: str) -> dict[str, Any]:
    return {f"{text}{index}": {"type": "string", "description": text, "enum": [text]} for index in range(count)}


def _hostile_catalog() -> dict[str, Any]:
    words: dict[str, Any] = {"name": HOSTILE, "description": HOSTILE, "labels": {"a": HOSTILE, "b": HIDDEN}, **LINKS}
    schema = {"type": "object", "properties": _members(3, HOSTILE), "required": [HOSTILE + "0"]}
    long = "x" * 1_000_000
    enormous = {long: {"type": "string", "description": long, "enum": [long], "default": long}}
    wide = {"type": "object", "properties": {**enormous, **_members(10_000, "field")}}
    metadata = {
        "type": {"value": HOSTILE, "description": HOSTILE},
        "subject": {"value": "{x}" + HOSTILE, "type": "string"},
    }
    message = {
        "messageid": "loaf",
        **words,
        "envelope": "CloudEvents/1.0",
        "envelopemetadata": metadata,
        "protocol": "KAFKA",
        "protocoloptions": {"topic": HOSTILE, "key": HIDDEN, "headers": [{"name": HOSTILE, "value": HOSTILE}]},
        "dataschemaformat": "JsonSchema/draft-07",
        "dataschemauri": SCHEMA,
        "deprecated": {"alternative": "https://example.com/a", "documentation": LINKS["documentation"]},
    }
    headers = [{"name": f"header-{index}", "value": "x" * 100} for index in range(2_000)]
    return {
        "schemagroups": {
            "ovens": {
                "schemagroupid": "ovens",
                "schemas": {
                    "loaf": {"schemaid": "loaf", **words, "format": "JsonSchema/draft-07", "schema": schema},
                    "wide": {"schemaid": "wide", "format": "JsonSchema/draft-07", "schema": wide},
                },
            }
        },
        "messagegroups": {
            "ovens": {
                "messagegroupid": "ovens",
                **words,
                "messages": {
                    "loaf": message,
                    "wide": {
                        "messageid": "wide",
                        "name": "x" * 4_000,
                        "description": "**" * 2_000,
                        "protocol": "KAFKA",
                        "protocoloptions": {"topic": "t", "headers": headers},
                        "dataschemaformat": "JsonSchema/draft-07",
                        "dataschemauri": WIDE_SCHEMA,
                    },
                },
            }
        },
        "endpoints": {
            "ovens": {
                "endpointid": "ovens",
                **words,
                "usage": ["producer"],
                "messagegroups": [GROUP, "javascript:document.title='taken'"],
                "protocol": "KAFKA",
                "protocoloptions": {"endpoints": [{"uri": LINKS["documentation"]}]},
            }
        },
    }


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    database = f"sqlite:///{tmp_path_factory.mktemp('hostile')}/registry.db"
    with open_store(locate(database)) as store, store.write() as tx:
        import_document(tx, _hostile_catalog())
    with serving(database) as (_, url):
        yield url


@pytest.fixture
def visit_hostile(page: Page, hostile: str) -> Iterator[Callable[..., Page]]:
    visitor = Visitor(page, hostile)
    yield visitor.open
    visitor.check()


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/messagegroups",
        GROUP,
        f"{GROUP}/messages",
        MESSAGE,
        f"{MESSAGE}/versions/1",
        f"{MESSAGE}/meta",
        "/schemagroups/ovens",
        SCHEMA,
        f"{SCHEMA}/versions/1",
        "/endpoints/ovens",
        "/-/graph",
        f"/-/graph?xid={GROUP}",
        f"/-/graph?xid={WIDE}",
        f"/-/example?xid={MESSAGE}",
        f"/-/history?xid={MESSAGE}",
    ],
)
def test_what_is_written_into_a_catalog_is_shown_and_does_nothing(
    visit_hostile: Callable[..., Page], path: str
) -> None:
    page = visit_hostile(f"/ui{path}")
    assert page.title() != "taken"
    assert page.locator("main").is_visible()
    assert page.locator("main img, main iframe, main svg[onload], main script, main style").count() == 0
    links = [one.get_attribute("href") or "" for one in page.locator("a").all()]
    assert [one for one in links if not one.startswith(("/", "#", "https://", "http://"))] == []


def test_hostile_names_are_there_to_be_read(visit_hostile: Callable[..., Page]) -> None:
    page = visit_hostile(f"/ui{MESSAGE}")
    assert "<script>document.title='taken'</script>" in page.inner_text("h1")
    assert "{{ 7*7 }}" in page.inner_text("h1")
    assert "⟨U+202E⟩" in page.inner_text("main")


@pytest.mark.parametrize("path", [WIDE, WIDE_SCHEMA, GROUP, "/"])
def test_what_is_enormous_leaves_a_page_usable(browser: Browser, hostile: str, path: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    answer = page.goto(f"{hostile}/ui{path}")
    assert answer is not None
    assert answer.status == 200
    assert len(answer.body()) < 1_500_000
    wait_for_parts(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.click("text=Postroom")
    page.wait_for_url("**/ui/")
    context.close()


@pytest.mark.parametrize(
    "url", ["javascript:1", " javascript:1", "data:text/html,x", "JaVaScRiPt:1", "//host/x", "x", 7]
)
def test_only_web_pages_are_linked(url: object) -> None:
    assert safe_link(url) == ""


def test_markdown_has_words_lists_and_links_and_nothing_else() -> None:
    made = markdown(
        '**Warm** `loaf`\n\n- one\n- [two](https://example.com/ "x")\n\n# big ![i](https://a/b) <b>bold</b>'
    )
    assert "<strong>Warm</strong>" in made
    assert '<a href="https://example.com/" title="x" rel="nofollow noopener noreferrer">two</a>' in made
    assert "<li>one</li>" in made
    assert "<img" not in made
    assert "<h1" not in made
    assert "&lt;b&gt;" in made
    assert "href" not in markdown("[x](javascript:alert(1)) <javascript:alert(1)> [y](data:text/html,x)")


def test_hidden_characters_are_named() -> None:
    assert visible(HIDDEN) == "user⟨U+202E⟩gpj.exe⟨U+200B⟩⟨U+2066⟩"


@given(st.text(st.one_of(st.characters(), st.sampled_from("<>&'\"\u202e\u200b\x00\x9f\ufeff"))))
@example(HOSTILE)
@example(HIDDEN)
@example("x" * (LONGEST_TEXT + 1))
@example("")
def test_every_value_that_a_template_shows_is_escaped_bounded_and_without_anything_hidden(text: str) -> None:
    safe = str(escape(visible(text)))
    assert str(shown(text)) == safe
    links = Links("http://127.0.0.1/ui")
    values = {"problem": {"status": 404, "sentence": text, "detail": ""}, "advice": "", "sign_in": "", "instance": text}
    page = render_template("problem.html", links=links, settings=Settings(), heading=text, path="/", **values)
    for place in (f"<title>{safe} ", f"<h1>{safe}</h1>", f'<p class="lead">{safe}</p>', f"<code>{safe}</code>"):
        assert place in page
    assert str(breakable(text)).replace("<wbr>", "") == safe
    assert "{" in text or str(template_text(text)) == safe[: -1 if len(text) > LONGEST_TEXT else None]
    assert not text or f">{escape(visible(text)[:19].replace('T', ' '))}<" in moment(text)


def test_placeholders_stand_out_in_text_that_is_escaped() -> None:
    assert template_text("<{shop}>\u202e{") == (
        '&lt;<var title="A placeholder: whatever is there is bound to the variable shop">{shop}</var>&gt;⟨U+202E⟩{'
    )


@given(st.text(), st.text())
@example("/messagegroups/ovens", "one two/ü&=#?+%")
def test_links_hold_any_text(path: str, value: str) -> None:
    path = f"/{path}"
    parts = urlsplit(Links("http://127.0.0.1/ui").page(path, xid=value))
    assert unquote(parts.path) == f"/ui{path}"
    assert dict(parse_qsl(parts.query, keep_blank_values=True)) == ({"xid": value} if value else {})


@pytest.mark.parametrize(
    ("value", "expected"),
    [(None, ""), (5, "5"), (True, "True"), (Markup("<b>"), "<b>"), (["<b>"], "[&#39;&lt;b&gt;&#39;]")],
)
def test_values_that_are_no_text_are_shown_as_text(value: object, expected: str) -> None:
    assert str(shown(value)) == expected
