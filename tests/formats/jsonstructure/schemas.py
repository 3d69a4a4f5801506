"""Schema documents for tests: small ones by hand, random ones by Hypothesis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from postroom.formats.jsonstructure.format import JsonStructure, parse
from postroom.formats.schema import EmptyLibrary, Library, SchemaDocument

CORE = "https://json-structure.org/meta/core/v0/#"
EXTENDED = "https://json-structure.org/meta/extended/v0/#"


def document(schema: dict[str, Any], definitions: dict[str, Any] | None = None, meta: str = EXTENDED) -> dict[str, Any]:
    """A whole document around the schema of one type."""
    head = {"$schema": meta, "$id": "https://example.com/schemas/fleet", "name": "Fleet"}
    more = {"definitions": definitions} if definitions else {}
    if isinstance(schema.get("type"), str):
        return {**head, **schema, **more}
    # Unions and references are not allowed at the root itself.
    return {**head, "$root": "#/definitions/Root", "definitions": {**(definitions or {}), "Root": schema}}


def structure(
    schema: dict[str, Any],
    definitions: dict[str, Any] | None = None,
    *,
    fragment: str = "",
    library: Library | None = None,
) -> JsonStructure:
    """The parsed type of a schema."""
    source = SchemaDocument(
        document=document(schema, definitions), version="draft-04", fragment=fragment, library=library or EmptyLibrary()
    )
    return parse(source)


NAMES = st.sampled_from(["vin", "make", "year", "doors", "owner", "colour"])
_TEXTS = ["date", "datetime", "time", "duration", "uuid", "uri", "jsonpointer", "binary", "string"]
_NUMBERS = ["int8", "uint8", "int16", "uint16", "int32", "integer", "uint32", "float8", "float", "double", "number"]
_LONG = ["int64", "uint64", "int128", "uint128", "decimal"]


def _bounded(kind: str, low: int, high: int) -> dict[str, Any]:
    return {"type": kind, "minimum": min(low, high), "maximum": max(low, high)}


_SMALL = st.integers(0, 100)
PRIMITIVES: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.sampled_from([*_TEXTS, *_NUMBERS, *_LONG, "boolean", "null"]).map(lambda kind: {"type": kind}),
    st.builds(_bounded, st.sampled_from(_NUMBERS), _SMALL, _SMALL),
    st.builds(_bounded, st.sampled_from(["int64", "uint64", "int128"]), _SMALL, _SMALL),
    st.integers(0, 20).map(lambda most: {"type": "string", "maxLength": most}),
    st.integers(0, 20).map(lambda least: {"type": "string", "minLength": least}),
    st.builds(
        lambda precision, scale: {"type": "decimal", "precision": precision, "scale": min(precision, scale)},
        st.integers(1, 45),
        st.integers(0, 12),
    ),
    st.sets(st.sampled_from(["red", "blue", "green"]), min_size=1).map(
        lambda values: {"type": "string", "enum": sorted(values)}
    ),
    st.sampled_from(["[A-Z]{2}[0-9]+", "(a|b)*c"]).map(lambda pattern: {"type": "string", "pattern": pattern}),
    st.sampled_from([2, 3, 6]).map(lambda step: {"type": "int32", "multipleOf": step}),
    st.sampled_from(["base64", "base64url", "base16", "base32"]).map(
        lambda name: {"type": "binary", "contentEncoding": name}
    ),
    st.just({"type": "any"}),
)
REFERENCES = st.sampled_from(["Node", "Colour", "Truck"]).map(lambda name: {"type": {"$ref": f"#/definitions/{name}"}})
UNIONS: st.SearchStrategy[dict[str, Any]] = st.lists(
    st.sampled_from(["null", "string", "int32", "double", "int64", "boolean", {"$ref": "#/definitions/Node"}]),
    min_size=1,
    max_size=3,
    unique_by=str,
).map(lambda kinds: {"type": kinds})


@st.composite
def _objects(draw: st.DrawFn, inner: st.SearchStrategy[dict[str, Any]]) -> dict[str, Any]:
    properties = draw(st.dictionaries(NAMES, inner, min_size=1, max_size=4))
    made: dict[str, Any] = {"type": "object", "properties": properties}
    required = draw(st.lists(st.sampled_from(sorted(properties)), unique=True))
    if required:
        made["required"] = required
    extra = draw(st.one_of(st.just(None), st.booleans(), inner))
    if extra is not None:
        made["additionalProperties"] = extra
    return made


def _compounds(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.one_of(
        _objects(inner),
        inner.map(lambda items: {"type": "array", "items": items}),
        st.builds(
            lambda items, least, more: {"type": "array", "items": items, "minItems": least, "maxItems": least + more},
            inner,
            st.integers(0, 2),
            st.integers(0, 2),
        ),
        inner.map(lambda items: {"type": "set", "items": items}),
        inner.map(lambda values: {"type": "map", "values": values}),
        st.lists(inner, min_size=1, max_size=3).map(
            lambda parts: {
                "type": "tuple",
                "properties": {f"p{number}": part for number, part in enumerate(parts)},
                "tuple": [f"p{number}" for number in range(len(parts))],
            }
        ),
        st.dictionaries(NAMES, inner, min_size=1, max_size=3).map(
            lambda choices: {"type": "choice", "choices": choices}
        ),
    )


SCHEMAS = st.recursive(st.one_of(PRIMITIVES, UNIONS, REFERENCES), _compounds, max_leaves=6)
DEFINITIONS: dict[str, Any] = {
    "Colour": {"type": "string", "enum": ["red", "blue"]},
    "Node": {
        "type": "object",
        "properties": {
            "value": {"type": "int64"},
            "next": {"type": [{"$ref": "#/definitions/Node"}, "null"]},
            "children": {"type": "array", "items": {"type": {"$ref": "#/definitions/Node"}}},
        },
        "required": ["value"],
    },
    "Vehicle": {
        "type": "object",
        "abstract": True,
        "properties": {"vin": {"type": "string"}, "built": {"type": "date"}},
        "required": ["vin"],
    },
    "Truck": {
        "type": "object",
        "$extends": "#/definitions/Vehicle",
        "properties": {"load": {"type": "decimal", "precision": 8, "scale": 2}},
        "required": ["load"],
    },
    "Car": {"type": "object", "$extends": "#/definitions/Vehicle", "properties": {"doors": {"type": "uint8"}}},
    "AnyVehicle": {
        "type": "choice",
        "$extends": "#/definitions/Vehicle",
        "selector": "kind",
        "choices": {
            "truck": {"type": {"$ref": "#/definitions/Truck"}},
            "car": {"type": {"$ref": "#/definitions/Car"}},
        },
    },
}


def without_nulls(value: Any) -> Any:
    """A value without the members that are null: their columns are empty either way."""
    if isinstance(value, dict):
        return {name: without_nulls(value[name]) for name in sorted(value) if value[name] is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value
