"""The one interface of all payload schema formats.

Each format is a folder with a module `format` that offers `parse`, `check` and `readable`, as `Format` describes them;
`table.py` lists the formats.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

import msgspec

from postroom.formats.batch_decode import Members
from postroom.formats.column_types import ColumnType


class Violation(msgspec.Struct, frozen=True):
    """One way in which a payload does not fit its schema."""

    at: str
    code: str
    expected: str
    found: str


class PayloadSchema(Protocol):
    """A parsed payload schema of any format."""

    def judge(self, payload: bytes, contenttype: str = "") -> tuple[Any, list[Violation]]:
        """Decode a payload and validate it: the decoded value and no violations, or what does not fit.

        Never raises for a payload. The content type tells encodings apart where a format has several; without one the
        format's own binary or text form is meant.
        """
        ...

    def encode(self, value: Any, contenttype: str = "") -> bytes:
        """The payload bytes of a Python value (not validated), in the encoding that the content type means."""
        ...

    def columns(self) -> ColumnType:
        """The table columns that decoded values of this schema fill."""
        ...

    def sample(self, rng: random.Random) -> Any:
        """Invent a value that fits the schema."""
        ...


@runtime_checkable
class QuickSchema(Protocol):
    """A payload schema that has a short way from payloads to columns."""

    def reads_quickly(self, contenttype: str) -> bool:
        """Whether that way is for payloads of this content type."""
        ...

    def fill(self, payload: bytes) -> tuple[Any, bool]:
        """A valid payload in the shape of its columns, absent members left out, and True; (None, False) when only
        `judge` can tell."""
        ...

    def fill_all(self, payloads: Sequence[Any], doubtful: set[int]) -> list[Any] | Members:
        """The same for many payloads, bytes or msgspec's Raw, by member where that is quicker; the places of those that
        only `judge` can tell about are added to `doubtful`."""
        ...


@runtime_checkable
class OpenSchema(Protocol):
    """A payload schema whose payloads may have more than its columns hold."""

    def undeclared(self, payload: bytes, contenttype: str) -> str | None:
        """What a valid payload has and its columns do not, as JSON text (by `undeclared.py`); None for nothing."""
        ...


@runtime_checkable
class QuickOpenSchema(QuickSchema, OpenSchema, Protocol):
    """A payload schema that can tell so on its short way."""

    def fill_all_keeping(
        self, payloads: Sequence[Any], doubtful: set[int], kept: dict[int, str]
    ) -> list[Any] | Members:
        """`fill_all` that also puts what columns do not hold into `kept`, by place."""
        ...


@runtime_checkable
class CheckingSchema(Protocol):
    """A payload schema that can check payloads without decoding them, for those who need no values."""

    def accepts_all(self, payloads: Sequence[bytes], contenttype: str, doubtful: set[int]) -> None:
        """Add the places of payloads to `doubtful` that only `judge` can tell about. The others fit, and the columns of
        the schema can hold them."""
        ...


class Frame(msgspec.Struct, frozen=True):
    """What stands in front of a payload and names the schema that it was written with.

    `id` is the number that a registry gave that schema, or the schema's fingerprint; the payload itself begins at
    `start`. A sure frame is one because no payload without a header begins like this; a likely one has a small number.
    """

    id: int | bytes
    start: int
    is_sure: bool = False
    is_likely: bool = True


class Reading(Protocol):
    """How payloads are read that a certain version of a schema wrote."""

    def judge_behind(self, payload: bytes, start: int, contenttype: str) -> tuple[Any, list[Violation]]:
        """Judge what stands behind a header, in the shape of the schema that reads it."""
        ...


@runtime_checkable
class FramedSchema(Reading, Protocol):
    """A payload schema whose payloads may have a header that names the schema they were written with."""

    def frame(self, payload: bytes, contenttype: str) -> Frame | None:
        """What stands in front of a payload, if it looks like such a header."""
        ...

    def judge_bare(self, payload: bytes, contenttype: str) -> tuple[Any, list[Violation]]:
        """Judge a payload as one without a header."""
        ...

    def bare(self, payload: bytes, start: int) -> bytes | None:
        """What stands behind a header, for `fill`; None when only `judge_behind` can tell."""
        ...

    def written_by(self, writer: PayloadSchema) -> Reading | None:
        """How this schema reads what another version of it wrote; None when that has no payloads with headers."""
        ...

    def fingerprint(self) -> bytes:
        """The fingerprint that headers carry; empty for formats without one."""
        ...


@runtime_checkable
class LenientSchema(Protocol):
    """A payload schema that reads values, too, which it refuses for what they stand for."""

    def shown_behind(self, payload: bytes, start: int, contenttype: str) -> Any:
        """The value behind a header, in parts as it is encoded where it stands for nothing."""
        ...


class Found(msgspec.Struct, frozen=True):
    """A schema document that a reference led to, and the place that its own references start from."""

    place: str
    document: Any


class Library(Protocol):
    """The other schema documents that a document may refer to. Looking something up never reaches the network, unless
    a setting allows the host."""

    def find(self, reference: str, place: str = "") -> Found | None:
        """The document that a reference means, seen from a place (by default that of the referring document)."""
        ...

    def neighbours(self) -> Iterator[Found]:
        """The other documents of the same schema group, for formats that refer by the name of a type."""
        ...


class EmptyLibrary:
    """A library without any document: references resolve inside the document only."""

    def find(self, reference: str, place: str = "") -> Found | None:
        """Nothing."""
        return None

    def neighbours(self) -> Iterator[Found]:
        """Nothing."""
        return iter(())


class SchemaDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A schema as its author wrote it.

    `document` is a JSON value, text or bytes; `version` is the part of the format's name behind the slash, in lower
    case; `fragment` picks one type of the document, in the format's own way; "" means the document's own root;
    `assert_formats` makes a rule of what JSON Schema leaves as a remark (`format`).
    """

    document: Any
    version: str = ""
    fragment: str = ""
    library: Library = EmptyLibrary()
    assert_formats: bool = False


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """Whether payloads of one schema can be read with another.

    `counterexample` is a payload that the writer's schema accepts and the reader's refuses, `shown` the same for
    people; `writer_at` and `reader_at` are the places in both documents that disagree.
    """

    answer: Literal["compatible", "incompatible", "undecided"]
    reason: str = ""
    writer_at: str = ""
    reader_at: str = ""
    counterexample: bytes | None = None
    shown: str = ""


class Format(Protocol):
    """What the module of a format offers."""

    def parse(self, source: SchemaDocument) -> PayloadSchema:
        """The schema, ready for payloads; SchemaRefused says what is wrong and where."""
        ...

    def check(self, source: SchemaDocument) -> None:
        """Raise SchemaRefused unless the document is one that the format allows."""
        ...

    def readable(self, writer: SchemaDocument, reader: SchemaDocument) -> Verdict:
        """Whether every payload that fits the writer's schema can be read with the reader's."""
        ...
