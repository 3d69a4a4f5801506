"""Grants in a file that is reviewed: read at the start, and again whenever it changes."""

from __future__ import annotations

import logging
import time
from pathlib import Path

import yaml

from postroom.access.grants import Grant, parse_grants
from postroom.errors import AccessRefused

LOG = logging.getLogger(__name__)
LONGEST = 1024 * 1024
LOOK_SECONDS = 1.0


class AccessFile:
    """The file that the setting access_file names. A broken one at the start is an error, and later on a loud log."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._next_look = 0.0
        self._seen = self._stamp()
        self.grants = self._read()

    def changed(self) -> bool:
        """Whether there are other grants than before; looks at most once a second."""
        now = time.monotonic()
        if now < self._next_look:
            return False
        self._next_look = now + LOOK_SECONDS
        stamp = self._stamp()
        if stamp == self._seen:
            return False
        self._seen = stamp
        try:
            self.grants = self._read()
        except AccessRefused as refused:
            LOG.error("%s The grants from before stay in force.", refused)  # noqa: TRY400  # a sentence, no traceback
            return False
        LOG.warning("%s: read again, %d grants", self._path, len(self.grants))
        return True

    def _stamp(self) -> tuple[int, int, int]:
        try:
            found = self._path.stat()
        except OSError:
            return (0, 0, 0)
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _read(self) -> list[Grant]:
        place = str(self._path)
        try:
            text = self._path.read_bytes()
            document = yaml.safe_load(text) if len(text) <= LONGEST else None
        except OSError as error:
            raise AccessRefused(f"cannot be read: {error.strerror}.", place=place) from None
        except (yaml.YAMLError, UnicodeDecodeError, RecursionError):
            raise AccessRefused("this is not YAML.", place=place) from None
        if not isinstance(document, dict) or document.keys() != {"grants"}:
            raise AccessRefused(
                "this is no file of grants.", place=place, remedy="It begins with `grants:` and a list."
            )
        return parse_grants(document["grants"] or [], place)
