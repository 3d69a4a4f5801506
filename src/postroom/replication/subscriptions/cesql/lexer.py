"""The lexer: from a string to tokens. Keywords and names ignore case; the parser tells a sign from an operator."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from postroom.replication.subscriptions.cesql.errors import ExpressionRefused

KEYWORDS = frozenset(("AND", "OR", "XOR", "NOT", "LIKE", "EXISTS", "IN", "TRUE", "FALSE"))

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+)
      | (?P<text>'(?:\\.|''|[^'\\])*'|"(?:\\.|""|[^"\\])*")
      | (?P<word>[A-Za-z0-9_]+)
      | (?P<symbol><>|!=|<=|>=|[=<>()+\-*/%,])""",
    re.VERBOSE | re.DOTALL,
)


class Token(msgspec.Struct, frozen=True):
    """A piece of an expression; its kind is `text`, `word`, `integer`, `keyword`, `symbol` or `end`."""

    kind: str
    text: str
    at: int


def tokens(expression: str) -> Iterator[Token]:
    """The tokens of an expression, the last one being its end."""
    at = 0
    while at < len(expression):
        found = _TOKEN.match(expression, at)
        if found is None:
            what = "a text that does not end" if expression[at] in "'\"" else f"the character {expression[at]!r}"
            raise ExpressionRefused(f"there is {what} at position {at + 1}")
        if found.lastgroup != "space":
            yield _token(str(found.lastgroup), found.group(), at)
        at = found.end()
    yield Token("end", "", at)


def _token(kind: str, text: str, at: int) -> Token:
    if kind == "text":
        return Token(kind, _content(text), at)
    if kind == "word":
        if text.isdecimal():
            return Token("integer", text, at)
        if text.upper() in KEYWORDS:
            return Token("keyword", text.upper(), at)
    return Token(kind, text, at)


def _content(quoted: str) -> str:
    """The characters of a string literal; a backslash that escapes no quote stays, for patterns have uses for it."""
    quote = quoted[0]
    return re.sub(rf"\\{quote}|{quote}{quote}", lambda _: quote, quoted[1:-1])
