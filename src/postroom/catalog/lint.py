"""Lint of a source: all rules over its catalog, with the file and the JSON pointer of each finding."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from postroom.catalog.service import read_service_document
from postroom.catalog.sources import read_source
from postroom.documents.catalog_files import CatalogFiles, FileProblem, GroupOrigin
from postroom.documents.dialects.convert import FOREIGN, ParsedCatalog, translate_older
from postroom.documents.dialects.detect import dialect_of
from postroom.documents.dialects.walk_tree import group_types
from postroom.documents.lint.findings import SEVERITIES, Diagnostic, Finding
from postroom.documents.lint.rule_table import OLDER_DOCUMENT_RULES, RULES, SEVERITY_OF, LintRule, Subject
from postroom.documents.lint.rules.schema_documents import SchemaChecks
from postroom.documents.lint.source_pointers import source_pointer, with_v0_5_names
from postroom.documents.lint.subjects import LintedDocument, LintedEndpoint, LintedResource
from postroom.errors import DocumentRefused
from postroom.messages.definitions.catalog_tree import Tree
from postroom.model.json_pointers import pointer
from postroom.settings import Settings
from postroom.urls import scheme_of

SERVICE_0_5 = "0.5-service"
Entity = TypeVar("Entity", LintedResource, LintedEndpoint)
_VERSION_RULES = tuple(rule for rule in RULES if rule.code == "schema_incompatible")
# What later texts demand and the text of a dialect does not.
_NOT_DEMANDED = {
    "0.5-message": frozenset({"consumergroup_missing"}),
    SERVICE_0_5: frozenset({"consumergroup_missing"}),
    "catalog": frozenset({"dataschemaformat_missing", "selector_malformed", "type_id_mismatch"}),
}


def lint_source(source: str, settings: Settings) -> list[Finding]:
    """What is wrong with the catalog of a source; an unreadable one raises an error."""
    catalog = _read(source, settings)
    written = list(_file_findings(catalog))
    # What was found in an older document as it is written is not said again in the names of 1.0.
    known = {(one.file, one.pointer, one.code) for one in written}
    found = [one for one in _rule_findings(catalog, settings) if (one.file, one.pointer, one.code) not in known]
    return sorted([*written, *found], key=lambda one: (one.file, SEVERITIES.index(one.severity), one.pointer, one.code))


def locate_in_source(source: str, settings: Settings, pointers: Iterable[str]) -> dict[str, tuple[str, str]]:
    """The files that pointers into the catalog of a source lead into, and the pointers in the names of those files."""
    catalog = _read(source, settings)
    return {one: catalog.locate(one) for one in pointers}


class _SourceCatalog:
    """One catalog document, and for every pointer into it the file and the pointer in that file."""

    def __init__(self, tree: Tree, source: str) -> None:
        self.tree = tree
        self.source = source
        self.problems: list[FileProblem] = []
        self.files: CatalogFiles | None = None
        self.document: Tree | None = None
        """What a service gave, as it is written there."""

    @cached_property
    def older_documents(self) -> dict[str, Tree]:
        """The documents of older dialects among the files, or that of a service."""
        found: dict[Any, Tree] = {self.source: self.document} if self.document is not None else {}
        found |= self.files.documents if self.files is not None else {}
        return {str(file): document for file, document in found.items() if dialect_of(document) in FOREIGN}

    def locate(self, tree_pointer: str) -> tuple[str, str]:
        """The file that a pointer into the tree leads into, and the pointer in the names of that file."""
        if self.files is None:
            document = self.older_documents.get(self.source)
            return self.source, source_pointer(document, tree_pointer) if document else tree_pointer
        steps = [step.replace("~1", "/").replace("~0", "~") for step in tree_pointer.split("/")[1:3]]
        group_type, group = steps[0] if steps else "", steps[1] if len(steps) > 1 else ""
        if not group_type and not self.files.is_folder:
            return self.source, tree_pointer
        file = self.files.members.get(group_type, Path(self.source))
        return self.locate_in(self.files.origins.get((group_type, group), GroupOrigin(file)), tree_pointer)

    def locate_in(self, origin: GroupOrigin, tree_pointer: str) -> tuple[str, str]:
        """A file as text, and the pointer in its names that a pointer into the tree means there."""
        document = self.files.documents.get(origin.file) if self.files is not None else None
        if document is None:
            return str(origin.file), tree_pointer
        if origin.steps is not None:
            collection: Tree = document
            for step in origin.steps:
                collection = collection[step]
            group_type = tree_pointer.split("/")[1]
            below = source_pointer({group_type: collection}, tree_pointer).removeprefix("/" + group_type)
            return str(origin.file), pointer(origin.steps) + below
        is_older = dialect_of(document) in FOREIGN
        return str(origin.file), source_pointer(document, tree_pointer) if is_older else tree_pointer

    def dialect_in(self, file: str) -> str:
        """The older dialect that a file is in; nothing for one of 1.0."""
        document = self.older_documents.get(file)
        return dialect_of(document) if document else ""

    def with_names_of(self, file: str, sentence: str) -> str:
        """A sentence with the names that the dialect of a file has for members."""
        dialect = self.dialect_in(file)
        is_v0_5 = dialect.startswith("0.5")
        return with_v0_5_names(sentence, service=dialect == SERVICE_0_5) if is_v0_5 else sentence


def _read(source: str, settings: Settings) -> _SourceCatalog:
    """The catalog of a source: of all files of a folder together, of a service or of a store."""
    catalog = _SourceCatalog({}, source)
    if scheme_of(source) in ("http", "https"):
        # A service of any release of 1.0 keeps its own names, which lint has something to say about.
        catalog.document = read_service_document(source, settings)
        catalog.tree = translate_older(catalog.document)
        return catalog
    if scheme_of(source):
        catalog.tree = read_source(source, settings)
        return catalog
    catalog.files = CatalogFiles(Path(source), settings, _parse, catalog.problems.append)
    catalog.files.read()
    catalog.tree = catalog.files.tree
    return catalog


def _parse(document: Tree) -> ParsedCatalog | None:
    """Older dialects are looked at in the names of 1.0; a document of 1.0 exactly as it is written."""
    if not dialect_of(document) and not any(name in document for name in group_types(document)):
        return None
    return ParsedCatalog(translate_older(document), "")


def _file_findings(catalog: _SourceCatalog) -> Iterator[Finding]:
    """What was found while the files were put together, and in older documents as they are written."""
    for problem in catalog.problems:
        file, place = catalog.locate_in(GroupOrigin(problem.file), problem.pointer)
        yield _finding(problem.code, file, Diagnostic(place, problem.sentence))
    for path, document in catalog.older_documents.items():
        for code, find in OLDER_DOCUMENT_RULES.items():
            for diagnostic in find(document):
                yield _finding(code, path, diagnostic)


def refuse_incompatible(source: str, parsed: ParsedCatalog, settings: Settings) -> None:
    """Refuse files of the 0.5 service in which a version of a schema cannot read what an earlier one describes."""
    if SERVICE_0_5 not in parsed.dialect.split(", "):
        return
    for finding in _rule_findings(_read(source, settings), settings, _VERSION_RULES):
        raise DocumentRefused(finding.sentence, place=f"{finding.file}#{finding.pointer}", remedy=finding.remedy)


def _rule_findings(catalog: _SourceCatalog, settings: Settings, rules: Iterable[LintRule] = RULES) -> Iterator[Finding]:
    def is_of_0_5(xid: str) -> bool:
        return catalog.dialect_in(catalog.locate(xid)[0]) == SERVICE_0_5

    for rule, diagnostic in diagnose(LintedDocument(catalog.tree), settings, rules, is_of_0_5):
        file, place = catalog.locate(diagnostic.pointer)
        if rule.code in _NOT_DEMANDED.get(catalog.dialect_in(file), ()):
            continue
        sentences = (catalog.with_names_of(file, text) for text in (diagnostic.sentence, diagnostic.remedy))
        yield _finding(rule.code, file, Diagnostic(place, *sentences))


def diagnose(
    document: LintedDocument,
    settings: Settings,
    rules: Iterable[LintRule] = RULES,
    reads_all: Callable[[str], bool] = lambda _: False,
    only: Collection[str] | None = None,
) -> Iterator[tuple[LintRule, Diagnostic]]:
    """What rules find in a document; `reads_all` says whose Versions have to read those before without saying so.

    `only` names the messages, schemas and endpoints to look at; rules on the whole document may speak of others.
    """

    def wanted(subjects: Iterable[Entity]) -> list[Entity]:
        return [one for one in subjects if only is None or one.xid in only]

    subjects: dict[Subject, Iterable[Any]] = {
        "document": [document],
        "message": wanted(message for message in document.messages if not message.borrowed),
        "schema": wanted(schema for schema in document.schemas if not schema.borrowed),
        "endpoint": wanted(document.endpoints),
        "documents": [SchemaChecks(document, settings.strict_compatibility, reads_all)],
        "written": [],
    }
    for rule in rules:
        for subject in subjects[rule.subject]:
            if rule.needs and rule.needs.isdisjoint(subject.names):
                continue
            for diagnostic in rule.find(subject):
                yield rule, diagnostic


def _finding(code: str, file: str, diagnostic: Diagnostic) -> Finding:
    return Finding(
        file=file,
        pointer=diagnostic.pointer,
        severity=SEVERITY_OF[code],
        code=code,
        sentence=diagnostic.sentence,
        remedy=diagnostic.remedy,
    )
