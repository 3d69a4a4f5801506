from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from postroom.catalog.open_store import open_store
from postroom.errors import FileMissing, FolderUnwritable, PostroomError, SourceUnknown, StoreUnusable
from postroom.store.migrations import LATEST

pytestmark = pytest.mark.sqlite


@pytest.mark.parametrize(
    ("url", "error", "words"),
    [
        ("postgresql://ovens:secret@127.0.0.1:1/registry", StoreUnusable, "cannot be used"),
        ("mysql://db/registry", SourceUnknown, "sqlite:///path.db"),
        ("sqlite://registry.db", SourceUnknown, "sqlite:///path.db"),
        ("sqlite:///", SourceUnknown, "sqlite:///path.db"),
        ("", SourceUnknown, "sqlite:///path.db"),
    ],
)
def test_urls_that_are_no_store(url: str, error: type[PostroomError], words: str) -> None:
    with pytest.raises(error, match=words):
        open_store(url)


def test_relative_and_absolute_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    open_store("sqlite:///relative.db").close()
    open_store(f"sqlite:///{tmp_path}/deep/absolute.db").close()
    assert (tmp_path / "relative.db").exists()
    assert (tmp_path / "deep" / "absolute.db").exists()


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "poem.db"
    path.write_text("Roses are red, and this is no database at all. " * 40)
    with pytest.raises(StoreUnusable, match="not a database"):
        open_store(f"sqlite:///{path}")
    assert path.read_text().startswith("Roses")


def test_a_database_of_a_newer_postroom(tmp_path: Path) -> None:
    path = tmp_path / "newer.db"
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {LATEST + 1}")
    with pytest.raises(StoreUnusable, match="newer Postroom"):
        open_store(f"sqlite:///{path}")


def test_a_folder_that_cannot_be_written() -> None:
    # Nobody may write there, not even root.
    with pytest.raises(FolderUnwritable):
        open_store("sqlite:////proc/self/registry.db")


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FolderUnwritable):
        open_store(f"sqlite:///{tmp_path}/file/registry.db")


def test_reading_makes_no_database(tmp_path: Path) -> None:
    with pytest.raises(FileMissing):
        open_store(f"sqlite:///{tmp_path}/registry.db", create=False)
    assert not (tmp_path / "registry.db").exists()


def test_the_model_is_given_to_new_stores_only(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/registry.db"
    open_store(url, model="none").close()
    with open_store(url, model="messaging") as store, store.read() as tx:
        assert tx.model().groups == {}


def test_a_store_can_be_opened_and_read_while_somebody_writes(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/registry.db"
    with (
        open_store(url) as held,
        held.write(),
        open_store(url, create=False, write_wait_s=0.1) as store,
        store.read() as tx,
    ):
        assert tx.entity("/") is not None
