"""Aliases of tables: names that every metastore takes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from postroom.pipeline.lake.lake import Lake, TableLocation

LONGEST = 63
_DIGEST = 8


def plain_alias(folder: str) -> str:
    """A folder of the lake as a name of lower-case letters, digits and `_`, between group and message a double one."""
    return _bounded("__".join(map(_word, folder.strip("_").split("/"))), folder)


def aliases(lake: Lake, tables: Iterable[TableLocation]) -> dict[str, str]:
    """The alias of each table, by folder. Of two tables that would share one, the one that was made later has a digest
    at its end, so that a table keeps its alias for ever."""
    by_alias: dict[str, list[str]] = {}
    for table in tables:
        by_alias.setdefault(plain_alias(table.folder), []).append(table.folder)
    found: dict[str, str] = {}
    for alias, folders in by_alias.items():
        first, *others = sorted(folders, key=lambda folder: (_made(lake, folder), folder)) if folders[1:] else folders
        found |= {first: alias, **{folder: _with_digest(alias, folder) for folder in others}}
    return found


def _word(part: str) -> str:
    word = re.sub(r"_+", "_", re.sub(r"[^a-z0-9]", "_", part.lower())).strip("_") or "x"
    return f"t{word}" if word[0].isdigit() else word


def _bounded(alias: str, folder: str) -> str:
    return alias if len(alias) <= LONGEST else _with_digest(alias, folder)


def _with_digest(alias: str, folder: str) -> str:
    digest = hashlib.sha256(folder.encode()).hexdigest()[:_DIGEST]
    return f"{alias[: LONGEST - _DIGEST - 1].rstrip('_')}_{digest}"


def _made(lake: Lake, folder: str) -> int:
    return lake.table(folder).metadata().created_time or 0
