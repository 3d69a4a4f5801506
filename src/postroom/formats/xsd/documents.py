"""Documents of one schema: the author's, and those it includes and imports from the library."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from lxml import etree

from postroom.errors import ReferenceMissing, SchemaRefused
from postroom.formats.schema import Library, LibraryDocument, SchemaDocument
from postroom.formats.xsd import safe_parser
from postroom.formats.xsd.xml_names import XML, XS, local_name, xs

MOST_DOCUMENTS = 200
MOST_BYTES = 4 * 2**20
MOST_ELEMENTS = 50_000

_FOLLOWED = tuple(xs(name) for name in ("include", "import", "redefine", "override"))
# xml:lang and its siblings: documents import them from an address that we never ask.
_XML_ATTRIBUTES = f"""<xs:schema xmlns:xs="{XS}" targetNamespace="{XML}">
<xs:attribute name="lang" type="xs:language"/>
<xs:attribute name="space"><xs:simpleType><xs:restriction base="xs:NCName">
<xs:enumeration value="default"/><xs:enumeration value="preserve"/></xs:restriction></xs:simpleType></xs:attribute>
<xs:attribute name="base" type="xs:anyURI"/><xs:attribute name="id" type="xs:ID"/>
<xs:attributeGroup name="specialAttrs"><xs:attribute ref="xml:lang"/><xs:attribute ref="xml:space"/>
<xs:attribute ref="xml:base"/><xs:attribute ref="xml:id"/></xs:attributeGroup></xs:schema>"""


class SchemaPart(msgspec.Struct, frozen=True):
    """One document: its name in this schema, its location in the library and its root element."""

    name: str
    location: str
    root: Any


def collect(source: SchemaDocument) -> list[SchemaPart]:
    """All documents of a schema, the author's first, with their references changed to the names of the parts."""
    return _Collector(source.library).collect(source.document)


class _Collector:
    def __init__(self, library: Library) -> None:
        self.library = library
        self.parts: list[SchemaPart] = []
        self.by_location: dict[str, SchemaPart] = {}
        self.bytes = self.elements = 0

    def collect(self, document: Any) -> list[SchemaPart]:
        self._add(LibraryDocument("", document))
        for part in self.parts:  # grows while we follow references
            for reference in [child for child in part.root if child.tag in _FOLLOWED]:
                self._follow(reference, part)
        return self.parts

    def _add(self, found: LibraryDocument, called: str = "") -> SchemaPart:
        if len(self.parts) >= MOST_DOCUMENTS:
            raise SchemaRefused(f"the schema refers to more than {MOST_DOCUMENTS} documents.")
        root = self._read(found.document, called)
        part = SchemaPart(f"document-{len(self.parts)}.xsd", found.location, root)
        self.parts.append(part)
        if found.location:
            self.by_location[found.location] = part
        return part

    def _read(self, document: Any, called: str) -> Any:
        content = _bytes_of(document)
        self.bytes += len(content)
        if self.bytes > MOST_BYTES:
            raise SchemaRefused(f"the schema has more than {MOST_BYTES} bytes.")
        where = f" ({called})" if called else ""
        try:
            root = safe_parser.read(content, safe_parser.parser())
        except safe_parser.XmlRefused as error:
            raise SchemaRefused(f"this is not XML{where}: {error.sentence}.", place=error.place) from None
        if root.tag != xs("schema"):
            raise SchemaRefused(f"the document{where} is <{local_name(root.tag)}>, not a schema of {XS}.", place="1:1")
        self.elements += sum(1 for _ in root.iter())
        if self.elements > MOST_ELEMENTS:
            raise SchemaRefused(f"the schema has more than {MOST_ELEMENTS} elements.")
        return root

    def _follow(self, reference: Any, part: SchemaPart) -> None:
        location = (reference.get("schemaLocation") or "").strip()
        is_import = reference.tag == xs("import")
        wanted = (reference.get("namespace") or "").strip()
        target = self._part(location, part.location) if location else None
        if target is None and is_import:
            target = self._of_namespace(wanted)
        if target is not None:
            reference.set("schemaLocation", target.name)
        elif location:
            raise ReferenceMissing(
                f"the {local_name(reference.tag)} of {location!r} leads nowhere: the catalog has no such document.",
                place=f"{reference.sourceline}:1",
            )

    def _part(self, location: str, base: str) -> SchemaPart | None:
        found = self.library.find(location, base)
        if found is None:
            return None
        return self.by_location.get(found.location) or self._add(found, location)

    def _of_namespace(self, namespace: str) -> SchemaPart | None:
        for part in self.parts:
            if part.root.get("targetNamespace", "") == namespace and part is not self.parts[0]:
                return part
        if namespace == XML:
            return self._add(LibraryDocument("", _XML_ATTRIBUTES), "the attributes of XML")
        for found in self._neighbours():
            if found.location not in self.by_location and _target_namespace(found.document) == namespace:
                return self._add(found, found.location)
        return None

    def _neighbours(self) -> Iterator[LibraryDocument]:
        for count, found in enumerate(self.library.neighbours()):
            if count >= MOST_DOCUMENTS:
                return
            yield found


def _bytes_of(document: Any) -> bytes:
    if isinstance(document, str):
        text = document.lstrip("\ufeff \t\r\n")
        if text.startswith("<?xml") and "?>" in text:
            # The text is decoded already: what it says about its bytes no longer holds.
            head, _, rest = text.partition("?>")
            text = "\n" * head.count("\n") + rest
        try:
            return text.encode()
        except UnicodeEncodeError:
            raise SchemaRefused("the document holds characters that no XML has.") from None
    if not isinstance(document, bytes):
        raise SchemaRefused("the document is a JSON value where the format asks for the text of an XML Schema.")
    return document


def _target_namespace(document: Any) -> str | None:
    try:
        root = safe_parser.read(_bytes_of(document), safe_parser.parser())
    except (safe_parser.XmlRefused, SchemaRefused):
        return None
    return str(root.get("targetNamespace", "")) if root.tag == xs("schema") else None


def text_of(part: SchemaPart) -> str:
    """A part as text, with lines where its author had them."""
    text: str = etree.tostring(part.root, encoding="unicode")
    return text
