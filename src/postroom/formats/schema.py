"""The interface of all payload schema formats.

Each format is a folder with a module `format` that offers `parse`, `check` and `readable`, as `Format` describes them;
`format_table.py` lists the formats.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

import msgspec

from postroom.formats.batch_decode import MemberColumns
from postroom.formats.column_types import ColumnType


class Violation(msgspec.Struct, frozen=True):
    """One error of a payload: where it is (a JSON pointer), its code, what was expected and what was found."""

    at: str
    code: str
    expected: str
    found: str


class PayloadSchema(Protocol):
    """A parsed payload schema of any format."""

    def validate(self, payload: bytes, contenttype: str = "") -> tuple[Any, list[Violation]]:
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
class FastSchema(Protocol):
    """A payload schema that can decode payloads directly into the form of its columns."""

    def has_fast_path(self, contenttype: str) -> bool:
        """Whether `fill` and `fill_all` take payloads of this content type."""
        ...

    def fill(self, payload: bytes) -> tuple[Any, bool]:
        """A valid payload in the form of its columns, absent members left out, and True; (None, False) when the payload
        needs `validate`."""
        ...

    def fill_all(self, payloads: Sequence[Any], fallback: set[int]) -> list[Any] | MemberColumns:
        """Fill the columns of many payloads (bytes or msgspec's Raw), by member where that is quicker; the indexes of
        those that need `validate` are added to `fallback`."""
        ...


@runtime_checkable
class NamedSchema(Protocol):
    """A payload schema that has a name, by which schema registries may know it."""

    def full_name(self) -> str:
        """The name of the record, the message or the object; empty where it has none."""
        ...


@runtime_checkable
class OpenSchema(Protocol):
    """A payload schema whose payloads may have more than its columns hold."""

    def undeclared(self, payload: bytes, contenttype: str) -> str | None:
        """The members of a valid payload without a column, as JSON (see `undeclared_members.py`); None for none."""
        ...


@runtime_checkable
class FastOpenSchema(FastSchema, OpenSchema, Protocol):
    """A payload schema that finds undeclared members while it fills columns."""

    def fill_all_and_undeclared(
        self, payloads: Sequence[Any], fallback: set[int], undeclared: dict[int, str]
    ) -> list[Any] | MemberColumns:
        """`fill_all` that also collects the undeclared members of payloads, by index."""
        ...


@runtime_checkable
class CheckingSchema(Protocol):
    """A payload schema that can check payloads without decoding them."""

    def accepts_all(self, payloads: Sequence[bytes], contenttype: str, fallback: set[int]) -> None:
        """Add the indexes of payloads that need `validate` to `fallback`. The others fit, and the columns of the schema
        can hold them."""
        ...


class Frame(msgspec.Struct, frozen=True):
    """The header in front of a payload that names the schema it was written with.

    `id` is the number that a registry gave that schema, or the schema's fingerprint; the payload itself begins at
    `start`. A frame is sure if no payload without a header begins like this; it is likely if its number is small.
    """

    id: int | bytes
    start: int
    is_sure: bool = False
    is_likely: bool = True


class FramedReader(Protocol):
    """Decodes payloads that were written with a certain version of a schema."""

    def validate_framed(self, payload: bytes, start: int, contenttype: str) -> tuple[Any, list[Violation]]:
        """Validate a payload behind a header; the value has the form of the reading schema."""
        ...


@runtime_checkable
class FastFramedReader(FramedReader, Protocol):
    """Decodes such payloads directly into the form of the reader's columns."""

    def has_fast_path(self, contenttype: str) -> bool:
        """Whether `fill_all` takes payloads of this content type."""
        ...

    def fill_all(self, payloads: Sequence[bytes], fallback: set[int]) -> list[Any] | MemberColumns:
        """Fill the columns with what stands behind headers; add indexes of payloads that need `validate_framed` to
        `fallback`."""
        ...

    def may_drop(self) -> bool:
        """Whether payloads may have more than the columns hold."""
        ...


@runtime_checkable
class FramedSchema(FramedReader, Protocol):
    """A payload schema whose payloads may have a header that names the schema they were written with."""

    def frame(self, payload: bytes, contenttype: str, id_bytes: int) -> Frame | None:
        """The header in front of a payload, if it looks like one; ids have so many bytes."""
        ...

    def validate_unframed(self, payload: bytes, contenttype: str) -> tuple[Any, list[Violation]]:
        """Validate a payload as one without a header."""
        ...

    def strip_header(self, payload: bytes, start: int) -> bytes | None:
        """The payload behind a header, for `fill`; None when it needs `validate_framed`."""
        ...

    def behind_id(self, contenttype: str) -> bytes:
        """What stands between the id and a payload of this schema."""
        ...

    def reader_for(self, writer: PayloadSchema) -> FramedReader | None:
        """The reader of what another version of this schema wrote; None when that has no payloads with headers."""
        ...

    def fingerprint(self) -> bytes:
        """The fingerprint that headers carry; empty for formats without one."""
        ...


@runtime_checkable
class LenientSchema(Protocol):
    """A payload schema that can also decode values which it refuses, such as dates out of range."""

    def decode_leniently(self, payload: bytes, start: int, contenttype: str) -> Any:
        """The value behind a header; parts that have no valid meaning come as they are encoded."""
        ...


class LibraryDocument(msgspec.Struct, frozen=True):
    """A schema document that a reference leads to, and its location, which its own references are relative to.

    `references` are names that it uses for other documents, with their paths.
    """

    location: str
    document: Any
    references: tuple[tuple[str, str], ...] = ()


class Library(Protocol):
    """The other schema documents that a document may refer to. Looking something up never reaches the network, unless
    a setting allows the host."""

    def find(self, reference: str, base: str = "") -> LibraryDocument | None:
        """The document that a reference means, relative to a base (by default the referring document)."""
        ...

    def neighbours(self) -> Iterator[LibraryDocument]:
        """The other documents of the same schema group, for formats that refer by the name of a type."""
        ...


class EmptyLibrary:
    """A library without any document: references resolve inside the document only."""

    def find(self, reference: str, base: str = "") -> LibraryDocument | None:
        """Nothing."""
        return None

    def neighbours(self) -> Iterator[LibraryDocument]:
        """Nothing."""
        return iter(())


class SchemaDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A schema as its author wrote it.

    `document` is a JSON value, text or bytes; `version` is the part of the format's name behind the slash, in lower
    case; `fragment` picks one type of the document, in the format's own syntax; "" means the document's root;
    `assert_formats` makes JSON Schema's `format` a constraint, which is an annotation by default; `undeclared_members`
    tells comparisons that objects of JSON Schema may hold members which the schema does not mention.
    """

    document: Any
    version: str = ""
    fragment: str = ""
    library: Library = EmptyLibrary()
    assert_formats: bool = False
    undeclared_members: bool = False


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """Whether payloads of one schema can be read with another.

    `counterexample` is a payload that the writer's schema accepts and the reader's refuses, `shown` its readable form;
    `writer_at` and `reader_at` are the locations in both documents that disagree.
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
