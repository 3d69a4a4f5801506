"""Functions generated as Python source: the only place that executes code written at run time.

Source consists of names that the generator chose. What comes from a schema or a definition is a constant of the
namespace, a literal (`repr`) or, where it is a plain identifier, an attribute: it can never become code.
"""

from __future__ import annotations

import functools
import keyword
from collections.abc import Iterable
from types import CodeType
from typing import Any


class GeneratedCode:
    """Generated functions and the namespace they share; `filename` stands in their tracebacks."""

    def __init__(self, filename: str, **names: Any) -> None:
        self.names = names
        self._filename = f"<{filename}>"

    def constant(self, value: Any) -> str:
        """Put a value into the namespace and return the name that stands for it in source."""
        name = f"c{len(self.names)}"
        self.names[name] = value
        return name

    def define(self, name: str, lines: Iterable[str]) -> Any:
        """Execute the source of a function and return the function."""
        exec(_compile("\n".join(lines), self._filename), self.names)  # noqa: S102
        return self.names[name]


def attribute(owner: str, name: str) -> str:
    """Return the expression that reads an attribute whose name comes from outside."""
    # A class would mangle names with two underscores, and those like __class__ have a meaning of their own.
    plain = name.isascii() and name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("__")
    return f"{owner}.{name}" if plain else f"getattr({owner}, {name!r})"


@functools.lru_cache(maxsize=1024)
def _compile(source: str, filename: str) -> CodeType:
    # Schemas of equal shape have equal source, as their own names and values are not part of it.
    return compile(source, filename, "exec")
