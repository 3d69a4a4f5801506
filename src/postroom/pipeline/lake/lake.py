"""The folder that holds all tables of a lake, and what lies in it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import msgspec

from postroom.errors import FileMissing, FolderUnwritable, LakeRefused
from postroom.messages.definitions.definition import CompiledCatalog
from postroom.pipeline.lake.folder_names import id_of
from postroom.pipeline.local_paths import local_path
from postroom.pipeline.worker.table_layout import DEAD_LETTERS, LEDGER

CATALOGS = "_catalogs"
CLAIMS = "_claims"
MANIFESTS = "_manifests"
ENDPOINTS = "_endpoints"


class TableLocation(msgspec.Struct, frozen=True):
    """Where a table of landed messages lies, and its name in SQL: schema (the group or endpoint) and table."""

    folder: str
    schema: str
    name: str


class Lake(msgspec.Struct, frozen=True):
    """A lake on a file system."""

    root: Path

    @property
    def catalogs(self) -> Path:
        """Compiled catalogs by digest."""
        return self.root / CATALOGS

    @property
    def manifests(self) -> Path:
        """Commits in flight."""
        return self.root / MANIFESTS

    @property
    def claims(self) -> Path:
        """Batches that are being sorted."""
        return self.root / CLAIMS

    def path(self, folder: str) -> Path:
        """The folder of a table."""
        return self.root / folder

    def has(self, folder: str) -> bool:
        """Whether there is a Delta table in a folder of the lake."""
        # A process that dies while it makes a table leaves a log without a commit: that is no table yet.
        return any((self.root / folder / "_delta_log").glob("[0-9]*.json"))

    def tables(self) -> Iterator[TableLocation]:
        """All tables of landed messages, in order of their names."""
        yield from self._tables(self.root, "")
        endpoints = self.root / ENDPOINTS
        if endpoints.is_dir():
            yield from self._tables(endpoints, f"{ENDPOINTS}/")

    def _tables(self, base: Path, prefix: str) -> Iterator[TableLocation]:
        for log in sorted(base.glob("[!_]*/*/_delta_log")):
            table, group = log.parent.name, log.parent.parent.name
            if not self.has(f"{prefix}{group}/{table}"):
                continue
            schema = f"endpoints/{id_of(group)}" if prefix else id_of(group)
            yield TableLocation(f"{prefix}{group}/{table}", schema, id_of(table))

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Commit alone: a table does not refuse a batch that another process is adding at the same moment."""
        with (self.manifests / ".lock").open("wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def keep_catalog(self, catalog: CompiledCatalog) -> str:
        """Keep a compiled catalog for workers and for later, under its digest."""
        target = self.catalogs / catalog.digest
        if not target.exists():
            partial = target.with_name(f".{target.name}.{uuid4().hex}")
            partial.write_bytes(catalog.encode())
            partial.replace(target)
        return catalog.digest

    def catalog(self, digest: str) -> CompiledCatalog:
        """A catalog that batches were sorted with."""
        return CompiledCatalog.decode((self.catalogs / digest).read_bytes())


def create_lake(folder: Path | str) -> Lake:
    """The lake in a folder, made if it is not there; refuses a folder that holds something else."""
    lake = Lake(local_path(folder, "a lake"))
    try:
        lake.root.mkdir(parents=True, exist_ok=True)
        if not lake.catalogs.is_dir() and any(lake.root.iterdir()):
            raise LakeRefused(
                "this folder is not empty and not a lake.", place=str(folder), remedy="Name a new or empty folder."
            )
        lake.catalogs.mkdir(exist_ok=True)
        lake.manifests.mkdir(exist_ok=True)
        probe = lake.manifests / f".probe-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except (NotADirectoryError, FileExistsError):
        raise LakeRefused("this is a file; a lake is a folder.", place=str(folder)) from None
    except OSError as error:
        raise FolderUnwritable(f"cannot be written to: {error.strerror}.", place=str(folder)) from None
    return lake


def open_lake(folder: Path | str) -> Lake:
    """A lake that is there already."""
    lake = Lake(local_path(folder, "a lake"))
    if not lake.root.exists():
        raise FileMissing("there is no such folder.", place=str(folder), remedy="`postroom sort` makes a lake.")
    if not lake.catalogs.is_dir():
        raise LakeRefused("this is not a lake.", place=str(folder), remedy="`postroom sort` makes one.")
    return lake


__all__ = ["DEAD_LETTERS", "LEDGER", "Lake", "TableLocation", "create_lake", "open_lake"]
