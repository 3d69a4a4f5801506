"""The state of links and the origins of units in a file, for targets that cannot keep them."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from postroom.errors import DocumentBroken, FolderUnwritable
from postroom.replication.replicas.origins import UnitOrigin


class _Content(msgspec.Struct, omit_defaults=True):
    """The content of the file."""

    states: dict[str, msgspec.Raw] = {}
    origins: dict[str, UnitOrigin] = {}


class StateFile:
    """States of links and origins of units in one file, replaced as a whole."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._content: _Content | None = None

    @property
    def origins(self) -> dict[str, UnitOrigin]:
        """The origins of all units that came by links."""
        return self._read().origins

    @property
    def states(self) -> dict[str, msgspec.Raw]:
        """The states of all links."""
        return self._read().states

    def save(self) -> None:
        """Write everything down; whoever reads it sees the old content or the new one."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self.path, msgspec.json.format(msgspec.json.encode(self._read()), indent=1))
        except OSError as error:
            raise FolderUnwritable(f"cannot be written to: {error.strerror}.", place=str(self.path)) from None

    def _read(self) -> _Content:
        if self._content is None:
            try:
                self._content = msgspec.json.decode(self.path.read_bytes(), type=_Content)
            except FileNotFoundError:
                self._content = _Content()
            except (OSError, msgspec.DecodeError) as error:
                remedy = "Remove it: the next pull finds out by itself."
                raise DocumentBroken(
                    f"this is no state of links: {error}.", place=str(self.path), remedy=remedy
                ) from None
        return self._content


def write_whole(path: Path, content: bytes) -> None:
    """Replace a file at once, and durably."""
    beside = path.with_name(f".{path.name}.new")
    with beside.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
