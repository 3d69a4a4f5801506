"""Packed record files: gzip and zstd by their names, and what their damage looks like."""

from __future__ import annotations

import gzip
import io
import zlib
from typing import IO, TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from postroom.pipeline.storage.object_store import ObjectStorage

PACKED = (".gz", ".zst")

# What reading a packed file raises when its content is not what it should be; Arrow says OSError for that.
_DAMAGE = (OSError, EOFError, zlib.error, pa.ArrowException)

# What is unpacked in one go is lost when the damage lies in it.
_PIECE = 64 * 1024


def is_packed(path: str) -> bool:
    """Whether a file can only be read from its beginning."""
    return path.lower().endswith(PACKED)


def open_records(path: str, store: ObjectStorage | None = None) -> IO[bytes]:
    """The bytes of a record file, unpacked; after the last of them `damage_of` says whether there should be more."""
    file: IO[bytes] = open(path, "rb") if store is None else store.reader_of(path)  # noqa: PTH123, SIM115
    return io.BufferedReader(_Unpacked(path, file), _PIECE) if is_packed(path) else file


def damage_of(file: IO[bytes]) -> str:
    """Why a packed file ended too early; empty when it did not."""
    raw = getattr(file, "raw", None)
    return raw.damage if isinstance(raw, _Unpacked) else ""


class _Unpacked(io.RawIOBase):
    """A packed file that ends where its damage begins."""

    def __init__(self, path: str, file: IO[bytes]) -> None:
        self.damage = ""
        self._file = file  # closed with this object
        if path.lower().endswith(".gz"):
            self._read = gzip.GzipFile(fileobj=self._file).read1
        else:
            self._read = pa.CompressedInputStream(self._file, "zstd").read

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # the only kind of buffer it ever gets
        try:
            data = self._read(min(len(buffer), _PIECE))
        except _DAMAGE as error:
            self.damage = str(error).partition("\n")[0].rstrip(".")
            return 0
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()
