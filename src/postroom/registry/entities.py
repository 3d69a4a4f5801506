"""What is stored: entities, their documents, and the rows that tell what happened to them."""

from __future__ import annotations

import zlib
from typing import Any, Literal

import msgspec

Action = Literal["created", "updated", "deleted", "deprecation"]


class Document(msgspec.Struct, frozen=True):
    """The document of a Version: its bytes, or the URL where it is."""

    content: bytes = b""
    url: str = ""
    text: bool = False
    """Whether it came as a JSON string, so that it is shown as one again."""


class Entity(msgspec.Struct, frozen=True, kw_only=True):
    """The Registry, a Group, a Resource (its meta) or a Version: what the client wrote and what the server keeps."""

    xid: str
    epoch: int
    createdat: str
    modifiedat: str
    attributes: dict[str, Any] = {}
    document: Document | None = None
    counter: int = 0
    """Of a Resource: the last number the server gave as versionid."""

    @property
    def id(self) -> str:
        """The last part of the xid."""
        return self.xid.rpartition("/")[2]

    @property
    def collection(self) -> str:
        """The xid without its last part: what the entity is listed under."""
        return self.xid.rpartition("/")[0]


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the change log, which is one change event; the store gives the sequence."""

    xid: str
    action: Action
    epoch: int
    changed: tuple[str, ...]
    actor: str
    correlation: str
    time: str
    sequence: int = 0

    @property
    def mark(self) -> str:
        """The sequence and a checksum: what this row is called, and no row of another log, nor of another past."""
        checksum = zlib.crc32(f"{self.time} {self.correlation} {self.xid}".encode())
        return "%x-%08x" % (self.sequence, checksum)  # noqa: UP031  # a third faster, and there is one for every event
