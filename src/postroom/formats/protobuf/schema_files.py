"""Files of a schema: a document with all it imports, found in the library."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from postroom.errors import FormatUnknown, ReferenceMissing, SchemaRefused
from postroom.formats.protobuf import protoc
from postroom.formats.schema import Library, LibraryDocument, SchemaDocument
from postroom.formats.schema_text import load_text

ROOT = "schema.proto"
_MOST_FILES = 200
_MOST_TEXT = 1024 * 1024
_MOST_TEXTS = 4 * _MOST_TEXT
_SYNTAXES = {"2": 'syntax = "proto2";', "3": 'syntax = "proto3";'}
_EDITION = re.compile(r"20[0-9]{2}\Z")
_SAFE_NAME = re.compile(r"(?!\.)[A-Za-z0-9_@+-][A-Za-z0-9_.@+-]*(/[A-Za-z0-9_@+-][A-Za-z0-9_.@+-]*)*\Z")
# A text need not end: looking for ends that are not there, again and again, takes quadratic time.
_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|[A-Za-z_][\w.]*|[^\s\w]|\d[\w.]*""",
    re.DOTALL,
)


class SchemaTexts(NamedTuple):
    """All texts of a schema by file name, `ROOT` among them; `shift` is what was put before the root's first line."""

    files: tuple[tuple[str, str], ...]
    shift: int


def collect_files(source: SchemaDocument) -> SchemaTexts:
    """A document and everything it imports, directly or not."""
    text = _bounded(load_text(source.document).removeprefix("\ufeff"), "the document")
    line = _syntax_line(source.version)
    statements = _statements(text)
    shift = 0
    # A `syntax` or `edition` line of the text wins over the format's name; the name stands in for a missing one.
    if line and not any(statement[0] in ("syntax", "edition") for statement in statements):
        text, shift = line + text, len(line)
    return SchemaTexts(_ImportCollector(source.library, text).run(_imports(statements)), shift)


class _ImportCollector:
    def __init__(self, library: Library, text: str) -> None:
        self.library = library
        self.texts = {ROOT: text}
        self.names: dict[str, str] = {}
        self.size = len(text)

    def run(self, imports: list[str]) -> tuple[tuple[str, str], ...]:
        waiting = [(name, "") for name in imports]
        while waiting:
            name, importer = waiting.pop()
            if name in self.texts or protoc.is_well_known(name):
                continue
            found = self._find(name, importer)
            first = self.names.setdefault(found.location, name)
            if first != name:
                # Two names for one document: the second hands on what the first declares.
                self.texts[name] = f'syntax = "proto3"; import public "{first}";'
                continue
            text = _bounded(load_text(found.document).removeprefix("\ufeff"), f"the imported {name}")
            self._add(name, text)
            waiting += [(inner, found.location) for inner in _imports(_statements(text))]
        return tuple(self.texts.items())

    def _find(self, name: str, importer: str) -> LibraryDocument:
        if not _SAFE_NAME.match(name):
            raise SchemaRefused(f"the import {name[:200]!r} is not the name of a schema.")
        found = self.library.find(name, importer)
        if found is None:
            raise ReferenceMissing(
                f"the import {name!r} leads to no document.", remedy="Put the imported schema into the same group."
            )
        return found

    def _add(self, name: str, text: str) -> None:
        if text == self.texts[ROOT]:
            raise SchemaRefused(f"the document imports itself through {name!r}.")
        self.texts[name] = text
        self.size += len(text)
        if len(self.texts) > _MOST_FILES or self.size > _MOST_TEXTS:
            raise SchemaRefused(
                f"the schema imports more than we follow: {_MOST_FILES} documents, {_MOST_TEXTS} characters."
            )


def _bounded(text: str, what: str) -> str:
    if len(text) > _MOST_TEXT:
        raise SchemaRefused(f"{what} has {len(text)} characters; a Protobuf schema may have {_MOST_TEXT}.")
    if "\0" in text:
        raise SchemaRefused(f"{what} has a zero byte in it.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise SchemaRefused(f"{what} is not Unicode text.") from None
    return text


def _syntax_line(version: str) -> str:
    if _EDITION.match(version):
        return f'edition = "{version}";'
    if version and version not in _SYNTAXES:
        raise FormatUnknown(f"there is no Protobuf/{version}.", remedy="We read Protobuf/2, Protobuf/3 and editions.")
    return _SYNTAXES.get(version, "")


def tokens(text: str) -> Iterator[str]:
    """The tokens of a text, without its comments."""
    for found in _TOKEN.finditer(text):
        if not found[0].startswith(("//", "/*")):
            yield found[0]


def _statements(text: str) -> list[list[str]]:
    """The first tokens of each statement outside of braces."""
    statements: list[list[str]] = []
    current: list[str] = []
    depth = 0
    for token in tokens(text):
        depth += {"{": 1, "}": -1}.get(token, 0)
        if depth <= 0 and token in (";", "}"):
            if current:
                statements.append(current)
            current, depth = [], 0
        elif depth == 0 and len(current) < 4:
            current.append(token)
    return statements


def _imports(statements: list[list[str]]) -> list[str]:
    return [
        token[1:-1]
        for statement in statements
        if statement[0] == "import"
        for token in statement[1:3]
        if token[0] in "\"'"
    ]
