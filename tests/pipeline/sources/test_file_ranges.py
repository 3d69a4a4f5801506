from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from postroom.pipeline.sources.file_ranges import (
    LARGEST_RANGE,
    SMALLEST_RANGE,
    WHOLE_FILE,
    Range,
    cut_ranges,
    share_out,
)


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
    cut, _ = cut_ranges([file], parallelism)
    assert len(cut) == ranges
    assert sum(part.length for part in cut) == size
    assert [part.start for part in cut[1:]] == [part.start + part.length for part in cut[:-1]]


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_packed_files_are_never_cut(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"records.jsonl{suffix}"
    file.write_bytes(b"x")
    ((part,), _) = cut_ranges([file], 8)
    assert (part.start, part.length) == (0, WHOLE_FILE)


def write_parquet(file: Path, rows: int, group: int) -> Path:
    values = [f"{number:>100}" for number in range(rows)]
    pq.write_table(pa.table({"value": values}), file, row_group_size=group, use_dictionary=False)
    return file


@pytest.mark.parametrize(("parallelism", "ranges"), [(1, 1), (2, 2), (1000, 4)])
def test_parquet_is_cut_between_row_groups(tmp_path: Path, parallelism: int, ranges: int) -> None:
    file = write_parquet(tmp_path / "records.parquet", 80_000, 20_000)  # of 2 MB each, more than the smallest range
    cut, _ = cut_ranges([file], parallelism)
    assert len(cut) == ranges
    assert [part.start % 20_000 for part in cut] == [0] * ranges
    assert sum(part.length for part in cut) == 80_000
    assert [part.start for part in cut[1:]] == [part.start + part.length for part in cut[:-1]]


def test_parquet_files_share_tasks_by_their_weight(tmp_path: Path) -> None:
    files = [write_parquet(tmp_path / f"{n}.parquet", 20_000, 5_000) for n in range(4)]
    tasks = share_out(*cut_ranges(files, 2))
    assert [[Path(part.path).name for part in task] for task in tasks] == [
        ["0.parquet", "1.parquet"],
        ["2.parquet", "3.parquet"],
    ]


def test_parquet_without_rows_has_no_range_and_a_broken_one_is_left_to_its_task(tmp_path: Path) -> None:
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1")
    assert cut_ranges([write_parquet(tmp_path / "empty.parquet", 0, 10)], 2)[0] == []
    ((part,), _) = cut_ranges([broken], 2)
    assert part.length == WHOLE_FILE


def test_small_ranges_share_a_task() -> None:
    small = [Range(f"{n}.jsonl", 0, 40, 40) for n in range(5)]
    packed = Range("p.jsonl.gz", 0, WHOLE_FILE, 90)
    assert share_out([*small, packed], 100) == [small[:2], small[2:4], small[4:], [packed]]
    assert share_out([], 100) == []


def test_files_of_almost_the_same_size_make_no_task_more_than_there_are_cores(tmp_path: Path) -> None:
    files = [tmp_path / f"{n}.jsonl" for n in range(4)]
    for number, file in enumerate(files):
        with file.open("wb") as sparse:
            sparse.truncate(8 * SMALLEST_RANGE - 1000 * number)
    assert [len(task) for task in share_out(*cut_ranges(files, 2))] == [2, 2]


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.parquet"])
def test_an_empty_file_is_left_to_a_task_as_well(tmp_path: Path, name: str) -> None:
    empty, full = tmp_path / name, tmp_path / "b.jsonl"
    empty.touch()
    full.write_bytes(b"{}")
    for files in ([empty], [empty, full]):
        (task,) = share_out(*cut_ranges(files, 2))
        assert [part.path for part in task] == [str(file) for file in files]
