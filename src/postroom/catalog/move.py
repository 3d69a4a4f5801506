"""Whole registries from one place to another: moved between databases, backed up into files, restored from them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from postroom.catalog.open_store import SQLITE, connect_store, open_store
from postroom.errors import PostroomError, StoreChanged
from postroom.settings import Settings
from postroom.store import backup, copy_rows
from postroom.store.copy_rows import Contents
from postroom.store.interface import Store
from postroom.urls import masked

_BESIDE = ("", "-wal", "-shm")


def move(source: str, target: str, settings: Settings) -> Contents:
    """Move the registry of one store into another one, which has none yet; the first one stays as it is."""
    with (
        open_store(source, create=False, write_wait_s=settings.write_wait_s) as here,
        _blamed(source, target),
        _new_store(target, settings) as there,
    ):
        return copy_rows.move_registry(here, there)


def back_up(source: str, path: Path, settings: Settings, *, replaces: bool = False) -> Contents:
    """Write the registry of a store into a file."""
    with open_store(source, create=False, write_wait_s=settings.write_wait_s) as store:
        return backup.back_up(store, path, replaces=replaces)


def restore(path: Path, target: str, settings: Settings, *, replaces: bool = False) -> Contents:
    """Bring the registry of a backup into a store."""
    with _blamed(str(path), target), _new_store(target, settings) as there:
        return backup.restore(path, there, replaces=replaces)


@contextmanager
def _new_store(url: str, settings: Settings) -> Iterator[Store]:
    """A store that may be empty. A file that was made for it goes again when the block fails."""
    path = Path(url.removeprefix(SQLITE)) if url.startswith(SQLITE) else None
    is_new = path is not None and not path.exists()
    try:
        with connect_store(url, write_wait_s=settings.write_wait_s) as store:
            yield store
    except BaseException:
        if path is not None and is_new:
            for suffix in _BESIDE:
                path.with_name(path.name + suffix).unlink(missing_ok=True)
        raise


@contextmanager
def _blamed(source: str, target: str) -> Iterator[None]:
    """Say which of the two registries an error is about, where it does not say so itself."""
    try:
        yield
    except PostroomError as error:
        if not error.place:
            error.place = masked(source if isinstance(error, StoreChanged) else target)
        raise
