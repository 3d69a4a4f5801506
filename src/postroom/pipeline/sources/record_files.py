"""Record files: what a source on a file system has to offer."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from postroom.errors import FileMissing, LakeRefused
from postroom.pipeline.sources.compression import PACKED

LINES = (".jsonl", ".ndjson", ".json")
SUFFIXES = (*LINES, *(line + packed for line in LINES for packed in PACKED), ".parquet")
HIDDEN = ("_", ".")


def local_path(uri: str) -> str:
    """The path of a `file:` address as Spark writes it: nothing in it is escaped."""
    return "/" + uri.removeprefix("file:").lstrip("/")


def find_files(source: str | Path) -> list[Path]:
    """The record files that a source names: a file, or all record files under a folder, in order."""
    path = Path(source).absolute()
    if not path.exists():
        raise FileMissing("there is no such file or folder.", place=str(source))
    if path.is_dir():
        files = sorted(map(Path, record_files(path)))
        if not files:
            raise FileMissing("no record files in this folder.", place=str(source), remedy=suffix_hint())
    else:
        files = [path]
    check_readable(files)
    return files


def record_files(path: Path) -> Iterator[str]:
    """The paths of all record files under a folder, in no order; for a file that file."""
    if not path.is_dir():
        yield str(path)
        return
    folders = [str(path)]
    while folders:
        for entry in _entries(folders.pop()):
            if entry.name.startswith(HIDDEN):
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            elif has_suffix(entry.name) and entry.is_file():
                yield entry.path


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except FileNotFoundError:
        # Somebody tidies up while we look.
        return []
    except PermissionError:
        raise FileMissing("this folder cannot be read.", place=folder) from None


def check_readable(files: Iterable[Path]) -> None:
    """Raise for the first file that cannot be read: the batch must wait for it, or it would be lost."""
    for file in files:
        if not os.access(file, os.R_OK):
            raise FileMissing("this file cannot be read.", place=str(file))


def is_record_file(relative: Path, file: Path) -> bool:
    """Whether a file of a folder is one: by its name, and by no hidden folder on the way to it."""
    hidden = any(part.startswith(HIDDEN) for part in relative.parts)
    return not hidden and has_suffix(file.name) and file.is_file()


def has_suffix(name: str) -> bool:
    """Whether a file is a record file by its name."""
    return name.lower().endswith(SUFFIXES)


def cannot_rebind(other: str, name: str) -> LakeRefused:
    """A checkpoint of files names them in full: those of another place are other files to it."""
    return LakeRefused(
        f"a checkpoint of files in {other} does not know those in {name}.",
        remedy="Leave the files where they were, or name a checkpoint of its own.",
    )


def suffix_hint() -> str:
    """How record files are called."""
    return f"Record files end with {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}."
