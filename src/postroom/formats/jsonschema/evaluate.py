"""Evaluation of a payload in bounded steps, with the errors of the closest alternative.

jsonschema-rs says quickly whether a payload fits. Asked why not, it collects all errors of all alternatives, which
double with every level of a recursive schema. Here every subschema is evaluated for every value once, whatever leads
there. Plain keywords are left to the validator; the applicators are evaluated here.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any

import msgspec

from postroom.formats.jsonschema.compile_validator import ValidatorCompiler
from postroom.formats.jsonschema.drafts import draft_by_uri
from postroom.formats.jsonschema.keywords import CHOICES, FOLLOWERS, UNEVALUATED
from postroom.formats.jsonschema.local_assertions import LocalAssertions, PatternGaveUp
from postroom.formats.jsonschema.referenced_documents import DocumentSet
from postroom.formats.jsonschema.schema_addresses import Located
from postroom.formats.jsonschema.violations import MOST_OPTIONS, violation_of_keyword, violation_of_kind
from postroom.formats.schema import Violation
from postroom.model.json_pointers import pointer

MOST_STEPS = 200_000
MOST_VIOLATIONS = 20
_MEMBERS_OF_A_STEP = 10
_COMBINING = frozenset(CHOICES + FOLLOWERS)
# The references by dynamic scope, by draft.
_DYNAMIC = {19: "$recursiveRef", 20: "$dynamicRef"}


class OutOfSteps(Exception):
    """A payload needs more steps than it may have."""


class Instance:
    """A value of a payload, with its parent and its key there."""

    __slots__ = ("_children", "key", "parent", "value")

    def __init__(self, value: Any, parent: Instance | None = None, key: str | int = "") -> None:
        self.value = value
        self.parent = parent
        self.key = key
        self._children: dict[str | int, Instance] | None = None

    def child(self, key: str | int) -> Instance:
        """A member or an item."""
        if self._children is None:
            self._children = {}
        found = self._children.get(key)
        if found is None:
            found = self._children[key] = Instance(self.value[key], self, key)
        return found

    def pointer(self) -> str:
        """The JSON pointer of this value."""
        keys: list[str | int] = []
        instance = self
        while instance.parent is not None:
            keys.append(instance.key)
            instance = instance.parent
        return pointer(reversed(keys))


class KeywordFailure(msgspec.Struct, frozen=True, eq=False):
    """A keyword that a value fails: with the validator's error `kind`, or with what we `expected`. A failure of
    alternatives is `explained` when the failures of the closest one follow."""

    instance: Instance
    keyword: str
    expected: str = ""
    kind: Any = None
    explained: bool = False

    def violation(self) -> Violation:
        """The failure as a violation."""
        at = self.instance.pointer()
        if self.kind is not None:
            return violation_of_kind(at, self.kind, self.instance.value)
        return violation_of_keyword(at, self.keyword, self.expected, self.instance.value)


class SubschemaResult(msgspec.Struct, frozen=True, eq=False):
    """The failures of one value for one subschema, and which members or items that has evaluated."""

    failures: tuple[KeywordFailure, ...] = ()
    evaluated: frozenset[str | int] = frozenset()


class Step(msgspec.Struct, frozen=True, eq=False):
    """A subschema to evaluate: its base address, its dynamic scope, and the value."""

    schema: Any
    base: str
    scope: tuple[str, ...]
    instance: Instance

    def same_instance(self, schema: Any) -> Step:
        """Another subschema for the same value."""
        return Step(schema, self.base, self.scope, self.instance)

    def child_instance(self, schema: Any, key: str | int) -> Step:
        """A subschema for a member or an item."""
        return Step(schema, self.base, self.scope, self.instance.child(key))


_VALID = SubschemaResult()
_Key = tuple[int, tuple[str, ...], int]
_Evaluating = Generator[Step, SubschemaResult | None, SubschemaResult]
_Collecting = Generator[Step, SubschemaResult, None]


def can_evaluate(documents: DocumentSet) -> bool:
    """Whether all documents follow one draft and its own meta-schema."""
    return all(
        "$vocabulary" not in node
        and ("$schema" not in node or draft_by_uri(node["$schema"]) in (documents.draft, None))
        for node in documents.nodes()
    )


class Evaluator:
    """Evaluates values by one schema; threads may share it."""

    def __init__(self, documents: DocumentSet, compiler: ValidatorCompiler) -> None:
        self.documents = documents
        self.assertions = LocalAssertions(compiler)
        nodes = list(documents.nodes())
        # Few schemas need these.
        self.tracks_evaluated = any(not node.keys().isdisjoint(UNEVALUATED) for node in nodes)
        self.has_dynamic_references = any(not node.keys().isdisjoint(_DYNAMIC.values()) for node in nodes)

    def violations(self, start: Located, value: Any) -> list[Violation]:
        """At most MOST_VIOLATIONS violations; OutOfSteps when that takes too long to find out."""
        schema, base = start
        try:
            found = _Evaluation(self).run(Step(schema, base, (), Instance(value)))
        except PatternGaveUp as error:
            return [violation_of_kind("", error.kind, error.text)]
        return [failure.violation() for failure in found.failures]


class _Evaluation:
    """The evaluation of one payload: the steps left, and the results so far."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._documents = evaluator.documents
        self._assertions = evaluator.assertions
        self._tracks_evaluated = evaluator.tracks_evaluated
        self._has_dynamic_references = evaluator.has_dynamic_references
        self._draft = evaluator.documents.draft.number
        self._steps_left = MOST_STEPS
        self._results: dict[_Key, SubschemaResult] = {}
        # Names are values outside of the payload, kept so that their id() stays unique.
        self._name_instances: list[Instance] = []

    def _spend(self, steps: int) -> None:
        self._steps_left -= steps
        if self._steps_left < 0:
            raise OutOfSteps

    def run(self, start: Step) -> SubschemaResult:
        """Take steps until the first one is done; by hand, because payloads are deeper than Python's stack."""
        waiting: list[tuple[_Key, _Evaluating]] = []
        step = start
        while True:
            result = self._known(step)
            if result is None:
                self._spend(1 + _length(step.instance.value) // _MEMBERS_OF_A_STEP)
                # Who comes here again meanwhile goes in a circle, and passes.
                self._results[_key(step)] = _VALID
                waiting.append((_key(step), self._evaluated(step)))
            while True:
                if not waiting and result is not None:
                    return result
                try:
                    step = waiting[-1][1].send(result)
                    break
                except StopIteration as end:
                    result = self._results[waiting.pop()[0]] = end.value

    def _known(self, step: Step) -> SubschemaResult | None:
        if step.schema is True:
            return _VALID
        if step.schema is False:
            return SubschemaResult((KeywordFailure(step.instance, "falseSchema", "absent"),))
        return self._results.get(_key(step))

    def _evaluated(self, step: Step) -> _Evaluating:
        schema, base = self._documents.with_base(step.schema, step.base)
        scope = step.scope
        if self._has_dynamic_references and base not in scope:
            scope = (*scope, base)
        collector = _Collector(Step(schema, base, scope, step.instance), self._tracks_evaluated)
        if self._draft <= 7 and "$ref" in schema:
            yield from self._references(collector)
            return collector.result()
        for error in self._assertions.errors(schema, step.instance.value, self._spend):
            collector.add(KeywordFailure(step.instance, error.kind.name, kind=error.kind))
        yield from self._references(collector)
        if not schema.keys().isdisjoint(_COMBINING):
            yield from self._combined(collector)
        if isinstance(step.instance.value, dict):
            yield from self._members(collector)
        elif isinstance(step.instance.value, list):
            yield from self._items(collector)
        return collector.result()

    def _references(self, collector: _Collector) -> _Collecting:
        for name in ("$ref", _DYNAMIC.get(self._draft, "")):
            if name in collector.schema:
                target, base = self._target(name, collector)
                yield from collector.include(Step(target, base, collector.step.scope, collector.step.instance))

    def _target(self, name: str, collector: _Collector) -> Located:
        reference, base, scope = collector.schema[name], collector.step.base, collector.step.scope
        found = self._documents.resolve(reference, base)
        if found is None:
            raise OutOfSteps  # a meta-schema, which the validator has within itself
        anchor = str(reference).rpartition("#")[2]
        target = found[0] if isinstance(found[0], dict) else {}
        if name == "$dynamicRef" and target.get("$dynamicAnchor") == anchor:
            return self._documents.dynamic_anchor_in_scope(anchor, scope) or found
        if name == "$recursiveRef" and target.get("$recursiveAnchor") is True:
            return self._documents.recursive_anchor_in_scope(scope) or found
        return found

    def _combined(self, collector: _Collector) -> _Collecting:
        schema, step = collector.schema, collector.step
        for part in schema.get("allOf", ()):
            yield from collector.include(step.same_instance(part))
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                yield from self._alternatives(collector, keyword)
        if "not" in schema and not (yield step.same_instance(schema["not"])).failures:
            collector.add(KeywordFailure(step.instance, "not", "valid under not"))
        if "if" in schema and self._draft >= 7:
            condition = yield step.same_instance(schema["if"])
            collector.add_evaluated(condition)
            chosen = "else" if condition.failures else "then"
            if chosen in schema:
                yield from collector.include(step.same_instance(schema[chosen]))
        if isinstance(step.instance.value, dict):
            named = ("dependencies", "dependentSchemas") if self._draft >= 19 else ("dependencies",)
            for keyword in named:
                for name, part in schema.get(keyword, {}).items():
                    if name in step.instance.value and not isinstance(part, list):
                        yield from collector.include(step.same_instance(part))

    def _alternatives(self, collector: _Collector, keyword: str) -> _Collecting:
        results: list[SubschemaResult] = []
        for part in collector.schema[keyword]:
            results.append((yield collector.step.same_instance(part)))
            collector.add_evaluated(results[-1])
        fitting = [index for index, result in enumerate(results) if not result.failures]
        if not fitting:
            collector.add(*_closest(keyword, collector.step.instance, results))
        elif keyword == "oneOf" and len(fitting) > 1:
            text = f"valid under only one of oneOf, not under /oneOf/{fitting[0]} and /oneOf/{fitting[1]}"
            collector.add(KeywordFailure(collector.step.instance, keyword, text))

    def _members(self, collector: _Collector) -> _Collecting:
        schema, step, value = collector.schema, collector.step, collector.step.instance.value
        named = schema.get("properties", {})
        patterns = schema.get("patternProperties", {})
        rest = schema.get("additionalProperties", True)
        unexpected: list[str] = []
        for name in value:
            if collector.is_full:
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
                yield from collector.include_child(step.child_instance(part, name))
        if unexpected:
            collector.add(KeywordFailure(step.instance, "additionalProperties", ", ".join(unexpected[:MOST_OPTIONS])))
        if "propertyNames" in schema and self._draft >= 6:
            yield from self._names(collector)
        if "unevaluatedProperties" in schema and self._draft >= 19:
            yield from self._unevaluated(collector, "unevaluatedProperties", value)

    def _names(self, collector: _Collector) -> _Collecting:
        step = collector.step
        for name in step.instance.value:
            self._name_instances.append(Instance(name))
            result = yield Step(collector.schema["propertyNames"], step.base, step.scope, self._name_instances[-1])
            if result.failures:
                why = result.failures[0].violation()
                collector.add(
                    KeywordFailure(
                        step.instance, "propertyNames", f"an object whose names fit ({why.found}: {why.expected})"
                    )
                )
                return

    def _items(self, collector: _Collector) -> _Collecting:
        schema, step, value = collector.schema, collector.step, collector.step.instance.value
        first = schema.get("prefixItems", []) if self._draft >= 20 else schema.get("items", [])
        first = first if isinstance(first, list) else []
        rest_name = "additionalItems" if self._draft < 20 and isinstance(schema.get("items"), list) else "items"
        rest = schema.get(rest_name, True)
        for index in range(len(value) if rest_name in schema else min(len(first), len(value))):
            if collector.is_full:
                return
            if index >= len(first) and rest is False and rest_name == "additionalItems":
                collector.add(KeywordFailure(step.instance, rest_name, "valid under additionalItems"))
                break
            yield from collector.include_child(step.child_instance(first[index] if index < len(first) else rest, index))
        if "contains" in schema and self._draft >= 6:
            yield from self._contains(collector)
        if "unevaluatedItems" in schema and self._draft >= 19:
            yield from self._unevaluated(collector, "unevaluatedItems", range(len(value)))

    def _contains(self, collector: _Collector) -> _Collecting:
        schema, step = collector.schema, collector.step
        counted = self._draft >= 19
        least = schema.get("minContains", 1) if counted else 1
        most = schema.get("maxContains") if counted else None
        fitting = 0
        for index in range(len(step.instance.value)):
            result = yield step.child_instance(schema["contains"], index)
            if not result.failures:
                fitting += 1
                if self._draft >= 20:
                    collector.mark_evaluated(index)
        if fitting < least or (most is not None and fitting > most):
            collector.add(KeywordFailure(step.instance, "contains", "a list that contains what the schema asks for"))

    def _unevaluated(self, collector: _Collector, keyword: str, keys: Iterable[str | int]) -> _Collecting:
        wrong: list[str] = []
        for key in keys:
            if key not in collector.evaluated_keys:
                result = yield collector.step.child_instance(collector.schema[keyword], key)
                collector.mark_evaluated(key)
                if result.failures:
                    wrong.append(str(key))
        if wrong:
            without = "without " + ", ".join(wrong[:MOST_OPTIONS])
            collector.add(
                KeywordFailure(
                    collector.step.instance, keyword, without if keyword.endswith("s") else f"valid under {keyword}"
                )
            )


class _Collector:
    """Collects the failures of one value for one subschema."""

    def __init__(self, step: Step, tracks_evaluated: bool) -> None:
        self.step = step
        self.schema: dict[str, Any] = step.schema
        self.evaluated_keys: set[str | int] = set()
        self._tracks_evaluated = tracks_evaluated
        self._failures: list[KeywordFailure] = []

    @property
    def is_full(self) -> bool:
        """Whether enough failures were collected."""
        return len(self._failures) >= MOST_VIOLATIONS

    def add(self, *failures: KeywordFailure) -> None:
        """Add failures, each once."""
        self._failures += [failure for failure in failures if failure not in self._failures]

    def mark_evaluated(self, key: str | int) -> None:
        """Mark a member or item as evaluated."""
        if self._tracks_evaluated:
            self.evaluated_keys.add(key)

    def add_evaluated(self, result: SubschemaResult) -> None:
        """Add what a subschema has evaluated, if the value fits it."""
        if self._tracks_evaluated and not result.failures:
            self.evaluated_keys |= result.evaluated

    def include(self, step: Step) -> _Collecting:
        """Evaluate a subschema for the same value, and add its failures."""
        result = yield step
        self.add(*result.failures)
        self.add_evaluated(result)

    def include_child(self, step: Step) -> _Collecting:
        """Evaluate a subschema for a member or an item, and add its failures."""
        result = yield step
        self.add(*result.failures)
        self.mark_evaluated(step.instance.key)

    def result(self) -> SubschemaResult:
        """What was collected."""
        if not self._failures and not self.evaluated_keys:
            return _VALID
        return SubschemaResult(tuple(self._failures[:MOST_VIOLATIONS]), frozenset(self.evaluated_keys))


def _length(value: Any) -> int:
    return len(value) if isinstance(value, dict | list) else 0


def _key(step: Step) -> _Key:
    return id(step.schema), step.scope, id(step.instance)


def _closest(keyword: str, instance: Instance, results: list[SubschemaResult]) -> list[KeywordFailure]:
    """That no alternative fits, and the failures of the closest one; where several are equally close, those that all of
    them have."""
    least = min(_distance(instance, result) for result in results)
    meant = [result.failures for result in results if _distance(instance, result) == least]
    shared = [failure for failure in meant[0] if all(failure in failures for failures in meant)]
    explained = bool(shared) and not least[0]
    # Of alternatives in alternatives the outermost is named, and what is wrong in the end.
    inner = [failure for failure in shared if not failure.explained] if explained else []
    return [KeywordFailure(instance, keyword, f"valid under {keyword}", explained=explained), *inner]


def _distance(instance: Instance, result: SubschemaResult) -> tuple[bool, bool, int, int]:
    """The distance of a value from an alternative: another type, another constant member, more failures of its own such
    as missing members, more failures in all."""
    failures = result.failures
    return (
        any(failure.instance is instance and failure.keyword == "type" for failure in failures),
        any(failure.instance.parent is instance and failure.keyword in ("const", "enum") for failure in failures),
        sum(failure.instance is instance for failure in failures),
        sum(not failure.explained for failure in failures),
    )
