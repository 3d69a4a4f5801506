"""What the registries that are opened here know about formats of documents: the payload formats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from postroom.errors import FormatUnknown, ReferenceMissing, SchemaRefused
from postroom.formats.compatibility import MODES, compatible
from postroom.formats.format_table import FAMILIES, check_schema, readable
from postroom.formats.schema import LibraryDocument
from postroom.formats.schema_library import CatalogLibrary
from postroom.registry.rules import Judgement, Surroundings

RULES_OF_FORMATS = tuple(sorted(set(MODES) - {"none"}))


def _patterns() -> Iterator[str]:
    names = [name.lower() for family in FAMILIES for name in (family.name, *family.aliases)]
    for name in names:
        # `proto*` would mean Protobuf as well, which has its own line.
        if any(other != name and other.startswith(name) for other in names):
            yield from (name, f"{name}/*")
        else:
            yield f"{name}*"


class PayloadFormats:
    """The payload formats, as rules of a registry."""

    @property
    def offered(self) -> Mapping[str, tuple[str, ...]]:
        """Every name of every format, in all versions."""
        return dict.fromkeys(sorted(_patterns()), RULES_OF_FORMATS)

    def check(self, name: str, content: bytes, around: Surroundings) -> Judgement:
        """Whether a document is a schema of its format."""
        library = _WatchedLibrary(around)
        try:
            if not content:
                return Judgement("no", "an empty document is not a schema of this format.")
            check_schema(name, content, library)
        except ReferenceMissing as error:
            return Judgement("unknown", str(error), dangling=True)
        except SchemaRefused as error:
            return Judgement("no", str(error), dangling=library.missed)
        except FormatUnknown as error:
            return Judgement("unknown", str(error))
        return Judgement("yes")

    def compare(self, name: str, older: list[bytes], newer: bytes, rule: str, around: Surroundings) -> Judgement:
        """Whether payloads of the versions can be read as the rule says."""
        library = _WatchedLibrary(around)
        try:
            verdict = compatible(older, newer, rule, partial(readable, name, library=library))
        except (SchemaRefused, FormatUnknown) as error:
            return Judgement("unknown", str(error), dangling=library.missed)
        if verdict.answer == "compatible":
            return Judgement("yes")
        shown = f" For example: {verdict.shown}" if verdict.shown else ""
        return Judgement("no" if verdict.answer == "incompatible" else "unknown", f"{verdict.reason}{shown}")


class _WatchedLibrary(CatalogLibrary):
    """The documents of a registry; notes when one was missed."""

    def __init__(self, around: Surroundings) -> None:
        super().__init__(around.xid, partial(_read, around), around.names)
        self.missed = False

    def find(self, reference: str, base: str = "") -> LibraryDocument | None:
        """The document that a reference means."""
        found = super().find(reference, base)
        self.missed = self.missed or found is None
        return found


def _read(around: Surroundings, path: str) -> LibraryDocument | None:
    found = around.read(path)
    return None if found is None else LibraryDocument(*found)
