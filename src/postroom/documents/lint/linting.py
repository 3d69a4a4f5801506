"""Linting: all rules over a document, the findings in the order of its places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from postroom.documents.lint.findings import SEVERITIES, Finding, Remark
from postroom.documents.lint.gathering import Gathered, gather
from postroom.documents.lint.schema_checks import SchemaChecks
from postroom.documents.lint.subjects import Document
from postroom.documents.lint.table import GROUP_TWICE, RULES, About, Rule
from postroom.messages.tree import Tree
from postroom.settings import Settings


def lint_source(source: str, settings: Settings) -> list[Finding]:
    """What is wrong with the catalog of a source; an unreadable one raises an error."""
    gathered = gather(source, settings)
    twice = [
        Finding(file=file, pointer=remark.pointer, severity="error", code=GROUP_TWICE, sentence=remark.sentence)
        for file, remark in gathered.twice
    ]
    return sorted([*twice, *_found(gathered)], key=_order)


def lint_tree(tree: Tree, file: str = "") -> list[Finding]:
    """What is wrong with a catalog document."""
    return sorted(_found(Gathered(tree, file)), key=_order)


def _found(gathered: Gathered) -> Iterator[Finding]:
    document = Document(gathered.tree)
    for rule, remark in _remarks(document):
        yield Finding(
            file=gathered.file_of(remark.pointer),
            pointer=remark.pointer,
            severity=rule.severity,
            code=rule.code,
            sentence=remark.sentence,
            remedy=remark.remedy,
        )


def _remarks(document: Document) -> Iterator[tuple[Rule, Remark]]:
    subjects: dict[About, Iterable[Any]] = {
        "document": [document],
        "message": [message for message in document.messages if not message.borrowed],
        "schema": document.schemas,
        "endpoint": document.endpoints,
        "documents": [SchemaChecks(document)],
    }
    for rule in RULES:
        for subject in subjects[rule.about]:
            for remark in rule.find(subject):
                yield rule, remark


def _order(finding: Finding) -> tuple[str, int, str, str]:
    return finding.file, SEVERITIES.index(finding.severity), finding.pointer, finding.code
