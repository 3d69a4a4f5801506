"""URI templates of all four levels (RFC 6570), as documents of a message catalog have them, written out at level 1.

Messages of a registry have placeholders of level 1 only. An expression of a higher level says where its values stand
and what is between them, and that is the same at level 1 when all of its variables have a value: `{/x}` is `/{x}`,
and `{?a,b}` is `?a={a}&b={b}`. Values side by side are one value, for nothing tells where the first one ends.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_EXPRESSION = re.compile(r"\{([^{}]*)\}")
_RESERVED = "=,!@|"
_NAME = re.compile(r"(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*\Z")
_MODIFIER = re.compile(r"(?::[1-9][0-9]{0,3}|\*)\Z")
_SIDE_BY_SIDE = re.compile(r"\{[A-Za-z0-9_]+\}(?:\{[A-Za-z0-9_]+\})+")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_]")


class _Operator(NamedTuple):
    """What an expression writes before its first value and between them, and whether with the names of variables."""

    first: str
    separator: str
    is_named: bool = False


_OPERATORS = {
    "": _Operator("", ","),
    "+": _Operator("", ","),
    "#": _Operator("#", ","),
    ".": _Operator(".", "."),
    "/": _Operator("/", "/"),
    ";": _Operator(";", ";", is_named=True),
    "?": _Operator("?", "&", is_named=True),
    "&": _Operator("&", "&", is_named=True),
}


def has_expression(text: str) -> bool:
    """Whether a text is a template and not a literal: a brace has no other meaning in one."""
    return "{" in text or "}" in text


def template_error(text: str) -> str:
    """Why a text is no URI template; empty when it is one."""
    rest = _EXPRESSION.sub("", text)
    if "{" in rest or "}" in rest:
        brace = "{ that is not closed" if "{" in rest else "} that nothing opens"
        return f"has a {brace}, and braces are for expressions of URI templates only"
    errors = (_expression_error(found[1]) for found in _EXPRESSION.finditer(text))
    return next((error for error in errors if error), "")


def at_level_1(text: str) -> str:
    """A template with placeholders of level 1 only; a text that is no template as it is."""
    if not has_expression(text) or template_error(text):
        return text
    written = _EXPRESSION.sub(lambda found: _written_out(found[1]), text)
    return _SIDE_BY_SIDE.sub(lambda found: "{" + found[0][1:-1].replace("}{", "_") + "}", written)


def _expression_error(expression: str) -> str:
    if expression[:1] and expression[0] in _RESERVED:
        return f"{{{expression}}} begins with {expression[0]}, which RFC 6570 keeps for later"
    _, variables = _parts(expression)
    wrong = next((one for one in variables if not _NAME.match(_MODIFIER.sub("", one))), None)
    return "" if wrong is None else f"{{{expression}}} is no expression of RFC 6570: {wrong!r} is no name of a variable"


def _parts(expression: str) -> tuple[_Operator, list[str]]:
    symbol = expression[:1] if expression[:1] in _OPERATORS else ""
    return _OPERATORS[symbol], expression.removeprefix(symbol).split(",")


def _written_out(expression: str) -> str:
    operator, variables = _parts(expression)
    names = [_MODIFIER.sub("", one) for one in variables]
    values = [f"{name}={_placeholder(name)}" if operator.is_named else _placeholder(name) for name in names]
    return operator.first + operator.separator.join(values)


def _placeholder(name: str) -> str:
    return "{" + _NOT_IN_NAMES.sub("_", name) + "}"
