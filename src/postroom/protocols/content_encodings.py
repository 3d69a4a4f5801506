"""Content encodings: payloads as they are packed for the way, and as they are judged."""

from __future__ import annotations

import gzip
import importlib
import io
import zlib
from collections.abc import Callable
from typing import Any

from postroom.protocols.protocol import Wire

LIMIT = 64_000_000
"""The most bytes that a payload may have when it is unpacked, where nobody says another limit."""
_MOST_CODINGS = 4
# Many clients write the character set there, and so does the AMQP example of message definitions 0.5.
_NO_CODINGS = frozenset(("", "identity", "utf-8", "us-ascii"))

Unpack = Callable[[bytes, int], bytes]


class EncodingFault(ValueError):
    """Why a payload cannot be unpacked, as the code, the expectation and the finding of a reason."""

    def __init__(self, code: str, expected: str, found: str) -> None:
        super().__init__(found)
        self.code = code
        self.expected = expected
        self.found = found


def codings(stated: str) -> list[str]:
    """The encodings that were applied, in their order; `identity` is none, nor is the name of a character set."""
    names = (name.strip().lower().removeprefix("x-") for name in stated.split(","))
    return [name for name in names if name not in _NO_CODINGS]


def unpack(payload: bytes, stated: str, limit: int = LIMIT) -> bytes:
    """A payload without its content encodings; EncodingFault for what is unknown, broken or too large."""
    names = codings(stated)
    if len(names) > _MOST_CODINGS:
        raise EncodingFault("content_encoding_unknown", f"at most {_MOST_CODINGS} encodings", f"{len(names)} of them")
    for name in reversed(names):
        payload = _unpacker(name)(payload, limit)
    return payload


def pack(payload: bytes, stated: str) -> bytes:
    """A payload with content encodings, always the same bytes for the same payload; EncodingFault for unknown ones."""
    for name in codings(stated):
        payload = _packer(name)(payload)
    return payload


def packed_for(wire: Wire, metadata: dict[str, Any], payload: bytes) -> bytes:
    """A payload as the metadata of its message announce it; as it is where they name an encoding that nobody knows."""
    stated = wire.content_encoding(metadata)
    if not stated or not payload:
        return payload
    try:
        return pack(payload, stated)
    except EncodingFault:
        return payload


def _unpacker(name: str) -> Unpack:
    if name == "gzip":
        return _gunzip
    if name == "deflate":
        return _inflate
    arrow = _arrow(name)

    def read(payload: bytes, limit: int) -> bytes:
        try:
            found: bytes = arrow.CompressedInputStream(arrow.BufferReader(payload), _ARROW_NAMES[name]).read(limit + 1)
        except OSError as error:
            raise _broken(name, str(error)) from None
        return _within(found, limit)

    return read


def _packer(name: str) -> Callable[[bytes], bytes]:
    if name == "gzip":
        return lambda payload: gzip.compress(payload, mtime=0)
    if name == "deflate":
        return zlib.compress
    arrow = _arrow(name)
    return lambda payload: arrow.compress(payload, codec=_ARROW_NAMES[name], asbytes=True)


_ARROW_NAMES = {"zstd": "zstd", "br": "brotli"}


def _arrow(name: str) -> Any:
    """The library for the encodings that Python itself has not; only the pipeline's installation has it."""
    try:
        arrow: Any = importlib.import_module("pyarrow") if name in _ARROW_NAMES else None
    except ImportError:
        arrow = None
    if arrow is None:
        known = ("gzip", "deflate", *_ARROW_NAMES)
        expected = f"one of {', '.join(known)}" if name not in _ARROW_NAMES else "one that this installation unpacks"
        raise EncodingFault("content_encoding_unknown", expected, name)
    return arrow


def _gunzip(payload: bytes, limit: int) -> bytes:
    """Unpack gzip, which may be several pieces one after the other."""
    try:
        return _within(gzip.GzipFile(fileobj=io.BytesIO(payload)).read(limit + 1), limit)
    except (OSError, EOFError, zlib.error) as error:
        raise _broken("gzip", str(error)) from None


def _inflate(payload: bytes, limit: int) -> bytes:
    """Unpack deflate: in zlib's format as HTTP says, or bare as many send it."""
    is_zlib = len(payload) > 1 and payload[0] & 0x0F == zlib.DEFLATED and int.from_bytes(payload[:2]) % 31 == 0
    member = zlib.decompressobj(wbits=zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS)
    try:
        found = _within(member.decompress(payload, limit + 1), limit)
    except zlib.error as error:
        raise _broken("deflate", str(error)) from None
    if not member.eof or member.unused_data:
        raise _broken("deflate", "more follows its end" if member.eof else "it is cut short")
    return found


def _within(found: bytes, limit: int) -> bytes:
    if len(found) > limit:
        more = f"more than {limit / 1_000_000:g} MB"
        raise EncodingFault("payload_too_large", f"at most {limit / 1_000_000:g} MB", more)
    return found


def _broken(name: str, why: str) -> EncodingFault:
    return EncodingFault("content_encoding_broken", name, why)
