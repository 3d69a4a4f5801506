"""Sample strings that match a regular expression."""

from __future__ import annotations

import random
import re
import string
from typing import Any

from postroom.errors import SchemaRefused

try:  # the standard library's own parser of regular expressions
    from re import _parser  # type: ignore[attr-defined]  # has no type stubs
except ImportError:  # pragma: no cover - Python that hides it
    _parser = None

_MOST_REPEATS = 8
_LONGEST = 20_000
_PRINTABLE = string.ascii_letters + string.digits + "-_"
_CATEGORIES = {
    "CATEGORY_DIGIT": string.digits,
    "CATEGORY_NOT_DIGIT": string.ascii_letters + "-_",
    "CATEGORY_WORD": string.ascii_letters + string.digits + "_",
    "CATEGORY_NOT_WORD": "-.:/",
    "CATEGORY_SPACE": " ",
    "CATEGORY_NOT_SPACE": _PRINTABLE,
}
# Unicode properties, by the part of ASCII that has them.
_PROPERTIES = {
    "L": "a-zA-Z",
    "Letter": "a-zA-Z",
    "Alphabetic": "a-zA-Z",
    "Lu": "A-Z",
    "Uppercase_Letter": "A-Z",
    "Ll": "a-z",
    "Lowercase_Letter": "a-z",
    "N": "0-9",
    "Nd": "0-9",
    "Number": "0-9",
    "P": "!-.",
    "Punctuation": "!-.",
    "S": "$+",
    "Z": " ",
    "Zs": " ",
    "M": "\u0301",
}
_SYNTAX = re.compile(
    r"\\(?:p\{([^}]*)\}|P\{[^}]*\}|u\{([0-9a-fA-F]{1,6})\}|c([A-Za-z])|k<(\w+)>|.)|\(\?<(?![=!])|\[|\]", re.DOTALL
)


def sample_string(pattern: str, rng: random.Random, repeats: int = _MOST_REPEATS) -> str:
    """A string that matches, for common patterns: classes, repeats, groups, alternatives.

    Unbounded repeats come at most `repeats` times more than they must. Look-around and word boundaries are not
    considered: the caller validates the string.
    """
    try:
        parsed = _parser.parse(_translated(pattern))
        return _Generator(rng, repeats).sequence(parsed)
    except (re.error, AttributeError, OverflowError, RecursionError, ValueError):
        raise SchemaRefused(f"no text could be invented for the pattern {pattern!r}.") from None


def _translated(pattern: str) -> str:
    """A pattern of JavaScript or XML in Python's syntax, as far as the two differ."""
    inside = False

    def translate(found: re.Match[str]) -> str:
        nonlocal inside
        text = found[0]
        if text in ("[", "]"):
            literal = inside and text == "["
            inside = text == "[" or (inside and text != "]")
            return r"\[" if literal else text
        if text == "(?<":
            return text if inside else "(?P<"
        if found[1] is not None:
            characters = _PROPERTIES.get(found[1].rpartition("=")[2], "a-z")
            return characters if inside else f"[{characters}]"
        if text.startswith(r"\P"):
            return "_"
        if found[2]:
            return re.escape(chr(int(found[2], 16)))
        if found[3]:
            return f"\\x{ord(found[3].upper()) - 64:02x}"
        if found[4]:
            return f"(?P={found[4]})"
        return text[1] if text[1:] in ("i", "c", "I", "_", "/") else text

    return _SYNTAX.sub(translate, pattern)


class _Generator:
    """Generates one string; the strings of groups are kept for back references."""

    def __init__(self, rng: random.Random, repeats: int) -> None:
        self.rng = rng
        self.repeats = repeats
        self.groups: dict[int, str] = {}
        self.written = 0

    def sequence(self, parsed: Any) -> str:
        return "".join([self._token(str(opcode), argument) for opcode, argument in parsed])

    def _token(self, opcode: str, argument: Any) -> str:
        self.written += 1
        if self.written > _LONGEST:
            raise OverflowError("the text would be too long")
        if opcode == "LITERAL":
            return chr(argument)
        if opcode == "ANY":
            return self.rng.choice(_PRINTABLE)
        if opcode == "NOT_LITERAL":
            return self.rng.choice([c for c in _PRINTABLE if c != chr(argument)])
        if opcode == "IN":
            return _from_class(argument, self.rng)
        if opcode in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            return self._repeated(*argument)
        if opcode == "SUBPATTERN":
            self.groups[argument[0]] = text = self.sequence(argument[3])
            return text
        if opcode == "GROUPREF":
            return self.groups.get(argument, "")
        if opcode == "ATOMIC_GROUP":
            return self.sequence(argument)
        if opcode == "BRANCH":
            return self.sequence(self.rng.choice(argument[1]))
        return ""  # anchors and look-arounds add no text

    def _repeated(self, least: int, most: Any, inner: Any) -> str:
        count = self.rng.randint(least, max(least, min(int(most), least + self.repeats)))
        return "".join([self.sequence(inner) for _ in range(count)])


def _from_class(items: Any, rng: random.Random) -> str:
    allowed: set[str] = set()
    negated = False
    for opcode, argument in items:
        name = str(opcode)
        if name == "NEGATE":
            negated = True
        elif name == "LITERAL":
            allowed.add(chr(argument))
        elif name == "RANGE":
            allowed.update(chr(code) for code in range(argument[0], min(argument[1], argument[0] + 255) + 1))
        elif name == "CATEGORY":
            allowed.update(_CATEGORIES.get(str(argument), _PRINTABLE))
    choices = [c for c in _PRINTABLE + " .:/" if c not in allowed] if negated else sorted(allowed)
    return rng.choice(choices or list(_PRINTABLE))
