"""JSON Schemas of real catalogs, where they lie beside the checkout."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from postroom.formats.fill_columns import filler
from postroom.formats.format_table import format_named, parse_schema


def real_schemas(node: Any) -> Iterator[tuple[str, Any]]:
    """Every JSON Schema of a catalog document with its format's name."""
    if isinstance(node, dict):
        name = node.get("format") or node.get("dataschemaformat")
        known = format_named(name) if isinstance(name, str) else None
        for member in ("schema", "dataschema"):
            if known is not None and known.family.name == "JsonSchema" and isinstance(node.get(member), dict | str):
                yield str(name), node[member]
        for member, value in node.items():
            if member not in ("schema", "dataschema"):
                yield from real_schemas(value)
    elif isinstance(node, list):
        for item in node:
            yield from real_schemas(item)


def test_every_real_schema_parses_and_has_data_that_fills_its_columns(shared: Path) -> None:
    tried = fast = 0
    for path in sorted((shared / "catalogs").rglob("*.json")):
        for name, document in real_schemas(json.loads(path.read_bytes())):
            parsed = parse_schema(name, document)
            payload = parsed.encode(parsed.sample(random.Random(tried)))
            value, violations = parsed.validate(payload)
            assert violations == []
            filler(parsed.columns())(value)
            fast += parsed.fill(payload)[1]  # type: ignore[attr-defined]  # JSON Schema's own
            tried += 1
    assert tried > 200
    # Most schemas that people write are such that msgspec can express them.
    assert fast > tried * 0.8
