"""Linting: all rules over a document, the findings in the order of its places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from postroom.catalog.lint_input import Gathered, gather
from postroom.documents.lint.findings import SEVERITIES, Finding, Remark
from postroom.documents.lint.rule_table import OLD_RULES, RULES, SEVERITY_OF, About, Rule
from postroom.documents.lint.rules.schema_documents import SchemaChecks
from postroom.documents.lint.subjects import Document
from postroom.documents.multi_file import Origin
from postroom.messages.definitions.catalog_tree import Tree
from postroom.settings import Settings


def lint_source(source: str, settings: Settings) -> list[Finding]:
    """What is wrong with the catalog of a source; an unreadable one raises an error."""
    gathered = gather(source, settings)
    return sorted([*_snags(gathered), *_found(gathered)], key=_order)


def _snags(gathered: Gathered) -> Iterator[Finding]:
    """What was found while the files were put together, and in older documents as they are written."""
    for snag in gathered.snags:
        file, place = gathered.written_in(Origin(snag.file), snag.place)
        yield _finding(snag.code, file, Remark(place, snag.sentence))
    for path, document in gathered.documents.items():
        for code, find in OLD_RULES.items():
            for remark in find(document):
                yield _finding(code, str(path), remark)


def _finding(code: str, file: str, remark: Remark) -> Finding:
    return Finding(
        file=file,
        pointer=remark.pointer,
        severity=SEVERITY_OF[code],
        code=code,
        sentence=remark.sentence,
        remedy=remark.remedy,
    )


def lint_tree(tree: Tree, file: str = "") -> list[Finding]:
    """What is wrong with a catalog document."""
    return sorted(_found(Gathered(tree, file)), key=_order)


def _found(gathered: Gathered) -> Iterator[Finding]:
    document = Document(gathered.tree)
    for rule, remark in _remarks(document):
        file, place = gathered.written(remark.pointer)
        said = (gathered.worded(file, words) for words in (remark.sentence, remark.remedy))
        yield _finding(rule.code, file, Remark(place, *said))


def _remarks(document: Document) -> Iterator[tuple[Rule, Remark]]:
    subjects: dict[About, Iterable[Any]] = {
        "document": [document],
        "message": [message for message in document.messages if not message.borrowed],
        "schema": document.schemas,
        "endpoint": document.endpoints,
        "documents": [SchemaChecks(document)],
        "written": [],
    }
    for rule in RULES:
        for subject in subjects[rule.about]:
            for remark in rule.find(subject):
                yield rule, remark


def _order(finding: Finding) -> tuple[str, int, str, str]:
    return finding.file, SEVERITIES.index(finding.severity), finding.pointer, finding.code
