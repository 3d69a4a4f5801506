"""Verdict on two schemas: what the comparison found, shown by a document that both validators check."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, Protocol

from lxml import etree

from postroom.errors import SchemaRefused
from postroom.formats.schema import Verdict, Violation
from postroom.formats.xsd import safe_parser
from postroom.formats.xsd.compat.compare import SchemaComparison
from postroom.formats.xsd.compat.differences import Path
from postroom.formats.xsd.element_codec import Plans
from postroom.formats.xsd.samples.sample_documents import DocumentGenerator, SampleRequest
from postroom.formats.xsd.xml_names import local_name
from postroom.formats.xsd.xpath import TooComplex

_MOST_DIFFERENCES = 25
_RANDOM_DOCUMENTS = 12
# Elements of all documents that are tried.
_MOST_ELEMENTS = 6_000


class ComparedSchema(Protocol):
    """What a verdict needs of a schema."""

    root: Any
    plans: Plans

    def violations(self, root: Any) -> list[Violation]:
        """What does not fit, of a payload that was read."""
        ...

    def takes(self, root: Any) -> bool:
        """Whether a payload is valid for xmlschema alone."""
        ...


class _Trials:
    """Documents tried on both schemas, so many and no more."""

    def __init__(self, writer: ComparedSchema, reader: ComparedSchema) -> None:
        self.writer = writer
        self.reader = reader
        self.left = _MOST_ELEMENTS

    def tells_apart(self, document: Any) -> bool:
        """Whether the writer takes a document and the reader does not, by each validator there is."""
        writer, reader = self.writer, self.reader
        self.left -= sum(1 for _ in document.iter())
        if self.left < 0:
            raise TooComplex("comparing the schemas takes documents that are too large to be tried")
        try:
            if writer.violations(document) or not reader.violations(document):
                return False
            starts_alike = document.tag == reader.root.name
            return writer.takes(document) and not (starts_alike and reader.takes(document))
        except (RecursionError, ValueError, TypeError):
            return False


def verdict(writer: ComparedSchema, reader: ComparedSchema) -> Verdict:
    """Whether every payload that fits the writer's schema fits the reader's; TooComplex where that takes too long."""
    trials = _Trials(writer, reader)
    comparison = SchemaComparison(writer.plans, reader.plans)
    root = (writer.root.name,)
    if writer.root.name == reader.root.name:
        comparison.element(writer.root, reader.root, root)
        found = _shown_difference(comparison, trials)
    else:
        found = _incompatible(trials, [SampleRequest(path=root)], "the root elements have different names", root)
    if found is not None:
        return found
    # The rules are ours: documents of the writer check every answer that is not a no.
    for document in _random_documents(writer):
        if trials.tells_apart(document):
            return _no(document, reader, "the reader refuses a payload of the writer", root)
    if comparison.differences:
        first = comparison.differences[0]
        return _undecided(f"{first.reason}, but no payload could be made that shows it.", first.path)
    if comparison.undecided:
        return _undecided(f"{comparison.undecided[0].reason}.", comparison.undecided[0].path)
    if writer.root.name != reader.root.name:
        return Verdict(answer="undecided", reason="the root elements differ, and no payload could be made.")
    return Verdict(answer="compatible")


def _shown_difference(comparison: SchemaComparison, trials: _Trials) -> Verdict | None:
    for difference in comparison.differences[:_MOST_DIFFERENCES]:
        found = _incompatible(trials, [difference.request], difference.reason, difference.path)
        if found is not None:
            return found
    return None


def _incompatible(trials: _Trials, requests: list[SampleRequest], reason: str, path: Path) -> Verdict | None:
    for request in requests:
        for plain in (True, True, False, False, False):
            document = _document(trials.writer, request, plain, random.Random(len(reason)))  # noqa: S311 - always the same
            if document is not None and trials.tells_apart(document):
                return _no(document, trials.reader, reason, path)
    return None


def _random_documents(writer: ComparedSchema) -> Iterator[Any]:
    for seed in range(_RANDOM_DOCUMENTS):
        document = _document(writer, None, seed < 2, random.Random(seed))  # noqa: S311 - always the same
        if document is not None:
            yield document


def _document(writer: ComparedSchema, request: SampleRequest | None, plain: bool, rng: random.Random) -> Any:
    try:
        tree = DocumentGenerator(writer.plans, rng, request, plain).document(writer.root)
        etree.cleanup_namespaces(tree)
        return safe_parser.read(etree.tostring(tree), safe_parser.parser())
    except (SchemaRefused, safe_parser.XmlRefused, ValueError, RecursionError):
        return None


def _no(document: Any, reader: ComparedSchema, reason: str, path: Path) -> Verdict:
    payload: bytes = etree.tostring(document)
    etree.indent(document)
    wrong = reader.violations(document)
    seen = f" ({wrong[0].at} must be {wrong[0].expected} but is {wrong[0].found})" if wrong else ""
    return Verdict(
        answer="incompatible",
        reason=f"{reason}{seen}.",
        writer_at=_xpath_of(path),
        reader_at=_xpath_of(path),
        counterexample=payload,
        shown=etree.tostring(document, encoding="unicode"),
    )


def _undecided(reason: str, path: Path) -> Verdict:
    return Verdict(answer="undecided", reason=reason, writer_at=_xpath_of(path), reader_at=_xpath_of(path))


def _xpath_of(path: Path) -> str:
    return "/" + "/".join(local_name(tag) for tag in path)
