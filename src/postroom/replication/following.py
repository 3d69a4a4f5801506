"""Keeping a copy up to date: by looking again and again, or by what the source's change log says."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress

from postroom.errors import MissingSystem
from postroom.replication.links import Link
from postroom.replication.pulling import Pull, Report
from postroom.replication.sides.side import Source, Target


def pull_every(
    source: Source, target: Target, link: Link, seconds: float, sleep: Callable[[float], None] = time.sleep
) -> Iterator[Report]:
    """Pull again and again. A source that is away is waited for."""
    while True:
        with suppress(MissingSystem):
            yield Pull(source, target, link).by_difference()
        sleep(seconds)
