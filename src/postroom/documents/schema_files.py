"""Payload schemas in files: which format they are in, and the files they refer to."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from postroom.errors import DocumentRefused, FileMissing, FormatUnknown
from postroom.formats.schema import LibraryDocument
from postroom.settings import Settings

MEGABYTE = 1_000_000
_BY_SUFFIX = {".avsc": "Avro", ".proto": "Protobuf", ".xsd": "XSD"}
_AVRO_TYPES = ("record", "enum", "fixed")


class SchemaFile(msgspec.Struct, frozen=True):
    """A schema file with its format and the files it may refer to."""

    path: Path
    format: str
    document: bytes
    library: FolderLibrary


class FolderLibrary:
    """The schema files of one folder and below; nothing outside of it is ever read."""

    def __init__(self, file: Path, root: Path, most_bytes: int) -> None:
        self._file = file.resolve()
        self._root = root.resolve()
        self._most_bytes = most_bytes

    def find(self, reference: str, base: str = "") -> LibraryDocument | None:
        """The file that a reference means: beside the referring one, or from the folder's top."""
        name = reference.partition("#")[0]
        if not name or "://" in name:
            return None
        beside = (Path(base) if base else self._file).parent
        for path in (beside / name.lstrip("/"), self._root / name.lstrip("/")):
            found = self._read(path)
            if found is not None:
                return found
        return None

    def neighbours(self) -> Iterator[LibraryDocument]:
        """The other files of the same kind beside the referring one."""
        for path in sorted(self._file.parent.glob(f"*{self._file.suffix}")):
            found = self._read(path) if path != self._file else None
            if found is not None:
                yield found

    def _read(self, path: Path) -> LibraryDocument | None:
        path = path.resolve()
        if not path.is_relative_to(self._root) or not path.is_file() or path.stat().st_size > self._most_bytes:
            return None
        return LibraryDocument(str(path), path.read_bytes())


def schema_content(path: Path, settings: Settings) -> dict[str, Any]:
    """The document of a schema as a catalog has it: JSON as JSON, other text as text, other bytes in base64."""
    document = _bytes_of(path, settings)
    try:
        text = document.decode()
    except UnicodeDecodeError:
        return {"schemabase64": base64.b64encode(document).decode()}
    try:
        value = msgspec.json.decode(document)
    except (msgspec.DecodeError, RecursionError):
        return {"schema": text}
    return {"schema": value}


def read_schema_file(name: str, settings: Settings, stated: str = "", root: str = "") -> SchemaFile:
    """Read a schema file; its format is the stated one, else found by name and content."""
    path = Path(name)
    document = _bytes_of(path, settings)
    most_bytes = settings.max_document_mb * MEGABYTE
    library = FolderLibrary(path, Path(root) if root else path.parent, most_bytes)
    return SchemaFile(path, stated or _format(path, document), document, library)


def _bytes_of(path: Path, settings: Settings) -> bytes:
    try:
        if path.stat().st_size > settings.max_document_mb * MEGABYTE:
            remedy = "Raise the setting max_document_mb if that is right."
            raise DocumentRefused(f"it has more than {settings.max_document_mb} MB.", place=str(path), remedy=remedy)
        return path.read_bytes()
    except OSError as error:
        raise FileMissing(f"cannot be read: {error.strerror}.", place=str(path)) from None


def _format(path: Path, document: bytes) -> str:
    known = _BY_SUFFIX.get(path.suffix.lower())
    if known is not None:
        return known
    start = document.lstrip()[:1]
    if start == b"<":
        return "XSD"
    if start not in (b"{", b"[", b'"'):
        remedy = "Name it with --format."
        raise FormatUnknown("the format cannot be told from the name and the content.", place=str(path), remedy=remedy)
    try:
        return _json_format(msgspec.json.decode(document))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return "JsonSchema"  # whose reader says what is wrong with the JSON


def _json_format(value: Any) -> str:
    if not isinstance(value, dict):
        return "Avro"
    if "json-structure" in str(value.get("$schema", "")):
        return "JsonStructure"
    return "Avro" if value.get("type") in _AVRO_TYPES else "JsonSchema"
