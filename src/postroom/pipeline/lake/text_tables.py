"""Tables that have times as text, and go on so: what a table began with, its readers count on.

The lake keeps a list of them. A lake without a list was made when all times were text.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from postroom.pipeline.lake.lake import Lake

FILE = "_text_tables.json"


def text_tables(lake: Lake) -> frozenset[str]:
    """The folders of tables that have times as text, without the numbers of their successors."""
    found = _read(lake)
    return _all(lake) if found is None else found


def begin_text_tables(lake: Lake) -> frozenset[str]:
    """The tables with times as text, listed in the lake from now on, so that a batch can be planned."""
    found = _read(lake)
    if found is None:
        found = _all(lake)
        lake.storage.create(FILE, _encoded(found))
    return found


def add_text_tables(lake: Lake, folders: Iterable[str]) -> None:
    """List more tables; for who holds the lake's lock."""
    more = frozenset(map(_base, folders))
    if more:
        lake.storage.write(FILE, _encoded(text_tables(lake) | more))


def _read(lake: Lake) -> frozenset[str] | None:
    try:
        return frozenset(msgspec.json.decode(lake.storage.read(FILE), type=list[str]))
    except FileNotFoundError:
        return None


def _all(lake: Lake) -> frozenset[str]:
    return frozenset(_base(table.folder) for table in lake.tables())


def _base(folder: str) -> str:
    return folder.partition("@")[0]


def _encoded(folders: Iterable[str]) -> bytes:
    return msgspec.json.encode(sorted(folders))
