from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from postroom.pipeline.ranges import (
    LARGEST_RANGE,
    ROWS_OF_RANGE,
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
