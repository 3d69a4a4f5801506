"""JSON pointers (RFC 6901): how we say where in a document something is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def pointer(steps: Iterable[object]) -> str:
    """The pointer that leads along the steps."""
    texts = ["", *map(str, steps)]
    plain = "/".join(texts)
    # Hardly any step has to be escaped, and there are many pointers.
    if "~" not in plain and plain.count("/") == len(texts) - 1:
        return plain
    return "/".join(text.replace("~", "~0").replace("/", "~1") for text in texts)


def steps_of(text: str) -> list[str]:
    """The steps along which a pointer leads."""
    return [step.replace("~1", "/").replace("~0", "~") for step in text.split("/")[1:]]


def leads(value: object, steps: Sequence[str]) -> bool:
    """Whether there is something at the end of the steps."""
    for step in steps:
        if isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        elif isinstance(value, dict) and step in value:
            value = value[step]
        else:
            return False
    return True
