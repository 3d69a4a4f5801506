"""Templates: everything is escaped, and what users wrote is bounded and shows what would otherwise hide in it."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import jinja2
import msgspec
from jinja2.compiler import CodeGenerator
from jinja2.ext import Extension
from jinja2.lexer import Token
from jinja2.runtime import Context
from markupsafe import Markup, escape

from postroom.ui import texts
from postroom.ui.rendering.markdown import markdown
from postroom.ui.rendering.safe_text import HIDDEN, LONGEST_TEXT, safe_link, visible
from postroom.version import VERSION

_MARKS = re.compile(r"[`*]|^#+ ")
_JOINT = re.compile(r"(?<=[./_])(?=\w)")
_PLACEHOLDER = re.compile(r"\{([A-Za-z0-9_]+)\}")
LONGEST_SUMMARY = 220
_NOT_AS_IT_IS = re.compile(f"""[&<>"'{HIDDEN}]""")
_METHODS = frozenset(dir(dict))


def shown(value: Any) -> Any:
    """What stands on a page for a value: escaped, of limited length, and with nothing hidden in it."""
    if type(value) is str and len(value) <= LONGEST_TEXT and not _NOT_AS_IT_IS.search(value):
        return value
    if isinstance(value, Markup):
        return value
    if isinstance(value, str):
        return escape(visible(value))
    return "" if value is None else escape(value)


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


def template_text(text: str) -> Markup:
    """A URI template, in which its placeholders stand out."""
    found = _PLACEHOLDER.split(text[:LONGEST_TEXT])
    return Markup("".join([_placeholder(one) if index % 2 else shown(one) for index, one in enumerate(found)]))  # noqa: S704  # all are escaped


def _placeholder(name: str) -> str:
    return f'<var title="{escape(texts.placeholder_title.format(name=name))}">{{{name}}}</var>'


def breakable(text: str) -> Markup:
    """A name that may go on in the next line behind its dots, slashes and underscores."""
    return Markup("<wbr>".join([escape(part) for part in _JOINT.split(visible(text))]))  # noqa: S704  # all are escaped


def moment(time: str) -> Markup:
    """A time, which a script shows as how long ago it was."""
    if not time:
        return Markup("")
    exact = visible(time)
    date, words = escape(exact[:40]), escape(exact[:19].replace("T", " "))
    return Markup(f'<relative-time><time datetime="{date}">{words}</time></relative-time>')  # noqa: S704  # both are escaped


class _Undefined(jinja2.StrictUndefined):
    """A name that a template has wrong is a defect; a member that an entity does not have is just not there."""

    def __new__(cls, hint: Any = None, obj: Any = None, *arguments: Any, **named: Any) -> Any:
        kind = jinja2.ChainableUndefined if isinstance(obj, dict) else jinja2.StrictUndefined
        return kind(hint, obj, *arguments, **named)


_ABSENT = jinja2.ChainableUndefined(name="a member")


class _Texts(Extension):
    """Puts our own texts (`t.name`) into templates when they are compiled."""

    def filter_stream(self, stream: Iterable[Token]) -> Iterator[Token]:
        """The tokens of a template, in which a text stands for its name."""
        last: list[Token] = []
        for token in stream:
            last.append(token)
            if [one.type for one in last[-3:]] == ["name", "dot", "name"] and last[-3].value == "t":
                text = getattr(texts, token.value)
                if isinstance(text, str):
                    last[-3:] = [Token(token.lineno, "string", text)]
            if token.type in ("data", "block_end", "variable_end"):
                yield from last
                last.clear()
        yield from last


class _Generator(CodeGenerator):
    """One call for each value that is shown, which cleans and escapes it, instead of one for either."""

    def _output_child_pre(self, node: Any, frame: Any, finalize: Any) -> None:
        self.write("environment.finalize(")

    def _output_child_post(self, node: Any, frame: Any, finalize: Any) -> None:
        self.write(")")


class _Context(Context):
    """Calls what templates call, none of which wants to know of the template."""

    def call(
        self, called: Callable[..., Any], /, *given: Any, _block_vars: Any = None, _loop_vars: Any = None, **named: Any
    ) -> Any:
        """The result of a call."""
        return called(*given, **named)


class _Environment(jinja2.Environment):
    """Templates of pages, most values of which are members of dictionaries."""

    code_generator_class = _Generator
    context_class = _Context

    def getattr(self, obj: Any, attribute: str) -> Any:
        """A member of a dictionary, or an attribute."""
        if type(obj) is dict and attribute not in _METHODS:
            return obj.get(attribute, _ABSENT)
        try:
            return getattr(obj, attribute)
        except AttributeError:
            return super().getattr(obj, attribute)


@functools.cache
def _environment() -> jinja2.Environment:
    environment = _Environment(
        loader=jinja2.PackageLoader("postroom.ui"),
        autoescape=True,
        undefined=_Undefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        finalize=shown,
        extensions=[_Texts],
    )
    environment.globals.update(t=texts, plural=plural, version_name=VERSION)
    environment.filters.update(
        breakable=breakable,
        summary=summary,
        template_text=template_text,
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
