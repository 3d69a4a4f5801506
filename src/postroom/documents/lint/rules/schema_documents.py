"""Rules that read schema documents: refused ones, missing types, Versions that do not go together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Any

from postroom.documents.lint.findings import Diagnostic
from postroom.documents.lint.members import section, text
from postroom.documents.lint.subjects import LintedDocument, LintedMessage, LintedSchema
from postroom.errors import FormatUnknown, SchemaRefused
from postroom.formats.compatibility import MODES, compatible
from postroom.formats.format_table import check_schema, parse_schema, readable_documents
from postroom.formats.schema import Verdict
from postroom.messages.definitions.catalog_tree import Tree, members, version_order
from postroom.messages.definitions.definition import SchemaSource
from postroom.messages.definitions.schema_documents import SchemaDocuments
from postroom.messages.definitions.schema_sources import stored_schemas

# A refusal of a reference to a document that is not there, rather than of the document itself.
REFERENCE_MISSING = "reference_missing"


class SchemaChecks:
    """The rules that read schema documents; a document is read once, however many messages use it.

    A schema that `reads_all` is one of the 0.5 service: a version there "MUST be backwards compatible with all previous
    versions" (D5R-035), and the order of versions is that of their ids.
    """

    def __init__(
        self, document: LintedDocument, is_strict: bool = False, reads_all: Callable[[str], bool] = lambda _: False
    ) -> None:
        self._document = document
        self._is_strict = is_strict
        self._reads_all = reads_all
        self._types: dict[tuple[str, str], SchemaRefused | None] = {}

    @cached_property
    def _documents(self) -> SchemaDocuments:
        groups = members(self._document.tree, "schemagroups")
        return SchemaDocuments(stored_schemas(self._document.tree, groups))

    @cached_property
    def refused(self) -> dict[str, tuple[str, SchemaRefused]]:
        """The documents that their formats do not allow: their pointers and why, by where they are kept."""
        found = {}
        for schema in self._document.schemas:
            for name in schema.versions:
                place = self._place(schema, name)
                error = self._check(schema, name, place) if place is not None else None
                if place is not None and error is not None:
                    found[place] = schema.version_at(name, _member(schema.versions[name])), error
        return found

    def missing_types(self) -> Iterator[Diagnostic]:
        """References to a type that the document does not have."""
        for message in self._document.messages:
            source, name = message.schema, reference_name(message)
            if source is None or source.missing or not source.place or name not in message.own:
                continue
            error = self._parse(source)
            if error is not None and source.place not in self.refused:
                yield Diagnostic(message.at(name), _sentence(error), error.remedy or "Correct the reference.")

    @cached_property
    def verdicts(self) -> list[tuple[str, str, Verdict]]:
        """The Versions that their stated compatibility does not allow, or of which nothing decides it."""
        return list(self._verdicts())

    def _verdicts(self) -> Iterator[tuple[str, str, Verdict]]:
        for schema in self._document.schemas:
            reads_all = len(schema.versions) > 1 and self._reads_all(schema.xid)
            mode = "backward_transitive" if reads_all else _compatibility(schema)
            if mode in ("", "none") or mode not in MODES:
                continue
            for name, ancestors in _earlier(schema) if reads_all else _ancestors(schema):
                verdict = self._compare(schema, name, ancestors, mode)
                if verdict is not None and verdict.answer != "compatible":
                    yield schema.version_at(name, _member(schema.versions[name])), mode, verdict

    def _check(self, schema: LintedSchema, name: str, place: str) -> SchemaRefused | None:
        content, library = self._documents.of(SchemaSource(format="", place=place))
        return refusal(lambda: check_schema(schema.format_of(name), content, library))

    def _parse(self, source: SchemaSource) -> SchemaRefused | None:
        key = (source.place, source.fragment)
        if key not in self._types:
            content, library = self._documents.of(source)
            self._types[key] = refusal(lambda: parse_schema(source.format, content, source.fragment, library))
        return self._types[key]

    def _compare(self, schema: LintedSchema, name: str, ancestors: list[str], mode: str) -> Verdict | None:
        places = [self._place(schema, one) for one in (name, *ancestors)]
        known = [place for place in places if place is not None]
        if len(known) < len(places) or any(place in self.refused for place in known):
            return None
        form = schema.format_of(name)
        own, *older = [(form, *self._documents.of(SchemaSource(format="", place=place))) for place in known]
        try:
            return compatible(older, own, mode, partial(readable_documents, is_strict=self._is_strict))
        except (SchemaRefused, FormatUnknown, ImportError):
            return None

    def _place(self, schema: LintedSchema, name: str) -> str | None:
        """Where the document of a Version is kept; None where there is none."""
        if all(schema.versions.get(name, {}).get(member) is None for member in ("schema", "schemabase64")):
            return None
        version = f"{schema.xid}/versions/{name}"
        place = schema.xid if str(schema.own.get("versionid") or "1") == name else version
        try:
            self._documents.of(SchemaSource(format="", place=place))
        except KeyError:
            return None
        return place


def reference_name(message: LintedMessage) -> str:
    """The member that refers to the payload schema."""
    return "dataschemaxid" if message.effective.get("dataschemaxid") else "dataschemauri"


def _member(version: Tree) -> str:
    return "schema" if version.get("schema") is not None else "schemabase64"


def refusal(read: Callable[[], Any]) -> SchemaRefused | None:
    """Why a document is refused; formats that are not read here refuse nothing."""
    try:
        read()
    except SchemaRefused as error:
        return error
    except (FormatUnknown, ImportError):
        return None
    return None


def refused(pointer: str, error: SchemaRefused) -> Diagnostic:
    inside = error.place if error.place.startswith("/") else ""
    return Diagnostic(pointer + inside, _sentence(error), error.remedy)


def _sentence(error: SchemaRefused) -> str:
    where = f"at {error.place}: " if error.place and not error.place.startswith("/") else ""
    return where + error.sentence


def document_refused(checks: SchemaChecks) -> Iterator[Diagnostic]:
    """A document is one that its format allows."""
    for pointer, error in checks.refused.values():
        if error.code != REFERENCE_MISSING:
            yield refused(pointer, error)


def document_reference_missing(checks: SchemaChecks) -> Iterator[Diagnostic]:
    """What a document refers to is in the catalog."""
    for pointer, error in checks.refused.values():
        if error.code == REFERENCE_MISSING:
            yield refused(pointer, error)


def type_missing(checks: SchemaChecks) -> Iterator[Diagnostic]:
    """The type that a message's reference picks is in the document."""
    yield from checks.missing_types()


def incompatible(checks: SchemaChecks) -> Iterator[Diagnostic]:
    """Versions keep the compatibility that is stated for them."""
    for pointer, mode, verdict in checks.verdicts:
        if verdict.answer == "incompatible":
            shown = f" Counterexample: {verdict.shown}" if verdict.shown else ""
            sentence = f"this Version is not {mode} compatible: {_reason(verdict)}.{shown}"
            remedy = "Change it so that it is, or start a new schema."
            yield Diagnostic(pointer + _inside(mode, verdict), sentence, remedy)


def _inside(mode: str, verdict: Verdict) -> str:
    """Where in the newer document, which reads in one direction and writes in the other."""
    place = {"backward": verdict.reader_at, "forward": verdict.writer_at}.get(mode.partition("_")[0], "")
    return place if place.startswith("/") else ""


def _reason(verdict: Verdict) -> str:
    reason = verdict.reason.rstrip(".")
    return reason[:1].lower() + reason[1:] if reason[1:2].islower() else reason


def undecided(checks: SchemaChecks) -> Iterator[Diagnostic]:
    """Versions of which nobody can tell whether they are compatible."""
    for pointer, mode, verdict in checks.verdicts:
        if verdict.answer == "undecided":
            yield Diagnostic(pointer, f"whether this Version is {mode} compatible is not decided: {_reason(verdict)}.")


def _compatibility(schema: LintedSchema) -> str:
    return text(section(schema.raw, "meta"), "compatibility").lower()


def _earlier(schema: LintedSchema) -> Iterator[tuple[str, list[str]]]:
    """Each version of 0.5 with those before it, nearest first."""
    ordered = sorted(schema.versions, key=version_order)
    return ((name, ordered[:position][::-1]) for position, name in enumerate(ordered) if position)


def _ancestors(schema: LintedSchema) -> Iterator[tuple[str, list[str]]]:
    """Each Version with its ancestors, nearest first: by `ancestorid`, else by age."""
    versions = schema.versions
    ordered = sorted(versions, key=lambda name: (str(versions[name].get("createdat", "")), _number(name), name))
    before = {name: ordered[position - 1] if position else name for position, name in enumerate(ordered)}
    for name in ordered:
        chain: list[str] = []
        current = name
        while True:
            stated = text(versions[current], "ancestorid") or text(versions[current], "ancestor")
            parent = stated if stated in versions else before[current]
            if parent in (current, name, *chain):
                break
            chain.append(parent)
            current = parent
        if chain:
            yield name, chain


def _number(name: str) -> int:
    return int(name) if name.isdecimal() and len(name) < 20 else -1
