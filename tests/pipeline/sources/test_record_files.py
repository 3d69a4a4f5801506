from __future__ import annotations

from pathlib import Path

import pytest

from postroom.errors import FileMissing
from postroom.pipeline.sources.record_files import find_files, local_path


def test_a_folder_gives_its_record_files_in_order(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.ndjson", "deep/c.jsonl.gz", "notes.md", "_tmp/d.jsonl", ".e.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert [str(file.relative_to(tmp_path)) for file in find_files(tmp_path)] == [
        "a.ndjson",
        "b.jsonl",
        "deep/c.jsonl.gz",
    ]


def test_a_file_is_taken_whatever_it_is_called(tmp_path: Path) -> None:
    file = tmp_path / "records.log"
    file.touch()
    assert find_files(str(file)) == [file]


def test_what_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(FileMissing, match="no such file"):
        find_files(tmp_path / "nowhere")
    with pytest.raises(FileMissing, match="no record files"):
        find_files(tmp_path)


@pytest.mark.parametrize("uri", ["file:/data/a b.jsonl", "file:///data/a b.jsonl"])
def test_addresses_of_spark_are_paths(uri: str) -> None:
    assert local_path(uri) == "/data/a b.jsonl"
