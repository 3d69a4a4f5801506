"""URI templates, level 1: fill them in, and read the values back out (C-19, C-20, MSG-046 to MSG-051)."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from urllib.parse import quote, unquote

from postroom.errors import DefinitionRefused

_PLACEHOLDER = re.compile(r"\{([A-Za-z0-9_]+)\}")
_ONE_SEGMENT = "[^/?#]+"


class Template:
    """A text with placeholders, compiled for matching in linear time."""

    def __init__(self, text: str) -> None:
        self.text = text
        pieces = _PLACEHOLDER.split(text)
        self.literals: tuple[str, ...] = tuple(pieces[0::2])
        self.names: tuple[str, ...] = tuple(pieces[1::2])
        if any(not literal for literal in self.literals[1:-1]):
            raise DefinitionRefused(
                f"two placeholders stand side by side in {text!r}, so nothing tells where one ends.",
                remedy="Put a character between them.",
            )
        self.alone = self.literals == ("", "")
        # Names that a regular expression can give to its groups, each once, so that a match is the answer.
        self._plain = len(set(self.names)) == len(self.names) and all(map(str.isidentifier, self.names))
        self._pattern = None if self.alone else re.compile(self._expression(), re.DOTALL)

    def _expression(self) -> str:
        if not self.names:
            return rf"\A{re.escape(self.text)}\Z"
        groups = [f"?P<{name}>" if self._plain else "" for name in self.names]
        inner = "".join(map(_step, groups, self.literals[1:-1]))
        last = f"({groups[-1]}{_ONE_SEGMENT}){re.escape(self.literals[-1])}"
        return rf"\A{re.escape(self.literals[0])}{inner}{last}\Z"

    def extract(self, value: str) -> dict[str, str] | None:
        """The values of the placeholders, percent-decoded; None when the text does not fit."""
        if self._pattern is None:
            return {self.names[0]: value} if value else None
        found = self._pattern.match(value)
        if found is None:
            return None
        if self._plain and "%" not in value:
            return found.groupdict()
        bound: dict[str, str] = {}
        for name, raw in zip(self.names, found.groups(), strict=True):
            text = unquote(raw) if "%" in raw else raw
            if bound.setdefault(name, text) != text:
                return None
        return bound

    def expand(self, values: Mapping[str, str]) -> str:
        """The text with its placeholders filled; a placeholder alone is inserted as it is, others percent-encoded."""
        if self.alone:
            return values[self.names[0]]
        filled = [self.literals[0]]
        for name, literal in zip(self.names, self.literals[1:], strict=True):
            filled += (quote(values[name], safe=""), literal)
        return "".join(filled)


def _step(group: str, literal: str) -> str:
    if literal[0] in "/?#":  # which the placeholder cannot contain: it ends there, and no choice is to be made
        return rf"({group}{_ONE_SEGMENT}){re.escape(literal)}"
    # An atomic group commits to the first place where the next literal follows. No other choice can succeed: a
    # placeholder never crosses "/", "?" or "#", so taking a later place only makes it longer. No backtracking.
    return rf"(?>({group}{_ONE_SEGMENT}?){re.escape(literal)})"


def has_placeholder(value: object) -> bool:
    """Whether a value is a text with at least one valid placeholder; other braces are literal (C-20)."""
    return isinstance(value, str) and _PLACEHOLDER.search(value) is not None


@functools.lru_cache(maxsize=65536)
def compile_template(text: str) -> Template:
    """The compiled template of a text; equal texts share one."""
    return Template(text)
