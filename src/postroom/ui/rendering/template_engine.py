"""Templates: everything is escaped, and what users wrote is bounded and shows what would otherwise hide in it."""

from __future__ import annotations

import functools
import re
from typing import Any, NamedTuple

import jinja2
import msgspec
from markupsafe import Markup, escape

from postroom.ui import texts
from postroom.ui.rendering.markdown import markdown
from postroom.ui.rendering.safe_text import LONGEST_TEXT, safe_link, visible
from postroom.version import VERSION

_MARKS = re.compile(r"[`*]|^#+ ")
_JOINT = re.compile(r"(?<=[./_])(?=\w)")
_PLACEHOLDER = re.compile(r"\{([A-Za-z0-9_]+)\}")
LONGEST_SUMMARY = 220


def _finalize(value: Any) -> Any:
    if isinstance(value, Markup):
        return value
    if isinstance(value, str):
        return visible(value)
    return "" if value is None else value


def in_json(value: Any) -> str:
    """A value as indented JSON, cut where it gets long."""
    text = msgspec.json.format(msgspec.json.encode(value, enc_hook=str), indent=2).decode()
    return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + "\n…"


def number(value: int) -> str:
    """A count with separators."""
    return f"{value:,}"


def plural(count: int, one: str, many: str) -> str:
    """A count with its noun."""
    return f"{count:,} {one if count == 1 else many}"


def summary(text: object) -> str:
    """The beginning of a description, without its Markdown."""
    first = str(text).strip().partition("\n\n")[0]
    plain = _MARKS.sub("", " ".join(first[: 2 * LONGEST_SUMMARY].split()))
    return plain if len(plain) <= LONGEST_SUMMARY else plain[:LONGEST_SUMMARY].rstrip() + "…"


class TemplatePiece(NamedTuple):
    """A literal piece of a URI template, or the name of one of its placeholders."""

    text: str
    is_variable: bool


def pieces(text: str) -> list[TemplatePiece]:
    """A text in its literal pieces and placeholders."""
    found = _PLACEHOLDER.split(text[:LONGEST_TEXT])
    return [TemplatePiece(one, index % 2 == 1) for index, one in enumerate(found) if one]


def breakable(text: str) -> Markup:
    """A name that may go on in the next line behind its dots, slashes and underscores."""
    return Markup("<wbr>").join(_JOINT.split(visible(text)))


def moment(time: str) -> Markup:
    """A time, which a script shows as how long ago it was."""
    if not time:
        return Markup("")
    shown = escape(visible(time)[:19].replace("T", " "))
    return Markup('<relative-time><time datetime="{}">{}</time></relative-time>').format(visible(time)[:40], shown)


class _Undefined(jinja2.StrictUndefined):
    """A name that a template has wrong is a defect; a member that an entity does not have is just not there."""

    def __new__(cls, hint: Any = None, obj: Any = None, *arguments: Any, **named: Any) -> Any:
        kind = jinja2.ChainableUndefined if isinstance(obj, dict) else jinja2.StrictUndefined
        return kind(hint, obj, *arguments, **named)


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("postroom.ui"),
        autoescape=True,
        undefined=_Undefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        finalize=_finalize,
    )
    environment.globals.update(t=texts, plural=plural, version_name=VERSION)
    environment.filters.update(
        breakable=breakable,
        summary=summary,
        pieces=pieces,
        markdown=markdown,
        safe_link=safe_link,
        in_json=in_json,
        number=number,
        moment=moment,
        visible=visible,
    )
    return environment


@functools.cache
def _template(name: str) -> jinja2.Template:
    return _environment().get_template(name)


def render_template(name: str, /, **values: Any) -> str:
    """The text of a template."""
    return _template(name).render(values)
