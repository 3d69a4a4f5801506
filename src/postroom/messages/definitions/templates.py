"""URI templates, level 1: expansion, and extraction of the values (C-19, C-20, MSG-046 to MSG-051)."""

from __future__ import annotations

import functools
import re
import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from postroom.errors import DefinitionRefused, MakeRefused
from postroom.protocols.header_values import percent_encoder

_PLACEHOLDER = re.compile(r"\{([A-Za-z0-9_]+)\}")
_ONE_SEGMENT = "[^/?#]+"
_SEGMENTS = "[^?#]+"
_PLAIN = re.compile(r"[A-Za-z0-9_.~-]*")
_RESERVED = ":/?#@!$&'()*+,;="
_IN_A_URI = _RESERVED + "[]-._~%{}"
_SAMPLE = 64
_ONE_SEGMENT_OF_A_LINE = "[^/?#\\n]+"


class Expander(NamedTuple):
    """Expands a template: `form % strings(values)` for plain values, where there is a form, or `exact`."""

    form: str | None
    strings: Callable[[Mapping[str, str]], Any]
    exact: Callable[[Mapping[str, str]], str]


class Template:
    """A string with placeholders, compiled for matching in linear time.

    In a URI, characters that are not allowed are percent-encoded, and match encoded or not. Where the whole value is a
    URI-reference (`is_reference`), that holds for a placeholder alone as well. The last placeholder of one that
    `is_wide` takes `/` as well.
    """

    def __init__(self, text: str, *, is_uri: bool = True, is_reference: bool = False, is_wide: bool = False) -> None:
        self.text = text
        self._last = _SEGMENTS if is_wide else ""
        self._is_uri = is_uri
        self._is_reference = is_reference
        pieces = _PLACEHOLDER.split(text)
        self.literals: tuple[str, ...] = tuple(pieces[0::2])
        self.names: tuple[str, ...] = tuple(pieces[1::2])
        if any(not literal for literal in self.literals[1:-1]):
            raise DefinitionRefused(
                f"two placeholders stand side by side in {text!r}, so nothing tells where one ends.",
                remedy="Put a character between them.",
            )
        self._written = tuple(map(_encoded_literal, self.literals)) if is_uri else self.literals
        self._form = self._form_of(self._written)
        self._strings = itemgetter(*self.names) if self.names else _no_strings
        self.alone = self.literals == ("", "")
        # Names that a regular expression can give to its groups, each once, so that a match has the values by name.
        self._plain = len(set(self.names)) == len(self.names) and all(map(str.isidentifier, self.names))
        # Only here can a value contain the literal that ends it, unencoded.
        self._is_ambiguous = any(literal[0] not in "/?#" for literal in self.literals[1:-1])

    # Both patterns are compiled when the first value comes: who only writes a definition matches nothing.
    @functools.cached_property
    def _pattern(self) -> re.Pattern[str] | None:
        return None if self.alone else re.compile(rf"\A{self._expression()}\Z", re.DOTALL)

    def _expression(self, segment: str = _ONE_SEGMENT) -> str:
        first, *others = [_literal(literal) if self._is_uri else re.escape(literal) for literal in self.literals]
        if not self.names:
            return first
        segments = [*(segment for _ in self.names[1:]), self._last or segment]
        names = (f"?P<{name}>" if self._plain else "" for name in self.names)
        groups = [f"({name}{one}" for name, one in zip(names, segments, strict=True)]
        inner = "".join(map(_group_pattern, groups, others, self.literals[1:-1]))
        return f"{first}{inner}{groups[-1]}){others[-1]}"

    @functools.cached_property
    def _lines(self) -> re.Pattern[str] | None:
        """The pattern that finds the values of many strings at once, one per line."""
        if self.alone or not self._plain or not self.names or "\n" in self.text:
            return None
        # A line that does not fit is found as well, without values: those that fit have no empty ones.
        return re.compile(rf"^(?:{self._expression(_ONE_SEGMENT_OF_A_LINE)}|.*)$", re.MULTILINE)

    def extract(self, value: str) -> dict[str, str] | None:
        """The values of the placeholders, percent-decoded; None when the string does not match."""
        if self._pattern is None:
            return {self.names[0]: self._value_alone(value)} if value else None
        found = self._pattern.match(value)
        if found is None:
            return None
        if self._plain and "%" not in value:
            return found.groupdict()
        bound: dict[str, str] = {}
        for name, raw in zip(self.names, found.groups(), strict=True):
            string = unquote(raw) if "%" in raw else raw
            if bound.setdefault(name, string) != string:
                return None
        return bound

    def extract_all(self, values: Sequence[str | None]) -> list[tuple[str, ...] | None]:
        """Extract from a column of strings: values in the order of the names, None where a string does not match.

        Raises TypeError when a value of the column is no string.
        """
        if self._pattern is None:
            return [(self._value_alone(value),) if value and type(value) is str else None for value in values]
        columns = self.columns(values)
        if columns is not None:
            return [row if row[0] else None for row in zip(*columns, strict=True)]
        match = self._pattern.match
        found = [one and one.groups() for one in map(match, values)]  # type: ignore[arg-type]  # as above
        if self._plain and "%" not in "".join(values):  # type: ignore[arg-type]  # as above
            return found
        exact = (self.extract(value) for value in values)  # type: ignore[arg-type]  # as above
        return [None if one is None else tuple(one[name] for name in self.names) for one in exact]

    def columns(self, values: Sequence[str | None]) -> list[Sequence[str]] | None:
        """The values of each placeholder in a column of strings, empty for strings that do not match.

        None where that is not possible; Raises TypeError when a value of the column is no string.
        """
        if self.alone:
            joined = "".join(values)  # type: ignore[arg-type]  # hence the TypeError
            return [list(map(self._value_alone, values)) if "%" in joined else values]  # type: ignore[arg-type,list-item]
        if values and self.names and type(values[0]) is str and values.count(values[0]) == len(values):
            return [[found] * len(values) for found in self._extract_row(values[0])]
        sample = values[:_SAMPLE]
        if not self.names or 4 * len(set(sample)) >= len(sample):
            return self._extract_lines(values)
        # Strings that name machines and sites repeat: each is matched once.
        distinct = list(set(values))
        found = self._extract_lines(distinct) or list(zip(*map(self._extract_row, distinct), strict=True))
        return [list(map(dict(zip(distinct, column, strict=True)).__getitem__, values)) for column in found]

    def _extract_lines(self, values: Sequence[str | None]) -> list[Sequence[str]] | None:
        joined = "\n".join(values)  # type: ignore[arg-type]  # hence the TypeError
        if self._lines is None or "%" in joined or not values or joined.count("\n") != len(values) - 1:
            return None
        found = self._lines.findall(joined)
        return [found] if len(self.names) == 1 else list(zip(*found, strict=True))

    def _extract_row(self, value: str | None) -> tuple[str, ...]:
        bound = self.extract(value)  # type: ignore[arg-type]  # all are strings
        return ("",) * len(self.names) if bound is None else tuple(bound[name] for name in self.names)

    def is_filled_by(self, values: Mapping[str, str]) -> bool:
        """Whether there is a value for each placeholder."""
        return all(name in values for name in self.names)

    def expand(self, values: Mapping[str, str]) -> str:
        """Fill in the placeholders; a placeholder alone is inserted as it is, others percent-encoded."""
        if self.alone:
            value = values[self.names[0]]
            return _reference(value) if self._is_reference else value
        filled = self._form % tuple([_quoted(values[name]) for name in self.names])
        if not self._is_ambiguous or self._reads(filled, values):
            return filled
        following = self.literals[1:]
        stricter = (_encoded(values[name], literal) for name, literal in zip(self.names, following, strict=True))
        filled = self._form % tuple(stricter)
        if self._reads(filled, values):
            return filled
        raise MakeRefused(
            f"nothing would tell where the values of {', '.join(dict.fromkeys(self.names))} end in {self.text!r}.",
            remedy="Choose values without the text that separates them.",
        )

    def _value_alone(self, value: str) -> str:
        """The value of a placeholder that is all there is."""
        return unquote(value) if self._is_reference and "%" in value else value

    def expander(self, write: Callable[[str], str] = str) -> Expander:
        """Functions that return what `expand` does, as `write` writes it.

        `write` goes character by character, and leaves plain ones as they are.
        """
        expand = self.expand
        form = None if self._is_ambiguous else self._form_of(map(write, self._written))
        return Expander(form, self._strings, lambda values: write(expand(values)))

    @staticmethod
    def _form_of(literals: Iterable[str]) -> str:
        return "%s".join(literal.replace("%", "%%") for literal in literals)

    def _reads(self, filled: str, values: Mapping[str, str]) -> bool:
        return self.extract(filled) == {name: values[name] for name in self.names}


def is_plain(string: str) -> bool:
    """Whether a string has only characters that are written alike in URIs, headers and JSON (unreserved ones)."""
    return string.isascii() and (string.isalnum() or _PLAIN.fullmatch(string) is not None)


_percent_encoded = percent_encoder(string.ascii_letters + string.digits + "_.~-")


def _quoted(value: str) -> str:
    return value if value.isascii() and value.isalnum() else _percent_encoded(value)


def _reference(value: str) -> str:
    """A string as a URI-reference, whatever is in it."""
    return quote(value, safe=_RESERVED if value.count("#") < 2 else "")


def _no_strings(_values: Mapping[str, str]) -> tuple[str, ...]:
    return ()


def _encoded(value: str, following: str) -> str:
    """Percent-encode a value, with all characters of the literal that follows it."""
    return "".join(_percent(char) if char in following else _quoted(char) for char in value)


def _percent(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode())


def _encoded_literal(literal: str) -> str:
    """Percent-encode a literal for a URI (RFC 6570, 3.1); braces that are no placeholder stay (C-20)."""
    return quote(literal, safe=_IN_A_URI)


def _literal(literal: str) -> str:
    """The pattern of a literal whose characters that a URI does not allow may be encoded or not."""
    return "".join(
        re.escape(char) if _encoded_literal(char) == char else f"(?:{re.escape(char)}|(?i:{_percent(char)}))"
        for char in literal
    )


def _group_pattern(group: str, pattern: str, literal: str) -> str:
    if literal[0] in "/?#":  # which the placeholder cannot contain, so it ends there
        return rf"{group}){pattern}"
    # An atomic group commits to the first index where the next literal follows. No other choice can succeed: a
    # placeholder never crosses "/", "?" or "#", so a later index only makes it longer. No backtracking.
    return rf"(?>{group}?){pattern})"


def has_placeholder(value: object) -> bool:
    """Whether a value is a string with at least one valid placeholder; other braces are literal (C-20)."""
    return isinstance(value, str) and _PLACEHOLDER.search(value) is not None


@functools.lru_cache(maxsize=65536)
def compile_template(text: str, is_uri: bool = True, is_reference: bool = False, is_wide: bool = False) -> Template:
    """Compile a template; equal strings share one."""
    return Template(text, is_uri=is_uri, is_reference=is_reference, is_wide=is_wide)
