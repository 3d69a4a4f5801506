"""Properties of comparing, over random schemas, changes and payloads."""

import copy
import json
import random
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from postroom.errors import SchemaRefused
from postroom.formats.format_table import parse_schema
from postroom.formats.jsonschema.compat.compare import readable
from postroom.formats.schema import PayloadSchema, SchemaDocument, Verdict

_NAMES = st.sampled_from(["id", "kind", "kilo", "note"])
_SIMPLE = st.sampled_from(
    [
        {},
        {"type": "string"},
        {"type": "string", "minLength": 2},
        {"maxLength": 3},
        {"type": "string", "pattern": "^[ab]+$"},
        {"type": "integer", "minimum": 0},
        {"type": "number", "maximum": 2},
        {"multipleOf": 2},
        {"exclusiveMinimum": 1},
        {"type": ["integer", "null"]},
        {"type": "boolean"},
        {"enum": ["a", 1, None, 2.5]},
        {"const": "ab"},
        {"$ref": "#/definitions/money"},
    ]
)


def _objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.dictionaries(_NAMES, inner, max_size=3)},
        optional={
            "required": st.lists(_NAMES, max_size=2, unique=True),
            "additionalProperties": st.just(False) | inner,
            "patternProperties": st.dictionaries(st.sampled_from(["^k", "e$"]), inner, max_size=1),
            "maxProperties": st.integers(0, 3),
            "dependencies": st.dictionaries(_NAMES, st.lists(_NAMES, max_size=2, unique=True) | inner, max_size=1),
            "propertyNames": st.sampled_from([{"maxLength": 3}, {"pattern": "^k"}]),
        },
    )


def _arrays(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {"type": st.just("array")},
        optional={
            "items": inner | st.lists(inner, min_size=1, max_size=2),
            "additionalItems": st.just(False) | inner,
            "minItems": st.integers(0, 2),
            "maxItems": st.integers(0, 3),
            "uniqueItems": st.booleans(),
            "contains": inner,
        },
    )


def _combined(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, min_size=1, max_size=3)
    return (
        st.builds(lambda keyword, parts: {keyword: parts}, st.sampled_from(["anyOf", "oneOf", "allOf"]), several)
        | st.builds(lambda part: {"not": part}, inner)
        | st.builds(lambda a, b, c: {"if": a, "then": b, "else": c}, inner, inner, inner)
    )


_PARTS = st.recursive(_SIMPLE, lambda inner: _objects(inner) | _arrays(inner) | _combined(inner), max_leaves=6)
_MONEY = {
    "type": "object",
    "required": ["cents"],
    "properties": {"cents": {"type": "integer"}, "less": {"$ref": "#/definitions/money"}},
}
_SCHEMAS = _PARTS.map(lambda part: {"allOf": [part], "definitions": {"money": _MONEY}})
_PAYLOADS = st.recursive(
    st.sampled_from([None, True, 0, 1, 2, -1, 2.5, 1.0, "", "a", "ab", "abab", "zzzz"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES | st.just("cents"), inner, max_size=3),
    max_leaves=6,
)
_DRAFTS = st.sampled_from(["draft-06", "draft-07", "draft/2019-09"])
_QUIET = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}


def _changed(document: dict[str, Any], rng: random.Random, part: dict[str, Any]) -> dict[str, Any]:
    """The document with one of its parts changed: a keyword removed, or those of another part added."""
    changed = copy.deepcopy(document)
    parts = [changed]
    for found in parts:
        below = [inner for value in found.values() for inner in (value if isinstance(value, list) else [value])]
        parts += [inner for inner in below if isinstance(inner, dict)]
    picked = rng.choice(parts[1:])
    if picked and rng.random() < 0.5:
        picked.pop(rng.choice(sorted(picked)))
    else:
        picked.update(part)
    return changed


def _parsed(document: Any, draft: str) -> PayloadSchema:
    return parse_schema(f"JsonSchema/{draft}", document)


def _hold(verdict: Verdict, writer: PayloadSchema, reader: PayloadSchema, payloads: list[Any]) -> None:
    if verdict.answer == "incompatible":
        assert verdict.counterexample is not None
        assert writer.validate(verdict.counterexample)[1] == []
        assert reader.validate(verdict.counterexample)[1] != []
    if verdict.answer == "compatible":
        for value in payloads:
            payload = json.dumps(value).encode()
            assert writer.validate(payload)[1] != [] or reader.validate(payload)[1] == []


@pytest.mark.feature("SCH-025")
@settings(max_examples=60, **_QUIET)
@given(
    writer=_SCHEMAS,
    part=_PARTS,
    rng=st.randoms(use_true_random=False),
    payloads=st.lists(_PAYLOADS, min_size=20, max_size=60),
    drafts=st.tuples(_DRAFTS, _DRAFTS),
    turned=st.booleans(),
)
def test_no_payload_contradicts_a_verdict(
    writer: dict[str, Any],
    part: dict[str, Any],
    rng: random.Random,
    payloads: list[Any],
    drafts: tuple[str, str],
    turned: bool,
) -> None:
    documents = [writer, _changed(writer, rng, part)]
    if turned:
        documents.reverse()
    try:
        sides = [_parsed(document, draft) for document, draft in zip(documents, drafts, strict=True)]
    except SchemaRefused:
        return
    sources = [SchemaDocument(document=d, version=draft) for d, draft in zip(documents, drafts, strict=True)]
    lenient = readable(*sources)
    strict = readable(msgspec.structs.replace(sources[0], undeclared_members=True), sources[1])
    _hold(strict, *sides, payloads)
    _hold(lenient, *sides, [])
    assert (strict.answer, lenient.answer) not in [("compatible", "incompatible"), ("compatible", "undecided")]


@settings(max_examples=25, **_QUIET)
@given(document=_SCHEMAS, draft=_DRAFTS)
def test_a_schema_reads_itself(document: dict[str, Any], draft: str) -> None:
    first = SchemaDocument(document=document, version=draft)
    # Not the same text, so that the rules have to prove it.
    second = SchemaDocument(document={**document, "title": "the same"}, version=draft)
    assert readable(first, second).answer == "compatible"
    assert readable(second, first).answer == "compatible"


@settings(max_examples=25, **_QUIET)
@given(members=st.dictionaries(_NAMES, _PARTS, max_size=3), added=_PARTS, draft=_DRAFTS)
def test_a_closed_object_may_get_another_member(members: dict[str, Any], added: Any, draft: str) -> None:
    closed = {"properties": members, "additionalProperties": False, "definitions": {"money": _MONEY}}
    wider = {**closed, "properties": {**members, "added": added}}
    sources = [SchemaDocument(document=document, version=draft) for document in (closed, wider)]
    assert readable(*sources).answer == "compatible"


@settings(max_examples=25, **_QUIET)
@given(document=_SCHEMAS, name=_NAMES, draft=_DRAFTS)
def test_a_schema_with_fewer_keywords_reads_one_with_more(document: dict[str, Any], name: str, draft: str) -> None:
    stricter = {**document, "required": [name], "minProperties": 1, "maxLength": 2}
    sources = [SchemaDocument(document=d, version=draft) for d in (stricter, document)]
    assert readable(*sources).answer == "compatible"
