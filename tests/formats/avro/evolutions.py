"""Pairs of Avro schemas as they follow each other: what the first wrote, the second can mostly read."""

from typing import Any

from hypothesis import strategies as st

from tests.formats.avro.test_properties import schemas

PROMOTIONS = {
    "int": ["long", "float", "double"],
    "long": ["float", "double"],
    "float": ["double"],
    "string": ["bytes"],
    "bytes": ["string"],
}
ADDED = [
    ("string", "none"),
    ("int", 7),
    ("double", 2.5),
    ("boolean", True),
    (["null", "string"], None),
    ({"type": "array", "items": "int"}, [1, 2]),
    ({"type": "map", "values": "string"}, {"a": "b"}),
    ({"type": "enum", "name": "AddedEnum", "symbols": ["X", "Y"]}, "Y"),
    ({"type": "record", "name": "AddedRecord", "fields": [{"name": "n", "type": "long", "default": 4}]}, {"n": 5}),
]


@st.composite
def evolutions(draw: st.DrawFn, records: bool = False) -> tuple[Any, Any]:
    """A writer's schema and a reader's."""
    writer = draw(schemas(logical=False, records=records))
    names: set[str] = set()

    def changed(kind: Any) -> Any:
        if isinstance(kind, list):
            return other_union(kind)
        if isinstance(kind, str):
            return other_name(kind)
        if kind["type"] == "array":
            return {**kind, "items": changed(kind["items"])}
        if kind["type"] == "map":
            return {**kind, "values": changed(kind["values"])}
        if kind["type"] == "enum":
            return other_enum(kind)
        if kind["type"] == "record":
            return {**kind, "fields": other_fields(kind["fields"])}
        return kind

    def other_name(kind: str) -> Any:
        if kind not in PROMOTIONS or not draw(st.booleans()):
            return kind
        other = draw(st.sampled_from(PROMOTIONS[kind]))
        return draw(st.sampled_from([other, ["null", other], [other, "null"], ["boolean", kind]]))

    def other_union(kinds: list[Any]) -> Any:
        found = [kind if isinstance(kind, str) else changed(kind) for kind in kinds]
        if "boolean" not in found and draw(st.booleans()):
            found.insert(draw(st.integers(0, len(found))), "boolean")
        return draw(st.permutations(found)) if draw(st.booleans()) else found

    def other_enum(kind: dict[str, Any]) -> Any:
        symbols = draw(st.permutations([*kind["symbols"], *draw(st.sampled_from([[], ["AJAR"]]))]))
        if draw(st.booleans()):
            return {**kind, "symbols": symbols[:1], "default": symbols[0]}
        return {**kind, "symbols": symbols}

    def other_fields(fields: list[dict[str, Any]]) -> list[dict[str, Any]]:
        found = []
        for field in fields:
            change = draw(st.sampled_from(["same", "changed", "changed", "renamed", "dropped"]))
            if change == "dropped" and not _defines(field["type"]):
                continue
            name = f"new_{field['name']}" if change == "renamed" else field["name"]
            aliases = {"aliases": ["old", field["name"]]} if change == "renamed" else {}
            kind = field["type"] if change == "same" else changed(field["type"])
            found.append({**field, "name": name, "type": kind, **aliases})
        kind, default = draw(st.sampled_from(ADDED))
        if draw(st.booleans()) and str(kind) not in names:
            names.add(str(kind))
            found.append({"name": f"added{len(names)}", "type": kind, "default": default})
        return draw(st.permutations(found))

    return writer, changed(writer)


def _defines(kind: Any) -> bool:
    """Whether a type has a name that others may use."""
    return "'name'" in repr(kind)


def framed(number: int, payload: bytes) -> bytes:
    """A payload behind the header of a schema registry."""
    return b"\0" + number.to_bytes(4) + payload
