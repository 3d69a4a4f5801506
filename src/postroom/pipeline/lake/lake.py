"""A lake: the place that holds all its tables, and what lies in it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Union

import msgspec

from postroom.errors import FileMissing, FolderUnwritable, LakeRefused
from postroom.messages.definitions.definition import CompiledCatalog
from postroom.pipeline.lake.folder_names import id_of
from postroom.pipeline.storage.errors import telling_errors
from postroom.pipeline.storage.interface import Lock, Storage
from postroom.pipeline.storage.open_storage import open_storage
from postroom.pipeline.worker.table_layout import DEAD_LETTERS, LEDGER

if TYPE_CHECKING:
    from deltalake import DeltaTable

CATALOGS = "_catalogs"
CLAIMS = "_claims"
MANIFESTS = "_manifests"
ENDPOINTS = "_endpoints"


# What people name a lake by; who has opened it already gives the lake itself.
Place = Union[str, Path, "Lake"]


class TableLocation(msgspec.Struct, frozen=True):
    """Where a table of landed messages lies, and its name in SQL: schema (the group or endpoint) and table."""

    folder: str
    schema: str
    name: str


class Lake(msgspec.Struct, frozen=True):
    """A lake, in a folder or in an object store."""

    storage: Storage

    @property
    def url(self) -> str:
        """Where it lies: a path or an address."""
        return self.storage.url

    @property
    def root(self) -> Path:
        """The folder of a lake on a file system."""
        if self.storage.folder is None:
            raise LakeRefused("this lake is not in a folder.", place=self.url)
        return self.storage.folder

    def path(self, folder: str) -> Path:
        """The folder of a table of a lake on a file system."""
        return self.root / folder

    def table(self, folder: str) -> DeltaTable:
        """A table as it is now; raises FileNotFoundError where there is none."""
        from deltalake import DeltaTable
        from deltalake.exceptions import TableNotFoundError

        url, options = self.storage.delta(folder)
        with telling_errors(f"{self.url}/{folder}"):
            try:
                return DeltaTable(url, storage_options=options)
            except TableNotFoundError:
                raise FileNotFoundError(f"{self.url}/{folder}") from None

    def has(self, folder: str) -> bool:
        """Whether there is a Delta table in a folder of the lake."""
        # A process that dies while it makes a table leaves a log without a commit: that is no table yet.
        return any(name[0].isdigit() and name.endswith(".json") for name in self.storage.names(f"{folder}/_delta_log"))

    def tables(self) -> Iterator[TableLocation]:
        """All tables of landed messages, in order of their names."""
        yield from self._tables("")
        yield from self._tables(f"{ENDPOINTS}/")

    def folders(self) -> Iterator[str]:
        """The folders where tables of landed messages are, or may come to be."""
        for prefix in ("", f"{ENDPOINTS}/"):
            yield from (f"{prefix}{group}/{table}" for group, table in self._folders(prefix))

    def _folders(self, prefix: str) -> list[tuple[str, str]]:
        groups = [group for group in self.storage.folders(prefix.rstrip("/")) if not group.startswith("_")]
        found = self.storage.map(lambda group: self.storage.folders(f"{prefix}{group}"), groups)
        return [(group, table) for group, tables in zip(groups, found, strict=True) for table in tables]

    def _tables(self, prefix: str) -> Iterator[TableLocation]:
        folders = self._folders(prefix)
        # As paths are ordered, with a slash between their parts.
        folders.sort()
        there = self.storage.map(lambda parts: self.has(f"{prefix}{parts[0]}/{parts[1]}"), folders)
        for (group, table), is_there in zip(folders, there, strict=True):
            if is_there:
                schema = f"endpoints/{id_of(group)}" if prefix else id_of(group)
                yield TableLocation(f"{prefix}{group}/{table}", schema, id_of(table))

    def lock(self) -> AbstractContextManager[Lock]:
        """Commit alone: a table does not refuse a batch that another process is adding at the same moment."""
        return self.storage.lock(f"{MANIFESTS}/.lock")

    def keep_catalog(self, catalog: CompiledCatalog) -> str:
        """Keep a compiled catalog for workers and for later, under its digest."""
        path = f"{CATALOGS}/{catalog.digest}"
        if not self.storage.exists(path):
            self.storage.write(path, catalog.encode())
        return catalog.digest

    def catalog(self, digest: str) -> CompiledCatalog:
        """A catalog that batches were sorted with."""
        return CompiledCatalog.decode(self.storage.read(f"{CATALOGS}/{digest}"))


def create_lake(place: Place, options: Mapping[str, str] | None = None) -> Lake:
    """The lake at a place, made if it is not there; refuses a place that holds something else."""
    if isinstance(place, Lake):
        return place
    lake = Lake(open_storage(place, "a lake", options))
    if lake.storage.folder is None:
        _check_store(lake, str(place))
        return lake
    try:
        lake.root.mkdir(parents=True, exist_ok=True)
        if not (lake.root / CATALOGS).is_dir() and any(lake.root.iterdir()):
            raise LakeRefused(
                "this folder is not empty and not a lake.", place=str(place), remedy="Name a new or empty folder."
            )
        (lake.root / CATALOGS).mkdir(exist_ok=True)
        (lake.root / MANIFESTS).mkdir(exist_ok=True)
        probe = lake.root / MANIFESTS / f".probe-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except (NotADirectoryError, FileExistsError):
        raise LakeRefused("this is a file; a lake is a folder.", place=str(place)) from None
    except OSError as error:
        raise FolderUnwritable(f"cannot be written to: {error.strerror}.", place=str(place)) from None
    return lake


def _check_store(lake: Lake, place: str, *, is_made: bool = True) -> None:
    """Raise unless a lake can be where an object store shall have one."""
    from postroom.pipeline.storage.object_store import ObjectStorage

    store = lake.storage
    if not _is_lake(store) and (store.folders("") or any(not name.startswith(".") for name in store.names(""))):
        raise LakeRefused(
            "there are objects in this place, but it is not a lake.", place=place, remedy="Name an empty prefix."
        )
    if is_made and isinstance(store, ObjectStorage):
        store.check_conditions(MANIFESTS)


def open_lake(place: Place, options: Mapping[str, str] | None = None) -> Lake:
    """A lake that is there already."""
    if isinstance(place, Lake):
        return place
    lake = Lake(open_storage(place, "a lake", options))
    folder = lake.storage.folder
    if folder is not None and not folder.exists():
        raise FileMissing("there is no such folder.", place=str(place), remedy="`postroom sort` makes a lake.")
    if not _is_lake(lake.storage):
        raise LakeRefused("this is not a lake.", place=str(place), remedy="`postroom sort` makes one.")
    return lake


def find_lake(place: Place, options: Mapping[str, str] | None = None) -> Lake | None:
    """The lake at a place, or None where there is nothing yet; refuses a place that holds something else."""
    if isinstance(place, Lake):
        return place
    lake = Lake(open_storage(place, "a lake", options))
    if _is_lake(lake.storage):
        return lake
    folder = lake.storage.folder
    if folder is None:
        _check_store(lake, str(place), is_made=False)
    elif folder.is_file():
        raise LakeRefused("this is a file; a lake is a folder.", place=str(place))
    elif folder.exists() and any(folder.iterdir()):
        raise LakeRefused(
            "this folder is not empty and not a lake.", place=str(place), remedy="Name a new or empty folder."
        )
    return None


def _is_lake(storage: Storage) -> bool:
    """A folder has one for catalogs from the beginning, a store as soon as there is one in it."""
    if storage.folder is not None:
        return (storage.folder / CATALOGS).is_dir()
    return any(True for _ in storage.names(CATALOGS))


__all__ = ["DEAD_LETTERS", "LEDGER", "Lake", "TableLocation", "create_lake", "open_lake"]
