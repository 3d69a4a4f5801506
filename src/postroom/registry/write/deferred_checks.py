"""Checks of documents that wait until the write lock is free.

A write that meets a document nobody has checked goes on as if it were right, is rolled back, and is repeated when the
answers are known. Whether they still hold is seen by what they were given for: the documents themselves, and all that
was read on the way.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager

import msgspec

from postroom.model.schema_content import References
from postroom.registry.entities import Entity
from postroom.registry.read.referenced_documents import DocumentSource, surroundings
from postroom.registry.rules import (
    DocumentRules,
    Judgement,
    NoDocumentRules,
    ReferencedDocument,
    Surroundings,
)

MOST_SECONDS = 60.0
"""How long the comparisons of one request may take together; those that are left are not decided."""


class Unanswered(Exception):
    """An attempt that rests on answers nobody has."""


class DocumentCheck(msgspec.Struct, frozen=True):
    """Whether a document is of its format, or, with a rule, goes with its ancestors."""

    xid: str
    form: str
    document: bytes
    references: References = ()
    rule: str = ""
    older: tuple[ReferencedDocument, ...] = ()
    is_strict: bool = False


class _CheckResult(msgspec.Struct, frozen=True):
    """A judgement, and what was read of other documents to find it."""

    judgement: Judgement
    read: tuple[tuple[str, ReferencedDocument | None], ...]
    named: tuple[tuple[str, tuple[str, ...]], ...]

    def holds(self, around: Surroundings) -> bool:
        """Whether the other documents are still the same."""
        return all(around.read(path) == found for path, found in self.read) and all(
            tuple(around.names(xid)) == names for xid, names in self.named
        )


class DeferredChecks:
    """The rules on documents during one request, over all its attempts."""

    def __init__(self) -> None:
        self.waits = True
        """Whether a check that was not made yet may wait; otherwise it is made at once."""
        self.written: list[tuple[str, Entity | None]] = []
        """What the present attempt wrote (None: removed), in order."""
        self._rules: DocumentRules = NoDocumentRules()
        self._known: dict[DocumentCheck, list[_CheckResult]] = {}
        self._open: dict[DocumentCheck, int] = {}
        self._properties: dict[tuple[str, bytes], tuple[tuple[str, str], ...] | None] = {}
        """Those of documents; None while nobody has looked for them."""
        self._left = MOST_SECONDS

    def begin(self, rules: DocumentRules) -> None:
        """Start an attempt."""
        self._rules = rules
        self._open.clear()
        self.written.clear()

    @property
    def is_open(self) -> bool:
        """Whether the attempt rests on answers that are not known."""
        return bool(self._open) or None in self._properties.values()

    def require_answers(self) -> None:
        """Refuse to end an attempt that rests on answers that are not known."""
        if self.is_open:
            raise Unanswered

    @property
    def offered(self) -> Mapping[str, tuple[str, ...]]:
        """The formats that can be checked."""
        return self._rules.offered

    def check(self, name: str, content: bytes, around: Surroundings) -> Judgement:
        """Whether a document is what its format says."""
        return self._judge(DocumentCheck(around.xid, name, content, around.references), around)

    def compare(
        self,
        name: str,
        older: list[ReferencedDocument],
        newer: bytes,
        rule: str,
        around: Surroundings,
        *,
        is_strict: bool = False,
    ) -> Judgement:
        """Whether a document may follow its ancestors."""
        check = DocumentCheck(around.xid, name, newer, around.references, rule, tuple(older), is_strict)
        return self._judge(check, around)

    def properties(self, name: str, content: bytes) -> tuple[tuple[str, str], ...]:
        """The properties that a schema describes by itself."""
        if not self.waits and self._properties.get((name, content)) is None:
            self._properties[name, content] = self._rules.properties(name, content)
        return self._properties.setdefault((name, content), None) or ()

    def _judge(self, document_check: DocumentCheck, around: Surroundings) -> Judgement:
        for answer in self._known.get(document_check, ()):
            if answer.holds(around):
                return answer.judgement
        if not self.waits:
            return self._ask(document_check, around)
        self._open.setdefault(document_check, len(self.written))
        return Judgement("yes")

    def answer(self, read: Callable[[], AbstractContextManager[DocumentSource]]) -> None:
        """Find the answers, on the state that is committed and what the attempt had written when it asked."""
        written = _AttemptState(read)
        for document_check, position in self._open.items():
            written.advance(self.written, position)
            watch = _RecordedReads(surroundings(written, document_check.xid, document_check.references))
            judgement = self._ask(document_check, watch.around)
            answer = _CheckResult(judgement, tuple(watch.read.items()), tuple(watch.named.items()))
            self._known.setdefault(document_check, []).append(answer)
        self._open.clear()
        for (name, content), found in self._properties.items():
            if found is None:
                self._properties[name, content] = self._rules.properties(name, content)

    def _ask(self, document_check: DocumentCheck, around: Surroundings) -> Judgement:
        if not document_check.rule:
            return self._rules.check(document_check.form, document_check.document, around)
        if self._left <= 0:
            return Judgement("unknown", f"The comparisons of one request were given up after {MOST_SECONDS:g} seconds.")
        start = time.monotonic()
        older = list(document_check.older)
        judgement = self._rules.compare(
            document_check.form,
            older,
            document_check.document,
            document_check.rule,
            around,
            is_strict=document_check.is_strict,
        )
        self._left -= time.monotonic() - start
        return judgement


class _RecordedReads:
    """Surroundings that note what is read of them."""

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self.read: dict[str, ReferencedDocument | None] = {}
        self.named: dict[str, tuple[str, ...]] = {}
        self.around = Surroundings(around.xid, self._read, self._names, around.references)

    def _read(self, path: str) -> ReferencedDocument | None:
        if path not in self.read:
            self.read[path] = self._around.read(path)
        return self.read[path]

    def _names(self, xid: str) -> Iterable[str]:
        if xid not in self.named:
            self.named[xid] = tuple(self._around.names(xid))
        return self.named[xid]


class _AttemptState:
    """The committed state with what an attempt had written over it, up to some point."""

    def __init__(self, read: Callable[[], AbstractContextManager[DocumentSource]]) -> None:
        self._read = read
        self._entities: dict[str, Entity | None] = {}
        self._position = 0

    def advance(self, written: list[tuple[str, Entity | None]], position: int) -> None:
        """Go on to a later point."""
        self._entities.update(written[self._position : position])
        self._position = max(position, self._position)

    def entity(self, xid: str) -> Entity | None:
        """The entity with exactly this xid."""
        if xid in self._entities:
            return self._entities[xid]
        # One short read each: a snapshot over all checks would keep the store from tidying up.
        with self._read() as tx:
            return tx.entity(xid)

    def entities(self, collection: str) -> list[Entity]:
        """The members of a collection."""
        with self._read() as tx:
            found: dict[str, Entity | None] = {entity.xid: entity for entity in tx.entities(collection)}
        found |= {xid: one for xid, one in self._entities.items() if xid.rpartition("/")[0] == collection}
        return sorted((entity for entity in found.values() if entity is not None), key=lambda one: one.id.casefold())
