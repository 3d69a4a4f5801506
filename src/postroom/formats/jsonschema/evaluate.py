"""Judging a payload level by level, in bounded steps, with the reasons of the closest alternative.

jsonschema-rs says quickly whether a payload fits. Asked why not, it collects all errors of all alternatives, which
double with every level of a recursive schema. Here every subschema judges every value once, whatever leads there.
The plain keywords are left to the validator; what is here is how schemas are put together.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any

import msgspec

from postroom.formats.jsonschema.compile_validator import Compiler
from postroom.formats.jsonschema.drafts import dialect
from postroom.formats.jsonschema.keywords import CHOICES, FOLLOWERS, UNEVALUATED
from postroom.formats.jsonschema.local_assertions import Assertions, GaveUp
from postroom.formats.jsonschema.referenced_documents import Documents
from postroom.formats.jsonschema.schema_addresses import Located
from postroom.formats.jsonschema.violations import MOST_OPTIONS, of_keyword, of_kind
from postroom.formats.schema import Violation
from postroom.model.json_pointers import pointer

MOST_STEPS = 200_000
MOST_FINDINGS = 20
_MEMBERS_OF_A_STEP = 10
_COMBINING = frozenset(CHOICES + FOLLOWERS)
# The references by dynamic scope, by draft.
_DYNAMIC = {19: "$recursiveRef", 20: "$dynamicRef"}


class OutOfSteps(Exception):
    """A payload needs more steps than it may have."""


class Place:
    """One value of a payload, and where it is."""

    __slots__ = ("_children", "key", "parent", "value")

    def __init__(self, value: Any, parent: Place | None = None, key: str | int = "") -> None:
        self.value = value
        self.parent = parent
        self.key = key
        self._children: dict[str | int, Place] | None = None

    def child(self, key: str | int) -> Place:
        """The place of a member or an item."""
        if self._children is None:
            self._children = {}
        found = self._children.get(key)
        if found is None:
            found = self._children[key] = Place(self.value[key], self, key)
        return found

    def pointer(self) -> str:
        """The JSON pointer to this place."""
        keys: list[str | int] = []
        place = self
        while place.parent is not None:
            keys.append(place.key)
            place = place.parent
        return pointer(reversed(keys))


class Finding(msgspec.Struct, frozen=True, eq=False):
    """One way in which a value does not fit: in the validator's words (`kind`) or in ours (`expected`). One of
    alternatives is `explained` when the findings of the closest one follow."""

    place: Place
    keyword: str
    expected: str = ""
    kind: Any = None
    explained: bool = False

    def violation(self) -> Violation:
        """The finding in the words of all formats."""
        at = self.place.pointer()
        if self.kind is not None:
            return of_kind(at, self.kind, self.place.value)
        return of_keyword(at, self.keyword, self.expected, self.place.value)


class Outcome(msgspec.Struct, frozen=True, eq=False):
    """What one subschema finds about one value, and which members or items it has evaluated."""

    findings: tuple[Finding, ...] = ()
    evaluated: frozenset[str | int] = frozenset()


class Step(msgspec.Struct, frozen=True, eq=False):
    """A subschema, where its references start from, the resources that led to it, and the value it judges."""

    schema: Any
    base: str
    scope: tuple[str, ...]
    place: Place

    def part(self, schema: Any) -> Step:
        """A subschema that judges the same value."""
        return Step(schema, self.base, self.scope, self.place)

    def inside(self, schema: Any, key: str | int) -> Step:
        """A subschema that judges a member or an item."""
        return Step(schema, self.base, self.scope, self.place.child(key))


_FITS = Outcome()
_Key = tuple[int, tuple[str, ...], int]
_Judging = Generator[Step, Outcome | None, Outcome]
_Collecting = Generator[Step, Outcome, None]


def can_evaluate(documents: Documents) -> bool:
    """Whether all documents follow one draft and its own meta-schema."""
    return all(
        "$vocabulary" not in node and ("$schema" not in node or dialect(node["$schema"]) in (documents.draft, None))
        for node in documents.nodes()
    )


class Evaluator:
    """Judges values by one schema; threads may share it."""

    def __init__(self, documents: Documents, compiler: Compiler) -> None:
        self.documents = documents
        self.assertions = Assertions(compiler)
        nodes = list(documents.nodes())
        # What few schemas need is not kept track of for the others.
        self.marks = any(not node.keys().isdisjoint(UNEVALUATED) for node in nodes)
        self.scoped = any(not node.keys().isdisjoint(_DYNAMIC.values()) for node in nodes)

    def violations(self, start: Located, value: Any) -> list[Violation]:
        """What does not fit, at most MOST_FINDINGS; OutOfSteps when that takes too long to find out."""
        schema, base = start
        try:
            found = _Evaluation(self).run(Step(schema, base, (), Place(value)))
        except GaveUp as error:
            return [of_kind("", error.kind, error.text)]
        return [finding.violation() for finding in found.findings]


class _Evaluation:
    """One payload being judged: the steps that are left, and what is known by now."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._documents = evaluator.documents
        self._assertions = evaluator.assertions
        self._marks = evaluator.marks
        self._scoped = evaluator.scoped
        self._draft = evaluator.documents.draft.number
        self._left = MOST_STEPS
        self._outcomes: dict[_Key, Outcome] = {}
        # Names are values without a place in the payload, kept so that an id() stays the name of one object.
        self._names_kept: list[Place] = []

    def _spend(self, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            raise OutOfSteps

    def run(self, start: Step) -> Outcome:
        """Take steps until the first one is done; by hand, because payloads are deeper than Python's stack."""
        waiting: list[tuple[_Key, _Judging]] = []
        step = start
        while True:
            outcome = self._known(step)
            if outcome is None:
                self._spend(1 + _length(step.place.value) // _MEMBERS_OF_A_STEP)
                # Who comes here again meanwhile goes in a circle, and passes.
                self._outcomes[_key(step)] = _FITS
                waiting.append((_key(step), self._judged(step)))
            while True:
                if not waiting and outcome is not None:
                    return outcome
                try:
                    step = waiting[-1][1].send(outcome)
                    break
                except StopIteration as end:
                    outcome = self._outcomes[waiting.pop()[0]] = end.value

    def _known(self, step: Step) -> Outcome | None:
        if step.schema is True:
            return _FITS
        if step.schema is False:
            return Outcome((Finding(step.place, "falseSchema", "absent"),))
        return self._outcomes.get(_key(step))

    def _judged(self, step: Step) -> _Judging:
        schema, base = self._documents.enter(step.schema, step.base)
        scope = step.scope
        if self._scoped and base not in scope:
            scope = (*scope, base)
        here = _Here(Step(schema, base, scope, step.place), self._marks)
        if self._draft <= 7 and "$ref" in schema:
            yield from self._references(here)
            return here.outcome()
        for error in self._assertions.errors(schema, step.place.value, self._spend):
            here.add(Finding(step.place, error.kind.name, kind=error.kind))
        yield from self._references(here)
        if not schema.keys().isdisjoint(_COMBINING):
            yield from self._combined(here)
        if isinstance(step.place.value, dict):
            yield from self._members(here)
        elif isinstance(step.place.value, list):
            yield from self._items(here)
        return here.outcome()

    def _references(self, here: _Here) -> _Collecting:
        for name in ("$ref", _DYNAMIC.get(self._draft, "")):
            if name in here.schema:
                target, base = self._target(name, here)
                yield from here.take(Step(target, base, here.step.scope, here.step.place))

    def _target(self, name: str, here: _Here) -> Located:
        reference, base, scope = here.schema[name], here.step.base, here.step.scope
        found = self._documents.follow(reference, base)
        if found is None:
            raise OutOfSteps  # a meta-schema, which the validator has within itself
        anchor = str(reference).rpartition("#")[2]
        target = found[0] if isinstance(found[0], dict) else {}
        if name == "$dynamicRef" and target.get("$dynamicAnchor") == anchor:
            return self._documents.in_scope(anchor, scope) or found
        if name == "$recursiveRef" and target.get("$recursiveAnchor") is True:
            return self._documents.recursive_in_scope(scope) or found
        return found

    def _combined(self, here: _Here) -> _Collecting:
        schema, step = here.schema, here.step
        for part in schema.get("allOf", ()):
            yield from here.take(step.part(part))
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                yield from self._alternatives(here, keyword)
        if "not" in schema and not (yield step.part(schema["not"])).findings:
            here.add(Finding(step.place, "not", "valid under not"))
        if "if" in schema and self._draft >= 7:
            condition = yield step.part(schema["if"])
            here.evaluated(condition)
            chosen = "else" if condition.findings else "then"
            if chosen in schema:
                yield from here.take(step.part(schema[chosen]))
        if isinstance(step.place.value, dict):
            named = ("dependencies", "dependentSchemas") if self._draft >= 19 else ("dependencies",)
            for keyword in named:
                for name, part in schema.get(keyword, {}).items():
                    if name in step.place.value and not isinstance(part, list):
                        yield from here.take(step.part(part))

    def _alternatives(self, here: _Here, keyword: str) -> _Collecting:
        outcomes: list[Outcome] = []
        for part in here.schema[keyword]:
            outcomes.append((yield here.step.part(part)))
            here.evaluated(outcomes[-1])
        fitting = [index for index, outcome in enumerate(outcomes) if not outcome.findings]
        if not fitting:
            here.add(*_closest(keyword, here.step.place, outcomes))
        elif keyword == "oneOf" and len(fitting) > 1:
            text = f"valid under only one of oneOf, not under /oneOf/{fitting[0]} and /oneOf/{fitting[1]}"
            here.add(Finding(here.step.place, keyword, text))

    def _members(self, here: _Here) -> _Collecting:
        schema, step, value = here.schema, here.step, here.step.place.value
        named = schema.get("properties", {})
        patterns = schema.get("patternProperties", {})
        rest = schema.get("additionalProperties", True)
        unexpected: list[str] = []
        for name in value:
            if here.full:
                return
            parts = [named[name]] if name in named else []
            parts += [
                part for pattern, part in patterns.items() if self._assertions.matches(pattern, name, self._spend)
            ]
            if not parts and rest is False:
                unexpected.append(name)
            elif not parts and "additionalProperties" in schema:
                parts = [rest]
            for part in parts:
                yield from here.take_inside(step.inside(part, name))
        if unexpected:
            here.add(Finding(step.place, "additionalProperties", ", ".join(unexpected[:MOST_OPTIONS])))
        if "propertyNames" in schema and self._draft >= 6:
            yield from self._names(here)
        if "unevaluatedProperties" in schema and self._draft >= 19:
            yield from self._unevaluated(here, "unevaluatedProperties", value)

    def _names(self, here: _Here) -> _Collecting:
        step = here.step
        for name in step.place.value:
            self._names_kept.append(Place(name))
            outcome = yield Step(here.schema["propertyNames"], step.base, step.scope, self._names_kept[-1])
            if outcome.findings:
                why = outcome.findings[0].violation()
                here.add(
                    Finding(step.place, "propertyNames", f"an object whose names fit ({why.found}: {why.expected})")
                )
                return

    def _items(self, here: _Here) -> _Collecting:
        schema, step, value = here.schema, here.step, here.step.place.value
        first = schema.get("prefixItems", []) if self._draft >= 20 else schema.get("items", [])
        first = first if isinstance(first, list) else []
        rest_name = "additionalItems" if self._draft < 20 and isinstance(schema.get("items"), list) else "items"
        rest = schema.get(rest_name, True)
        for index in range(len(value) if rest_name in schema else min(len(first), len(value))):
            if here.full:
                return
            if index >= len(first) and rest is False and rest_name == "additionalItems":
                here.add(Finding(step.place, rest_name, "valid under additionalItems"))
                break
            yield from here.take_inside(step.inside(first[index] if index < len(first) else rest, index))
        if "contains" in schema and self._draft >= 6:
            yield from self._contains(here)
        if "unevaluatedItems" in schema and self._draft >= 19:
            yield from self._unevaluated(here, "unevaluatedItems", range(len(value)))

    def _contains(self, here: _Here) -> _Collecting:
        schema, step = here.schema, here.step
        counted = self._draft >= 19
        least = schema.get("minContains", 1) if counted else 1
        most = schema.get("maxContains") if counted else None
        fitting = 0
        for index in range(len(step.place.value)):
            outcome = yield step.inside(schema["contains"], index)
            if not outcome.findings:
                fitting += 1
                if self._draft >= 20:
                    here.mark(index)
        if fitting < least or (most is not None and fitting > most):
            here.add(Finding(step.place, "contains", "a list that contains what the schema asks for"))

    def _unevaluated(self, here: _Here, keyword: str, keys: Iterable[str | int]) -> _Collecting:
        wrong: list[str] = []
        for key in keys:
            if key not in here.marked:
                outcome = yield here.step.inside(here.schema[keyword], key)
                here.mark(key)
                if outcome.findings:
                    wrong.append(str(key))
        if wrong:
            without = "without " + ", ".join(wrong[:MOST_OPTIONS])
            here.add(Finding(here.step.place, keyword, without if keyword.endswith("s") else f"valid under {keyword}"))


class _Here:
    """What is being found out about one value by one subschema."""

    def __init__(self, step: Step, marks: bool) -> None:
        self.step = step
        self.schema: dict[str, Any] = step.schema
        self.marked: set[str | int] = set()
        self._marks = marks
        self._findings: list[Finding] = []

    @property
    def full(self) -> bool:
        """Whether enough was found."""
        return len(self._findings) >= MOST_FINDINGS

    def add(self, *findings: Finding) -> None:
        """Note what does not fit, once where several ways lead to it."""
        self._findings += [finding for finding in findings if finding not in self._findings]

    def mark(self, key: str | int) -> None:
        """Note a member or item as evaluated."""
        if self._marks:
            self.marked.add(key)

    def evaluated(self, outcome: Outcome) -> None:
        """Note what a subschema has evaluated, if the value fits it."""
        if self._marks and not outcome.findings:
            self.marked |= outcome.evaluated

    def take(self, step: Step) -> _Collecting:
        """What a subschema finds about the same value counts here as well."""
        outcome = yield step
        self.add(*outcome.findings)
        self.evaluated(outcome)

    def take_inside(self, step: Step) -> _Collecting:
        """The same for a member or an item."""
        outcome = yield step
        self.add(*outcome.findings)
        self.mark(step.place.key)

    def outcome(self) -> Outcome:
        """All that was found."""
        if not self._findings and not self.marked:
            return _FITS
        return Outcome(tuple(self._findings[:MOST_FINDINGS]), frozenset(self.marked))


def _length(value: Any) -> int:
    return len(value) if isinstance(value, dict | list) else 0


def _key(step: Step) -> _Key:
    return id(step.schema), step.scope, id(step.place)


def _closest(keyword: str, place: Place, outcomes: list[Outcome]) -> list[Finding]:
    """That no alternative fits, and what is wrong with the one that was most likely meant; with several, what all of
    those find."""
    least = min(_distance(place, outcome) for outcome in outcomes)
    meant = [outcome.findings for outcome in outcomes if _distance(place, outcome) == least]
    shared = [finding for finding in meant[0] if all(finding in findings for findings in meant)]
    explained = bool(shared) and not least[0]
    # Of alternatives in alternatives the outermost is named, and what is wrong in the end.
    inner = [finding for finding in shared if not finding.explained] if explained else []
    return [Finding(place, keyword, f"valid under {keyword}", explained=explained), *inner]


def _distance(place: Place, outcome: Outcome) -> tuple[bool, bool, int, int]:
    """How far a value is from an alternative: another type, another mark such as a kind or a name, more mistakes of its
    own such as members that are missing, more mistakes in all."""
    findings = outcome.findings
    return (
        any(finding.place is place and finding.keyword == "type" for finding in findings),
        any(finding.place.parent is place and finding.keyword in ("const", "enum") for finding in findings),
        sum(finding.place is place for finding in findings),
        sum(not finding.explained for finding in findings),
    )
