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
    try:
        return frozenset(msgspec.json.decode(lake.storage.read(FILE), type=list[str]))
    except FileNotFoundError:
        return frozenset(_base(table.folder) for table in lake.tables())


def begin_text_tables(lake: Lake) -> frozenset[str]:
    """The same before a batch: from now on the lake has a list."""
    found = text_tables(lake)
    if not lake.storage.exists(FILE):
        lake.storage.create(FILE, _encoded(found))
    return found


def add_text_tables(lake: Lake, folders: Iterable[str]) -> None:
    """List more tables; for who holds the lake's lock."""
    present = text_tables(lake)
    wanted = present | {_base(folder) for folder in folders}
    if wanted != present:
        lake.storage.write(FILE, _encoded(wanted))


def _base(folder: str) -> str:
    return folder.partition("@")[0]


def _encoded(folders: Iterable[str]) -> bytes:
    return msgspec.json.encode(sorted(folders))
