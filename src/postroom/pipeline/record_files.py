"""Record files: what a source on a file system has to offer."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from postroom.errors import FileMissing
from postroom.pipeline.packing import PACKED

LINES = (".jsonl", ".ndjson", ".json")
SUFFIXES = (*LINES, *(line + packed for line in LINES for packed in PACKED), ".parquet")


def local_path(uri: str) -> str:
    """The path of a `file:` address as Spark writes it: nothing in it is escaped."""
    return "/" + uri.removeprefix("file:").lstrip("/")


def find_files(source: str | Path) -> list[Path]:
    """The record files that a source names: a file, or all record files under a folder, in order."""
    path = Path(source).absolute()
    if not path.exists():
        raise FileMissing("there is no such file or folder.", place=str(source))
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if is_record_file(file.relative_to(path), file))
        if not files:
            raise FileMissing("no record files in this folder.", place=str(source), remedy=_suffix_hint())
    else:
        files = [path]
    check_readable(files)
    return files


def check_readable(files: Iterable[Path]) -> None:
    """Raise for the first file that cannot be read: the batch must wait for it, or it would be lost."""
    for file in files:
        if not os.access(file, os.R_OK):
            raise FileMissing("this file cannot be read.", place=str(file))


def is_record_file(relative: Path, file: Path) -> bool:
    """Whether a file of a folder is one: by its name, and by no hidden folder on the way to it."""
    hidden = any(part.startswith(("_", ".")) for part in relative.parts)
    return not hidden and file.name.lower().endswith(SUFFIXES) and file.is_file()


def _suffix_hint() -> str:
    return f"Record files end with {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}."
