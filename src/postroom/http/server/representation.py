"""Answers as bytes: encoded, tagged (an ETag belongs to a representation), compressed where the client takes it."""

from __future__ import annotations

import functools
import gzip
import hashlib
import zlib
from collections.abc import Iterable, Iterator

import msgspec

from postroom.http.server.response import Response

SMALLEST_COMPRESSED = 1024
COMPRESSIBLE = ("application/json", "application/xml", "application/yaml", "application/schema+json", "text/")
TAGGED = frozenset({200, 303})
GZIP_MARK = "-gzip"

RawHeaders = list[tuple[bytes, bytes]]


class Representation(msgspec.Struct, frozen=True, kw_only=True):
    """What goes over the wire: the status, headers without those of the connection, the body, its tag."""

    status: int
    headers: RawHeaders
    body: bytes
    etag: str = ""
    pieces: Iterator[bytes] | None = None
    """The body where it is made while it is sent."""

    @property
    def size(self) -> int:
        """About how much memory it takes."""
        return len(self.body) + sum(len(name) + len(value) + 64 for name, value in self.headers) + 512


class _Frame(msgspec.Struct, frozen=True):
    """What answers with the same headers have in common."""

    tagged: bytes
    """What the tag covers beside the body."""
    is_compressible: bool
    raw: tuple[tuple[bytes, bytes], ...]


@functools.lru_cache(maxsize=512)
def _frame(headers: tuple[tuple[str, str], ...], varies: bool) -> _Frame:
    all_headers = dict(headers)
    is_compressible = varies and _can_compress(all_headers)
    tagged = _tagged(all_headers)
    if is_compressible:
        all_headers["Vary"] = _varying(all_headers)
    return _Frame(tagged, is_compressible, tuple(_raw(all_headers.items())))


def represent(answer: Response, method: str, gzips: bool) -> Representation:
    """The bytes of an answer; those of a GET get an ETag."""
    if answer.pieces is not None:
        return _in_pieces(answer, answer.pieces, gzips)
    frame = _frame(tuple(answer.headers.items()), answer.stream is None)
    body, etag, headers = answer.content, "", list(frame.raw)
    if method == "GET" and answer.status in TAGGED:
        etag = _tag_of(body, frame.tagged)
    if frame.is_compressible and gzips and len(body) >= SMALLEST_COMPRESSED:
        body = gzip.compress(body, compresslevel=6, mtime=0)
        headers.append((b"content-encoding", b"gzip"))
        etag = etag and etag[:-1] + GZIP_MARK + '"'
    if etag:
        headers.append((b"etag", etag.encode()))
    if answer.more_links or answer.cookies:
        headers += _raw(_repeated(answer))
    return Representation(status=answer.status, headers=headers, body=body, etag=etag)


def _in_pieces(answer: Response, pieces: Iterator[bytes], gzips: bool) -> Representation:
    headers = dict(answer.headers)
    if _can_compress(headers):
        headers["Vary"] = _varying(headers)
        if gzips:
            pieces, headers["Content-Encoding"] = _gzipped(pieces), "gzip"
    return Representation(
        status=answer.status, headers=_raw([*headers.items(), *_repeated(answer)]), body=b"", pieces=pieces
    )


def _gzipped(pieces: Iterable[bytes]) -> Iterator[bytes]:
    packer = zlib.compressobj(level=6, wbits=31)
    for piece in pieces:
        yield packer.compress(piece) + packer.flush(zlib.Z_SYNC_FLUSH)
    yield packer.flush()


def _raw(fields: Iterable[tuple[str, str]]) -> RawHeaders:
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in fields]


def _repeated(answer: Response) -> list[tuple[str, str]]:
    """Headers of which there may be several."""
    return [*(("link", link) for link in answer.more_links), *(("set-cookie", cookie) for cookie in answer.cookies)]


def tag(headers: dict[str, str], body: bytes) -> str:
    """The strong ETag of a representation before compression: over its body and the headers that are part of it.

    What an answer varies by is about its URL; a write that compares tags does not know of pages.
    """
    return _tag_of(body, _tagged(headers))


def _tag_of(body: bytes, tagged: bytes) -> str:
    digest = hashlib.blake2b(body, digest_size=12)
    digest.update(tagged)
    return f'"{digest.hexdigest()}"'


def _tagged(headers: dict[str, str]) -> bytes:
    lines = (f"\n{name.lower()}: {headers[name]}" for name in sorted(headers.keys() - {"Vary"}, key=str.lower))
    return "".join(lines).encode("latin-1", "replace")


def takes_gzip(accept_encoding: str) -> bool:
    """Whether an Accept-Encoding header allows gzip."""
    for part in accept_encoding.lower().split(","):
        name, _, parameters = part.strip().partition(";")
        if name.strip() in ("gzip", "x-gzip", "*"):
            return parameters.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


def matches(condition: str, etag: str) -> bool:
    """Whether an If-None-Match header names the tag (compared weakly, as RFC 9110 §13.1.2 says)."""
    if condition.strip() == "*":
        return True
    return any(part.strip().removeprefix("W/") == etag for part in condition.split(","))


def _varying(headers: dict[str, str]) -> str:
    return ", ".join(filter(None, (headers.get("Vary"), "Accept-Encoding")))


def _can_compress(headers: dict[str, str]) -> bool:
    contenttype = headers.get("Content-Type", "").lower()
    return contenttype.startswith(COMPRESSIBLE) or "+json" in contenttype
