"""The garbage collector, paused where millions of small objects live and hardly any is part of a cycle."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

THRESHOLDS = (50_000, 10, 100)
"""How many objects are made between two looks at the young ones, and how many of those come before a wider look.

A wide look holds up all threads for as long as there are objects: Python's own numbers make it after every 70,000.
"""


def collect_rarely() -> None:
    """Let the collector forget what a service has loaded at its start, and look at the rest less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Work without the collector, which would only walk the same live objects again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
