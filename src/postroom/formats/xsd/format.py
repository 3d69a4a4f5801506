"""XML Schema: 1.0 validated by libxml2, 1.1 by xmlschema."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from lxml import etree

from postroom.errors import FormatUnknown, SchemaRefused
from postroom.formats.column_types import ColumnType
from postroom.formats.fill_columns import json_text
from postroom.formats.schema import SchemaDocument, Verdict, Violation
from postroom.formats.undeclared_members import undeclared_value
from postroom.formats.xsd import documents, root_element, safe_parser, schema_limits, validators, violations, xpath
from postroom.formats.xsd import encode as encoding
from postroom.formats.xsd.compat import verdict
from postroom.formats.xsd.element_codec import ElementPlan, Plans
from postroom.formats.xsd.samples.sample_documents import DocumentGenerator
from postroom.formats.xsd.xml_names import VERSIONING, local_name

_TRIES = 30
_TOO_COMPLEX = "payload_xsd_too_complex"
# libxml2 finds the path of each of a thousand errors by counting siblings; while it reads, it does not.
_LARGE = 50_000
# lxml lists attributes in quadratic time.
_MOST_ATTRIBUTES = 1_000
_VERSIONS = {"": "", "1": "1.0", "1.0": "1.0", "1.1": "1.1"}


class XmlSchema:
    """One parsed XML Schema, with the element that payloads start with."""

    def __init__(self, parts: list[documents.SchemaPart], version: str, root: str) -> None:
        self.version = version
        # 1.1 takes all that 1.0 takes, so the quick validator may accept for it; only a refusal needs a second look.
        self.native = self._native(parts)
        # Elsewhere a refusal by libxml2 is one.
        self._distrusts_libxml2 = version == "1.1" or schema_limits.counts_inside_repeats(parts)
        self.components = self._components(parts)
        self._is_valid: Callable[[Any], bool] = _never if self.native is None else self.native.validate
        self._has_expressions = xpath.are_in(parts)
        self._parser = safe_parser.parser()
        self._streaming = safe_parser.parser(schema=self.native) if self.native is not None else None
        self.plans = Plans(self.components)
        self.root = _root(self.components, root)
        self._tag: str = self.root.name

    def _native(self, parts: list[documents.SchemaPart]) -> Any:
        if self.version == "1.0":
            return validators.native(parts)
        try:
            return None if validators.uses_newer_words(parts) else validators.native(parts)
        except SchemaRefused:
            return None

    def _components(self, parts: list[documents.SchemaPart]) -> Any:
        checked = self.version == "1.0"
        if schema_limits.set_patterns_aside(parts):
            self.native = None
        return validators.components(parts, self.version, checked)

    @functools.cached_property
    def plan(self) -> ElementPlan:
        """How payloads are read."""
        return self.plans.element(self.root)

    def validate(self, payload: bytes, contenttype: str = "") -> tuple[Any, list[Violation]]:
        """Decode and validate a payload."""
        try:
            if len(payload) > _LARGE:
                root, wrong = self._read_large(payload)
            else:
                root = safe_parser.read(payload, self._parser)
                if root.tag == self._tag and self._is_valid(root):
                    return self.plan.decode(root), []
                wrong = self.violations(root)
            return (None, wrong) if wrong else (self.plan.decode(root), [])
        except safe_parser.XmlRefused as error:
            found = f"{error.sentence} ({error.place})" if error.place else error.sentence
            return None, [Violation("", "payload_not_xml", "XML", found)]
        except RecursionError:
            return None, [Violation("", "payload_xsd_too_deep", "nested less deeply", "nested too deeply")]
        except (xpath.TooComplex, etree.XMLSchemaError) as error:
            return None, [Violation("", _TOO_COMPLEX, "checked in bounded time", str(error))]
        except (etree.LxmlError, ValueError, ArithmeticError) as error:
            # The validator took a text that its type cannot have; the payload is at fault before we are.
            return None, [Violation("", "payload_xsd_value", "of values that can be read", str(error)[:200])]

    def undeclared(self, payload: bytes, contenttype: str = "") -> str | None:
        """What a valid payload has and its columns do not, as JSON text; None for nothing.

        Columns have what wildcards let in. Only that an element with attributes is nil has no column.
        """
        if b"nil" not in payload:
            return None
        left = undeclared_value(self._columns, self.validate(payload, contenttype)[0])
        return None if left is None else json_text(left)

    def _read_large(self, payload: bytes) -> tuple[Any, list[Violation]]:
        checked = self._streaming is not None
        try:
            root = safe_parser.read(payload, self._streaming if checked else self._parser, checked)
        except safe_parser.XmlInvalid as error:
            if not self._distrusts_libxml2:
                return None, violations.from_stream(error.log)
            root, checked = safe_parser.read(payload, self._parser), False
        if any(len(element.attrib) > _MOST_ATTRIBUTES for element in root.iter()):
            expected = f"an element with at most {_MOST_ATTRIBUTES} attributes"
            return root, [Violation("", "payload_xsd_too_many_attributes", expected, "one with more")]
        misplaced = self._wrong_root(root)
        if misplaced or checked:
            return root, misplaced
        return root, self._python_violations(root)

    def violations(self, root: Any) -> list[Violation]:
        """What does not fit, of a payload that was read; TooComplex when that takes too long to say."""
        if root.tag != self._tag:
            return self._wrong_root(root)
        if self.native is not None:
            try:
                if self._is_valid(root):
                    return []
            except etree.XMLSchemaError as error:
                return [Violation("", _TOO_COMPLEX, "checked in bounded time", str(error))]
            if not self._distrusts_libxml2 or not self.takes(root):
                return violations.from_native(root, self.native.error_log)
            return []
        return self._python_violations(root)

    def takes(self, root: Any) -> bool:
        """Whether a payload is valid for xmlschema, whatever libxml2 thinks; TooComplex as above."""
        with self._budget(root):
            return bool(self.components.is_valid(root))

    def _python_violations(self, root: Any) -> list[Violation]:
        with self._budget(root):
            return violations.from_python(root, self.components.iter_errors(root))

    def _budget(self, root: Any) -> AbstractContextManager[None]:
        return xpath.StepBudget(sum(1 for _ in root.iter())) if self._has_expressions else nullcontext()

    def _wrong_root(self, root: Any) -> list[Violation]:
        if root.tag == self._tag:
            return []
        expected = _with_namespace(f"<{local_name(self.root.name)}>", self.root.name)
        return [Violation(violations.path_of(root), "payload_xsd_root", expected, f"<{root.tag}>")]

    def encode(self, value: Any, contenttype: str = "") -> bytes:
        """The value as an XML document in UTF-8."""
        try:
            return encoding.document(self.plan, value)
        except (TypeError, AttributeError, KeyError, ValueError) as error:
            raise SchemaRefused(f"the data does not fit its schema: {error}.") from None

    @functools.cached_property
    def _columns(self) -> ColumnType:
        return self.plan.column()

    def columns(self) -> ColumnType:
        """The columns values of this schema fill."""
        return self._columns

    def sample(self, rng: random.Random) -> Any:
        """A value that fits; SchemaRefused when none could be invented."""
        for attempt in range(_TRIES):
            # The last tries leave out all that can be left out.
            tree = DocumentGenerator(self.plans, rng, plain=attempt >= _TRIES // 2).document(self.root)
            value, wrong = self.validate(etree.tostring(tree))
            if wrong and wrong[0].code == _TOO_COMPLEX:
                break
            if not wrong and not self.validate(self.encode(value))[1]:
                return value
        raise SchemaRefused("no value could be invented that the schema takes.")


def _never(root: Any) -> bool:
    return False


def parse(source: SchemaDocument) -> XmlSchema:
    """The schema, ready for payloads."""
    parts, version = _read(source)
    root = root_element.root_name(parts, source.fragment)
    try:
        return XmlSchema(parts, version, root)
    except RecursionError:
        raise SchemaRefused("the schema is nested too deeply.") from None


def check(source: SchemaDocument) -> None:
    """Raise SchemaRefused unless the document is an XML Schema; it need not have a root element."""
    parts, version = _read(source)
    if version == "1.0":
        validators.native(parts)
    schema_limits.set_patterns_aside(parts)
    validators.components(parts, version)


def readable(writer: SchemaDocument, reader: SchemaDocument) -> Verdict:
    """Whether every payload that fits the writer's schema fits the reader's."""
    try:
        return verdict.verdict(parse(writer), parse(reader))
    except RecursionError:
        return Verdict(answer="undecided", reason="the schemas are nested too deeply to be compared.")
    except xpath.TooComplex as error:
        return Verdict(answer="undecided", reason=f"{error}.")


def _read(source: SchemaDocument) -> tuple[list[documents.SchemaPart], str]:
    if source.version not in _VERSIONS:
        raise FormatUnknown(f"XML Schema has the versions 1.0 and 1.1, not {source.version!r}.")
    parts = documents.collect(source)
    schema_limits.guard(parts)
    newer = parts[0].root.get(f"{{{VERSIONING}}}minVersion", "").strip() == "1.1"
    return parts, _VERSIONS[source.version] or ("1.1" if newer else "1.0")


def _root(components: Any, name: str) -> Any:
    namespace = components.target_namespace
    found = components.maps.elements.get(f"{{{namespace}}}{name}" if namespace else name)
    if found is None:
        found = next((one for tag, one in components.maps.elements.items() if local_name(tag) == name), None)
    if found is None:
        raise SchemaRefused(f"the schema does not declare the element {name!r}.")
    return found


def _with_namespace(name: str, tag: str) -> str:
    return f"{name} of {tag[1:].partition('}')[0]}" if tag.startswith("{") else name
