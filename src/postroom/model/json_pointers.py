"""JSON pointers (RFC 6901)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def pointer(steps: Iterable[object]) -> str:
    """Build a pointer from its unescaped steps."""
    strings = ["", *map(str, steps)]
    plain = "/".join(strings)
    # Hardly any step has to be escaped, and there are many pointers.
    if "~" not in plain and plain.count("/") == len(strings) - 1:
        return plain
    return "/".join(step.replace("~", "~0").replace("/", "~1") for step in strings)


def steps_of(pointer: str) -> list[str]:
    """The unescaped steps of a pointer."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def leads(value: object, steps: Sequence[str]) -> bool:
    """Whether the steps lead to a value, which may be null."""
    for step in steps:
        if isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        elif isinstance(value, dict) and step in value:
            value = value[step]
        else:
            return False
    return True
