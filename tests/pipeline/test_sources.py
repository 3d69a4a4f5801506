from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from postroom.errors import FileMissing, SourceUnknown
from postroom.pipeline.sources import (
    LARGEST_RANGE,
    ROWS_OF_RANGE,
    SMALLEST_RANGE,
    WHOLE_FILE,
    Range,
    cut_ranges,
    find_files,
    local_path,
    open_source,
    share_out,
)


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
    with pytest.raises(SourceUnknown, match="cannot be read from ftp"):
        open_source("ftp://host/orders")


def test_a_followed_folder_may_be_empty_yet(tmp_path: Path) -> None:
    source = open_source(tmp_path)
    source.check(follow=True)
    with pytest.raises(FileMissing, match="no record files"):
        source.check(follow=False)
    with pytest.raises(FileMissing, match="no such file"):
        open_source(tmp_path / "nowhere").check(follow=True)


@pytest.mark.parametrize("uri", ["file:/data/a b.jsonl", "file:///data/a b.jsonl"])
def test_addresses_of_spark_are_paths(uri: str) -> None:
    assert local_path(uri) == "/data/a b.jsonl"


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


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_packed_files_are_never_cut(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"records.jsonl{suffix}"
    file.write_bytes(b"x")
    assert cut_ranges([file], 8) == [Range(str(file), 0, WHOLE_FILE)]


def test_parquet_is_cut_between_row_groups(tmp_path: Path) -> None:
    file = tmp_path / "records.parquet"
    rows = ROWS_OF_RANGE * 2 + 1
    pq.write_table(pa.table({"value": pa.array(["{}"] * rows)}), file, row_group_size=ROWS_OF_RANGE // 2)
    assert cut_ranges([file], 8) == [
        Range(str(file), 0, ROWS_OF_RANGE),
        Range(str(file), ROWS_OF_RANGE, ROWS_OF_RANGE),
        Range(str(file), 2 * ROWS_OF_RANGE, 1),
    ]


def test_small_ranges_share_a_task() -> None:
    small = [Range(f"{n}.jsonl", 0, 40) for n in range(5)]
    packed = Range("p.jsonl.gz", 0, WHOLE_FILE)
    assert share_out([*small, packed], 100) == [small[:2], small[2:4], small[4:], [packed]]
    assert share_out([], 100) == []
