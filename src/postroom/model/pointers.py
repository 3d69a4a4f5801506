"""JSON pointers (RFC 6901): how we say where in a document something is."""

from __future__ import annotations

from collections.abc import Iterable


def pointer(steps: Iterable[object]) -> str:
    """The pointer that leads along the steps."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)
