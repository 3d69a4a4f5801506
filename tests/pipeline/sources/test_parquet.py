from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from postroom.errors import DocumentBroken
from postroom.pipeline.sources.parquet import read_rows, row_groups
from postroom.pipeline.worker.batch_reader import read_batches


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "records.parquet"
    rows = pa.table({"protocol": ["NATS"] * 10, "payload": [str(n) for n in range(10)], "shelf": [1] * 10})
    pq.write_table(rows, path, row_group_size=4)
    return path


def test_row_groups_are_the_parts_of_a_file(file: Path) -> None:
    found = row_groups(str(file))
    assert [(group.number, group.first, group.rows) for group in found] == [(0, 0, 4), (1, 4, 4), (2, 8, 2)]
    assert all(group.size > 100 for group in found)


def test_a_range_gives_its_rows_with_their_numbers(file: Path) -> None:
    (batch,) = read_rows(str(file), 4, 4)
    assert batch.schema.names == ["source", "position", "protocol", "payload"]
    assert batch.column("position").to_pylist() == [4, 5, 6, 7]
    assert batch.column("payload").to_pylist() == ["4", "5", "6", "7"]


def test_lines_come_from_parquet_as_from_other_files(file: Path) -> None:
    whole = pa.RecordBatch.from_pylist([{"path": str(file), "start": 0, "length": 2**62}])
    (batch,) = read_batches([whole], rows=100, size=10_000)
    assert (batch.sources, batch.positions) == ([str(file)] * 10, list(range(10)))
    ((_, lines),) = batch.slices()
    assert isinstance(lines, list)
    assert lines[3] == b'{"protocol":"NATS","payload":"3"}'


def test_files_without_records_and_damaged_ones_are_said_so(file: Path, tmp_path: Path) -> None:
    pq.write_table(pa.table({"shelf": [1]}), tmp_path / "other.parquet")
    with pytest.raises(DocumentBroken, match="its columns are shelf"):
        row_groups(str(tmp_path / "other.parquet"))
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(DocumentBroken, match="damaged"):
        row_groups(str(file))
    whole = pa.RecordBatch.from_pylist([{"path": str(file), "start": 0, "length": 2**62}])
    (batch,) = read_batches([whole], rows=100, size=10_000)
    ((_, lines),) = batch.slices()
    assert isinstance(lines, list)
    assert b"damaged" in lines[0]


def test_row_groups_without_rows_are_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "records.parquet"
    schema = pa.schema([("value", pa.string())])
    with pq.ParquetWriter(file, schema) as writer:
        for values in (["a"], [], ["b", "c"]):
            writer.write_table(pa.table({"value": values}, schema))
    assert [value for batch in read_rows(str(file), 1, 2) for value in batch.column("value").to_pylist()] == ["b", "c"]
