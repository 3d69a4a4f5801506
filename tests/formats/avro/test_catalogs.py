"""The Avro schemas of real catalogs, where they lie beside the checkout."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from postroom.formats.fill_columns import filler
from postroom.formats.format_table import parse_schema


def avro_schemas(part: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every schema in a document whose nearest format is Avro."""
    if isinstance(part, dict):
        stated = part.get("format")
        name = stated if isinstance(stated, str) else name
        if name.lower().startswith("avro") and "schema" in part:
            yield name, part["schema"]
        for inner in part.values():
            yield from avro_schemas(inner, name)
    if isinstance(part, list):
        for inner in part:
            yield from avro_schemas(inner, name)


@pytest.mark.feature("SCH-014")
def test_all_avro_schemas_of_real_catalogs_are_usable(shared: Path) -> None:
    rng = random.Random(5)
    count = 0
    for file in sorted((shared / "catalogs").rglob("*.json")):
        for name, document in avro_schemas(json.loads(file.read_text())):
            schema = parse_schema(name, document)
            value = schema.sample(rng)
            assert schema.validate(schema.encode(value)) == (value, [])
            filler(schema.columns())(value)
            count += 1
    assert count > 150
