from __future__ import annotations

from pathlib import Path

import pytest

from postroom.errors import FileMissing, FolderUnwritable, LakeRefused
from postroom.pipeline.lake.lake import create_lake, open_lake


def test_a_lake_is_made_once_and_opened_again(tmp_path: Path) -> None:
    made = create_lake(tmp_path / "new" / "lake")
    assert create_lake(made.root) == open_lake(made.root) == made


def test_a_folder_with_other_things_is_no_lake(tmp_path: Path) -> None:
    (tmp_path / "holiday.jpg").touch()
    with pytest.raises(LakeRefused, match="not empty"):
        create_lake(tmp_path)
    with pytest.raises(LakeRefused, match="not a lake"):
        open_lake(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["holiday.jpg"]


def test_a_file_is_no_lake(tmp_path: Path) -> None:
    (tmp_path / "lake").touch()
    with pytest.raises(LakeRefused):
        create_lake(tmp_path / "lake")


def test_no_folder_no_lake(tmp_path: Path) -> None:
    with pytest.raises(FileMissing):
        open_lake(tmp_path / "lake")


def test_other_storage_is_refused() -> None:
    with pytest.raises(LakeRefused, match="it is a folder, or an address"):
        create_lake("dbfs:/lake")


def test_folder_that_nobody_can_write_to() -> None:
    with pytest.raises(FolderUnwritable):
        create_lake("/proc/self/lake")
