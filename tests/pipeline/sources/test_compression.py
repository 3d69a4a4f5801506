from __future__ import annotations

import gzip
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from postroom.pipeline.sources.compression import damage_of, is_packed, open_records


def zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as packed:
        packed.write(data)
    return bytes(sink.getvalue().to_pybytes())


PACKERS = [pytest.param(".gz", gzip.compress, id="gzip"), pytest.param(".zst", zstd, id="zstd")]


def content() -> bytes:
    rng = random.Random(5)
    return b"".join(b"%d\n" % rng.getrandbits(64) for _ in range(50_000))


@pytest.mark.parametrize(("suffix", "pack"), PACKERS)
def test_packed_files_are_read_whole_also_in_several_parts(tmp_path: Path, suffix: str, pack: Any) -> None:
    file = tmp_path / f"orders.jsonl{suffix}"
    file.write_bytes(pack(content()) + pack(b"one more\n"))
    with open_records(str(file)) as opened:
        assert opened.read() == content() + b"one more\n"
        assert damage_of(opened) == ""
    assert is_packed(str(file))


@pytest.mark.parametrize(("suffix", "pack"), PACKERS)
def test_a_packed_file_ends_where_its_damage_begins(tmp_path: Path, suffix: str, pack: Any) -> None:
    file = tmp_path / f"orders.jsonl{suffix}"
    packed = pack(content())
    file.write_bytes(packed[: len(packed) * 3 // 4])
    with open_records(str(file)) as opened:
        read = opened.read()
        assert content().startswith(read)
        assert len(read) > len(content()) // 2
        assert damage_of(opened)


@pytest.mark.parametrize(("suffix", "pack"), PACKERS)
def test_what_is_not_packed_at_all_is_damaged_from_the_start(tmp_path: Path, suffix: str, pack: Any) -> None:
    file = tmp_path / f"orders.jsonl{suffix}"
    file.write_bytes(b'{"specversion": "1.0"}\n')
    with open_records(str(file)) as opened:
        assert opened.read() == b""
        assert damage_of(opened)


def test_other_files_are_opened_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "orders.jsonl"
    file.write_bytes(b"{}\n")
    with open_records(str(file)) as opened:
        assert opened.read() == b"{}\n"
        assert damage_of(opened) == ""
