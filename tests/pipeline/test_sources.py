from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from postroom.errors import FileMissing, SourceUnknown
from postroom.pipeline.sources import LARGEST_RANGE, SMALLEST_RANGE, WHOLE_FILE, Range, cut_ranges, find_files


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


def test_sources_of_other_kinds_are_refused() -> None:
    with pytest.raises(SourceUnknown):
        find_files("kafka://broker:9092/orders")


@pytest.mark.parametrize(
    ("size", "parallelism", "ranges"),
    [
        (0, 2, 0),
        (10, 2, 1),
        (3 * SMALLEST_RANGE, 2, 2),
        (10 * LARGEST_RANGE, 2, 10),
    ],
)
def test_ranges_cover_a_file_without_gap(tmp_path: Path, size: int, parallelism: int, ranges: int) -> None:
    file = tmp_path / "records.jsonl"
    with file.open("wb") as sparse:
        sparse.truncate(size)
    cut = cut_ranges([file], parallelism)
    assert len(cut) == ranges
    assert sum(part.length for part in cut) == size
    assert [part.start for part in cut[1:]] == [part.start + part.length for part in cut[:-1]]


def test_gzip_is_never_cut(tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl.gz"
    file.write_bytes(gzip.compress(b"x"))
    assert cut_ranges([file], 8) == [Range(str(file), 0, WHOLE_FILE)]
