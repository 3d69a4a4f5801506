"""Tidy a lake again and again beside the stream that fills it."""

from __future__ import annotations

import logging
from collections.abc import Mapping

import msgspec

from postroom.errors import PostroomError
from postroom.pipeline.lake.compaction import tidy
from postroom.pipeline.lake.lake import Lake, Place, find_lake
from postroom.pipeline.monitoring.watcher import Watcher

log = logging.getLogger(__name__)

# Less at a time than by hand: the stream waits for none of it, but shares the processors.
MOST_MB = 1024


class RegularTidy(msgspec.Struct, frozen=True):
    """Brings the small files of a lake together when it is called; a watcher hears of it as of a batch."""

    lake: Place
    storage_options: Mapping[str, str]
    watcher: Watcher | None

    def __call__(self) -> None:
        """Tidy once; what goes wrong is said, and tried again the next time."""
        try:
            found: Lake | None = find_lake(self.lake, self.storage_options)
            entry = tidy(found, most_mb=MOST_MB).entry if found is not None else None
        except (PostroomError, OSError) as error:
            log.warning("the lake could not be tidied: %s", error)
            return
        if entry is not None and self.watcher is not None:
            self.watcher.report(entry)
