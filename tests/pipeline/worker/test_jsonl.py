from __future__ import annotations

import gzip
import itertools
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.pipeline.sources.file_ranges import WHOLE_FILE
from postroom.pipeline.worker.jsonl import LineChunk, line_chunk, read_lines


def lines_in(path: Path, start: int, length: int) -> list[tuple[int, bytes]]:
    """Positions and bytes of the lines that begin in a range."""
    chunks = read_lines(str(path), start, length)
    return [line for chunk in chunks for line in zip(chunk.positions, chunk.records, strict=True)]


def test_a_line_is_known_by_the_byte_it_begins_at(tmp_path: Path) -> None:
    file = tmp_path / "orders.jsonl"
    file.write_bytes(b'{"a": 1}\n\n   \r\n{"b": 2}\r\n{"c": 3}')
    assert lines_in(file, 0, 1000) == [
        (0, b'{"a": 1}'),
        (15, b'{"b": 2}\r'),
        (25, b'{"c": 3}'),
    ]


@given(
    content=st.lists(st.sampled_from([b"", b"x", b"\r", b"order", b"\n", b"vehicle" * 3]), max_size=30).map(b"\n".join),
    cuts=st.sets(st.integers(0, 200), max_size=6),
)
def test_how_a_file_is_cut_makes_no_difference(
    content: bytes, cuts: set[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("cut") / "records.jsonl"
    file.write_bytes(content)
    whole = lines_in(file, 0, len(content))
    edges = sorted({0, len(content), *(cut for cut in cuts if cut < len(content))})
    pieces = [line for start, end in itertools.pairwise(edges) for line in lines_in(file, start, end - start)]
    assert pieces == whole
    assert all(content[position : position + len(record)] == record for position, record in whole)


def test_lines_longer_than_a_chunk_stay_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postroom.pipeline.worker.jsonl.CHUNK", 8)
    file = tmp_path / "records.jsonl"
    records = [b"a" * 100, b"b", b"c" * 7, b"d" * 8, b"e" * 9]
    file.write_bytes(b"\n".join(records) + b"\n")
    assert [record for _, record in lines_in(file, 0, 1000)] == records


def test_gzip_is_read_from_the_beginning(tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl.gz"
    file.write_bytes(gzip.compress(b"one\ntwo\n"))
    assert lines_in(file, 0, WHOLE_FILE) == [(0, b"one"), (4, b"two")]


def test_what_lies_before_the_damage_of_a_gzip_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl.gz"
    file.write_bytes(gzip.compress(b"one\n" * 1000)[:-6])
    *good, (position, record) = lines_in(file, 0, WHOLE_FILE)
    assert [line for _, line in good] == [b"one"] * 1000
    assert position == 4000
    assert record.startswith(b"the rest of this file is damaged: ")


def test_rows_that_are_records_keep_their_coordinates() -> None:
    batch = pa.record_batch({"source": ["kafka/orders/0"], "position": [7], "value": ["{}"]})
    assert line_chunk(batch) == LineChunk(["kafka/orders/0"], [7], [b"{}"])
