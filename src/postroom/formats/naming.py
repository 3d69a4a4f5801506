"""Column names: one reversible rule for names that tables do not allow.

A character that Delta forbids in column names, and `~` itself, become `~XX` (hex); an empty name is `~`; a name that
differs from an earlier one only by case gets `~~2`, `~~3`, …
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_FORBIDDEN = re.compile(r"[ ,;{}()\n\t=~]")


def column_names(sources: Iterable[str]) -> list[str]:
    """The column name of each member, in order."""
    used: set[str] = set()
    names: list[str] = []
    for source in sources:
        plain = _FORBIDDEN.sub(lambda found: f"~{ord(found[0]):02X}", source) or "~"
        name, count = plain, 1
        while name.lower() in used:
            count += 1
            name = f"{plain}~~{count}"
        used.add(name.lower())
        names.append(name)
    return names


def source_name(column: str) -> str:
    """The member a column name stands for."""
    plain = column.partition("~~")[0]
    if plain == "~":
        return ""
    return re.sub(r"~([0-9A-F]{2})", lambda found: chr(int(found[1], 16)), plain)
