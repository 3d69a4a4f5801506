"""The two validators: libxml2 for XML Schema 1.0, and xmlschema for 1.1 and for patterns that need linear time."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from typing import Any

import xmlschema
from lxml import etree
from xmlschema.exceptions import XMLSchemaException
from xmlschema.loaders import SchemaLoader
from xmlschema.validators import XsdPatternFacets, XsdSimpleType

from postroom.errors import SchemaRefused
from postroom.formats.xsd import patterns, safe_parser, xpath
from postroom.formats.xsd.documents import SchemaPart, text_of
from postroom.formats.xsd.schema_limits import KEPT_PATTERN
from postroom.formats.xsd.xml_names import VERSIONING, XS, xs


class _Served(etree.Resolver):  # type: ignore[misc]  # lxml has no types
    """Serves the parts of one schema and nothing else."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts

    def resolve(self, url: str, public: str, context: Any) -> Any:
        name = url.rpartition("/")[2]
        if name not in self.texts:
            raise OSError("nothing is read from elsewhere")
        return self.resolve_string(self.texts[name], context)


def native(parts: list[SchemaPart]) -> Any:
    """libxml2's validator of XML Schema 1.0."""
    texts = {part.name: text_of(part) for part in parts}
    served = safe_parser.parser(_Served(texts))
    root = etree.fromstring(texts[parts[0].name], served) if len(parts) > 1 else parts[0].root
    try:
        return etree.XMLSchema(root)
    except etree.XMLSchemaParseError as error:
        first = next(iter(error.error_log), None)
        sentence = (first.message if first else str(error)).strip().replace(f"{{{XS}}}", "xs:")
        place = f"{first.line}:{max(first.column, 1)}" if first and first.line > 0 else ""
        raise SchemaRefused(f"this is not a usable XML Schema 1.0: {sentence.rstrip('.')}.", place=place) from None


def components(parts: list[SchemaPart], version: str, checked: bool = False) -> Any:
    """The schema's components as xmlschema reads them; they validate, too.

    A schema that libxml2 has checked is not checked again: that would take five times as long.
    """
    texts = {part.name: text_of(part) for part in parts}
    schema_class = xmlschema.XMLSchema11 if version == "1.1" else xmlschema.XMLSchema10
    # Expressions are tried on the schema itself when they are read.
    bound = xpath.StepBudget(xpath.BUILDING_ELEMENTS) if xpath.are_in(parts) else nullcontext()
    try:
        with warnings.catch_warnings(), bound:
            warnings.simplefilter("ignore")
            schema = schema_class(
                texts[parts[0].name],
                validation="skip" if checked else "strict",
                allow="none",
                defuse="always",
                use_fallback=False,
                use_cache=False,
                loader_class=_loader(texts),
            )
    except RecursionError:
        raise SchemaRefused("the schema's types are nested too deeply.") from None
    except xpath.TooComplex as error:
        raise SchemaRefused(f"{error}.") from None
    except (XMLSchemaException, etree.LxmlError, ValueError, TypeError, KeyError, OSError) as error:
        raise SchemaRefused(
            f"this is not a usable XML Schema {version}: {_sentence(error)}.", place=_place(error, parts[0])
        ) from None
    if any(KEPT_PATTERN in facet.attrib for part in parts for facet in part.root.iter(xs("pattern"))):
        _match_in_linear_time(schema)
    return schema


def _loader(texts: dict[str, str]) -> type:
    class Loader(SchemaLoader):
        """Takes schemas from the parts, never from a file or address."""

        def load_schema(
            self, source: Any, namespace: Any = None, base_url: Any = None, build: bool = False, partial: bool = False
        ) -> Any:
            name = str(source).rpartition("/")[2]
            if name not in texts:
                raise OSError(f"{source} is not part of the schema")
            loaded = self.__dict__.setdefault("loaded", {})
            if (name, namespace) not in loaded:
                # Registered before its own references are followed, so that circles end.
                schema = loaded[name, namespace] = self.schema_class.__new__(self.schema_class)
                type(schema).__init__(
                    schema,
                    texts[name],
                    namespace=namespace,
                    validation=self.maps.validation,
                    global_maps=self.maps,
                    build=build,
                    partial=partial,
                )
            return loaded[name, namespace]

    return Loader


def uses_newer_words(parts: list[SchemaPart]) -> bool:
    """Whether a part asks to be read in dependence of the processor's version."""
    return any(
        name.startswith(f"{{{VERSIONING}}}") and (node is not part.root or not name.endswith("minVersion"))
        for part in parts
        for node in part.root.iter()
        for name in node.attrib
    )


class _Linear:
    """A matcher like Python's, in linear time."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._matches = patterns.linear_matcher(pattern)

    def match(self, text: str) -> bool | None:
        return self._matches(text) or None


def _match_in_linear_time(schema: Any) -> None:
    for every in schema.maps.schemas:
        for found in every.iter_components(XsdSimpleType):
            for facet in found.facets.values():
                if isinstance(facet, XsdPatternFacets):
                    _put_matchers(facet)


def _put_matchers(facet: Any) -> None:
    for index, element in enumerate(facet):
        kept = element.get(KEPT_PATTERN)
        if kept is not None:
            facet.patterns[index] = _Linear(kept)


def _sentence(error: Exception) -> str:
    text = str(getattr(error, "message", None) or error).strip().splitlines()
    return (text[0] if text else type(error).__name__).rstrip(".:")


def _place(error: Exception, part: SchemaPart) -> str:
    path = getattr(error, "path", None)
    if not path:
        return ""
    try:
        found = part.root.getroottree().xpath(path, namespaces={"xs": XS, "xsd": XS})
    except (etree.XPathError, TypeError, ValueError):
        return ""
    return f"{found[0].sourceline}:1" if found else ""
