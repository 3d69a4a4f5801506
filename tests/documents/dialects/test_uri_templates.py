"""URI templates of RFC 6570 at level 1, which is what messages of a registry have."""

from __future__ import annotations

import pytest

from postroom.documents.dialects.uri_templates import at_level_1, template_error
from postroom.messages.definitions.templates import Template

pytestmark = pytest.mark.audit("services-C7")

# A template, the same at level 1, and its expansion with var=value, hello=Hello, path=/foo/bar, x=1024 and y=768.
TEMPLATES = [
    ("{var}", "{var}", "value"),
    ("plain", "plain", "plain"),
    ("{+var}", "{var}", "value"),
    ("{+path}/here", "{path}/here", "/foo/bar/here"),
    ("X{#var}", "X#{var}", "X#value"),
    ("map?{x,y}", "map?{x},{y}", "map?1024,768"),
    ("{x,hello,y}", "{x},{hello},{y}", "1024,Hello,768"),
    ("X{.x,y}", "X.{x}.{y}", "X.1024.768"),
    ("{/var}", "/{var}", "/value"),
    ("{/var,x}/here", "/{var}/{x}/here", "/value/1024/here"),
    ("{;x,y}", ";x={x};y={y}", ";x=1024;y=768"),
    ("{?x,y}", "?x={x}&y={y}", "?x=1024&y=768"),
    ("?fixed=yes{&x}", "?fixed=yes&x={x}", "?fixed=yes&x=1024"),
    ("{var:30}", "{var}", "value"),
    ("{x*}", "{x}", "1024"),
    ("{a.b}/{c%20d}", "{a_b}/{c_20d}", None),
    ("{x}{y}/z", "{x_y}/z", "1024768/z"),
]


@pytest.mark.parametrize(("template", "written", "expanded"), TEMPLATES)
def test_an_expression_of_a_higher_level_is_written_out(template: str, written: str, expanded: str | None) -> None:
    assert template_error(template) == ""
    assert at_level_1(template) == written
    compiled = Template(written)
    if expanded is not None and "path" not in template:  # a placeholder does not take a slash
        assert compiled.extract(expanded) is not None


@pytest.mark.parametrize(
    "text",
    [
        "{unclosed",
        "closed}",
        "{",
        "}",
        "{}",
        "{a b}",
        '{"a": 1}',
        "{{a}}",
        "{a,}",
        "{+}",
        "{=a}",
        "{|a}",
        "{a:0}",
        "{a.}",
    ],
)
def test_what_is_no_template_is_told_and_left_as_it_is(text: str) -> None:
    assert template_error(text) != ""
    assert at_level_1(text) == text
