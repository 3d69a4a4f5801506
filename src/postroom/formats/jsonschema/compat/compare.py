"""Whether every JSON value that fits one JSON Schema fits another: all values, or those without undeclared members.

A yes needs a proof, a no needs a payload that the writer's validator accepts and the reader's refuses; all else is
undecided, with the reason. A proof that a payload contradicts counts for nothing.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice
from typing import Any

import jsonschema_rs
import msgspec

from postroom.errors import SchemaRefused
from postroom.formats.format_table import parse_schema
from postroom.formats.jsonschema.compat.absent_members import AbsentMembers
from postroom.formats.jsonschema.compat.compare_context import CompareContext, OutOfWork
from postroom.formats.jsonschema.compat.containment import Prover
from postroom.formats.jsonschema.compat.counterexamples import CounterexampleSearch, combine_values, simplify
from postroom.formats.jsonschema.compat.differences import all_nodes, conflicting_pointers, measure_expansion
from postroom.formats.jsonschema.compat.equivalence import EquivalenceClasses
from postroom.formats.jsonschema.compat.normal_form import Node, NormalForm, SchemaTooLarge
from postroom.formats.jsonschema.validator_panics import panics_as
from postroom.formats.jsonschema.violations import TOO_COSTLY
from postroom.formats.schema import PayloadSchema, SchemaDocument, Verdict, Violation
from postroom.formats.schema_text import load_json

_PROOF_WORK = 40_000
_SEARCH_WORK = 40_000
_MIXTURES = 400
_SAMPLES = 5
_MOST_CANONICAL_NODES = 800
_MOST_CANONICAL_CASES = 300
_MOST_CANONICAL_REQUIRED = 30
_SHOWN = 2000
_SIMPLER = 100
_MOST_BYTES = 2_000_000
_MOST_LOOKS = 1_000_000
# What ends a proof or a search without an answer.
_GIVEN_UP = (OutOfWork, RecursionError, ValueError, OverflowError, jsonschema_rs.ReferencingError)


def readable(writer: SchemaDocument, reader: SchemaDocument) -> Verdict:
    """Whether every payload that fits the writer's schema fits the reader's."""
    comparison = _Comparison(writer, reader)
    if _is_same(writer, reader):
        return Verdict(answer="compatible")
    if comparison.obstacle:
        return Verdict(answer="undecided", reason=comparison.obstacle)
    return comparison.verdict()


def _refuses(reader: PayloadSchema, payload: bytes) -> bool:
    violations = reader.validate(payload)[1]
    # What takes too long to judge may be valid.
    return bool(violations) and violations[0].code != TOO_COSTLY


class _Comparison:
    def __init__(self, writer: SchemaDocument, reader: SchemaDocument) -> None:
        self.sides = _parsed(writer), _parsed(reader)
        self.obstacle = ""
        self.cases = 1
        self.bytes = _MOST_BYTES
        defs: dict[str, Node] = {}
        for side, prefix, source in (("writer's", "w", writer), ("reader's", "r", reader)):
            try:
                form = NormalForm(source, prefix, defs)
                self.cases = max(self.cases, measure_expansion(form).cases)
            except SchemaTooLarge as error:
                self.obstacle = f"The {side} schema is beyond what is compared: {error}."
                return
            if prefix == "w":
                self.written = form
            else:
                self.read = form
        self.absent: Node = {}
        if not writer.undeclared_members:
            try:
                self.absent = AbsentMembers(defs).schema(self.written.root, self.read.root)
            except _GIVEN_UP:
                self.obstacle = "The members that both schemas declare cannot be listed."
                return
        self.given: Node = {"allOf": [self.written.root, self.absent]} if self.absent else self.written.root
        self.quick = CompareContext(defs, _MOST_LOOKS)
        self.equivalence = EquivalenceClasses((self.given, self.read.root), defs)

    def verdict(self) -> Verdict:
        """Search for a proof, and for a payload that contradicts it."""
        proven, failed = self._proof()
        for value in self._candidates():
            if self._contradiction(value):
                self.bytes = _MOST_BYTES
                return self._no(self._simplest(value))
            if self.bytes < 0:
                break
        if proven or self._covers():
            return Verdict(answer="compatible")
        reason = (
            "No rule proves that every payload of the writer's schema fits the reader's, and no exception was found"
        )
        hidden = sorted({*self.written.opaque, *self.read.opaque})
        if hidden:
            reason += f"; not followed: {', '.join(hidden[:3])}"
        return Verdict(answer="undecided", reason=f"{reason}.", writer_at=failed[0], reader_at=failed[1])

    def _contradiction(self, value: Any) -> bool:
        writer, reader = self.sides
        try:
            payload = writer.encode(value)
        except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError):
            return False
        self.bytes -= len(payload)
        # A quick look first: telling all that is wrong with a payload takes much longer than telling that it is.
        if not self._is_expected(value) or not self._fits_quickly(value):
            return False
        return not writer.validate(payload)[1] and _refuses(reader, payload)

    def _fits_quickly(self, value: Any) -> bool:
        try:
            return self.quick.accepts((self.written.root,), value)
        except _GIVEN_UP:
            return True

    def _is_expected(self, value: Any) -> bool:
        try:
            return self.quick.accepts((self.absent,), value)
        except _GIVEN_UP:
            return False

    def _simplest(self, value: Any) -> Any:
        for _ in range(_SIMPLER):
            tries = islice(simplify(value), _SIMPLER)
            found = next(([less] for less in tries if self.bytes > 0 and self._contradiction(less)), None)
            if found is None:
                break
            (value,) = found
        return value

    def _no(self, value: Any) -> Verdict:
        payload = self.sides[0].encode(value)
        try:
            writer_at, reader_at = conflicting_pointers(self.written, self.read, value)
        except _GIVEN_UP:
            writer_at = reader_at = ""
        return Verdict(
            answer="incompatible",
            reason=_sentence(self.sides[1].validate(payload)[1][0]),
            writer_at=writer_at,
            reader_at=reader_at,
            counterexample=payload,
            shown=_shown(payload),
        )

    def _proof(self) -> tuple[bool, tuple[str, str]]:
        context = CompareContext(self.written.defs, _PROOF_WORK)
        prover = Prover(
            context,
            self.equivalence,
            opaque=bool(self.written.opaque or self.read.opaque),
            exact_integers=self.written.exact_integers or self.read.exact_integers,
        )
        try:
            proven = prover.contained(self.given, self.read.root)
        except _GIVEN_UP:
            proven = False
        if proven:
            return True, ("", "")
        if prover.failed is None:
            return False, ("", "")
        given, goal, keyword = prover.failed
        near = next((at for node in given if (at := self.written.pointer_of(context.original(node), keyword))), "")
        return False, (near, self.read.pointer_of(goal, keyword))

    def _covers(self) -> bool:
        """What jsonschema-rs says, where our own keywords do not matter. It is asked last: nothing can stop it."""
        forms = (self.written, self.read)
        # Canonical forms multiply alternatives, and take their time.
        is_large = self.cases > _MOST_CANONICAL_CASES or any(map(_is_large, forms))
        if is_large or any(form.opaque or form.exact_integers for form in forms):
            return False
        try:
            with panics_as(ValueError("the library gave up")):
                writer, reader = (_canonical(form) for form in forms)
                return bool(reader.covers(writer) == jsonschema_rs.canonical.Containment.YES)
        except _GIVEN_UP:
            return False

    def _candidates(self) -> Iterator[Any]:
        rng = random.Random(20)  # noqa: S311 - payloads, not secrets
        context = CompareContext(self.written.defs, _SEARCH_WORK)
        found: list[Any] = []
        try:
            for value in CounterexampleSearch(context, self.equivalence).values((self.given,), (self.read.root,)):
                found.append(value)
                yield value
        except _GIVEN_UP:
            pass
        # Where the search finds nothing, the generator of sample data may.
        for _ in range(_SAMPLES if not found else 0):
            try:
                value = self.sides[0].sample(rng)
            except SchemaRefused:
                break
            found.append(value)
            yield value
        yield from combine_values([value for value in found if isinstance(value, dict | list)], rng, _MIXTURES)


def _sentence(violation: Violation) -> str:
    where = f" at {violation.at}" if violation.at else ""
    if violation.code == "payload_required":
        return f"The reader requires {violation.expected}{where}, which may be missing."
    if violation.code in ("payload_additional_properties", "payload_unevaluated_properties"):
        return f"The reader allows no {violation.expected}{where}."
    if violation.code == "payload_false_schema":
        return f"The reader allows nothing{where or ' there'}, but it may be {violation.found}."
    return f"The reader expects {violation.expected}{where}, but it may be {violation.found}."


def _parsed(source: SchemaDocument) -> PayloadSchema:
    name = f"JsonSchema/{source.version}" if source.version else "JsonSchema"
    return parse_schema(name, source.document, source.fragment, source.library)


def _is_same(writer: SchemaDocument, reader: SchemaDocument) -> bool:
    same_place = writer.version == reader.version and writer.fragment == reader.fragment
    if not same_place or writer.library is not reader.library:
        return False
    first, second = (msgspec.json.encode(load_json(side.document), order="sorted") for side in (writer, reader))
    return first == second


def _is_large(form: NormalForm) -> bool:
    """Whether jsonschema-rs would take long: it tries members that are required in each other's company."""
    if len(form.subschemas) > _MOST_CANONICAL_NODES:
        return True
    return any(len(node.get("required", ())) > _MOST_CANONICAL_REQUIRED for node in all_nodes(form))


def _canonical(form: NormalForm) -> jsonschema_rs.CanonicalSchema:
    return jsonschema_rs.canonicalize(
        {"allOf": [form.root], "$defs": form.defs},
        draft=jsonschema_rs.Draft202012,
        validate_formats=True,
        offline=True,
    )


def _shown(payload: bytes) -> str:
    text = payload.decode("utf-8", "replace")
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
