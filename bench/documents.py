"""What opening and converting catalogs costs, against parsing the same files with the fastest parsers there are."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import yaml

from bench.measure import Ratio, cpu_of, cpu_of_each, ratio
from postroom.catalog.catalog import open_catalog
from postroom.cli.main import execute
from postroom.documents.dialects.dialect_table import DIALECTS
from postroom.documents.read_files import YAML_SUFFIXES, document_files
from postroom.settings import load_settings

MESSAGES = 10_000
ROUNDS = 5
ROOT = Path(__file__).parent.parent
REAL = ROOT.parent / "shared" / "catalogs"
DEMO = ROOT / "demo" / "catalog"
GOAL = 12


def measure() -> Iterator[Ratio]:
    """All real catalogs, or where they are not there the demo's, and one large document in every dialect."""
    folder, name = (REAL, "100 real catalogs") if REAL.is_dir() else (DEMO, "the demo's catalogs")
    files = list(document_files(folder))
    settings = load_settings()
    yield ratio(
        f"open and resolve {name} / parse",
        lambda: cpu_of_each(lambda file: open_catalog(str(file), settings=settings), files),
        lambda: cpu_of_each(_parse, files),
        GOAL,
        ROUNDS,
    )
    with tempfile.TemporaryDirectory() as place:
        yield from _large(Path(place))


def _large(folder: Path) -> Iterator[Ratio]:
    source = folder / "large.xreg.json"
    source.write_text(json.dumps(_document(), indent=2))
    for dialect in DIALECTS:
        target = folder / f"{dialect}.json"
        for start, end in ((source, dialect), (target, "1.0-rc4")):
            if start == target and dialect == "1.0-rc4":
                continue
            command = ["convert", str(start), "--dialect", end, "-o", str(target if start == source else folder / "x")]
            way = f"to {dialect}" if start == source else f"from {dialect}"
            yield ratio(
                f"convert {MESSAGES:,} messages {way} / parse",
                lambda command=command: cpu_of(lambda: _run(command)),  # type: ignore[misc]  # bound now
                lambda start=start: cpu_of(lambda: _parse(start)),  # type: ignore[misc]  # bound now
                GOAL,
                3,
            )


def _run(command: list[str]) -> None:
    with contextlib.redirect_stderr(io.StringIO()):
        execute(command)


def _parse(file: Path) -> Any:
    if file.suffix in YAML_SUFFIXES:
        return yaml.load(file.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - safe
    return orjson.loads(file.read_bytes().removeprefix(b"\xef\xbb\xbf"))


def _document() -> dict[str, Any]:
    """Events with attributes, Kafka options and schemas, as real catalogs have them."""
    groups: dict[str, Any] = {}
    for number in range(MESSAGES):
        area = f"shop.area{number % 100}"
        group = groups.setdefault(area, {"envelope": "CloudEvents/1.0", "messages": {}})
        group["messages"][f"{area}.event{number}"] = _message(area, number)
    schema = {
        "format": "JsonSchema/draft-07",
        "schema": {"type": "object", "properties": {"cents": {"type": "integer"}}},
    }
    schemas = {f"schema{number}": {"versions": {"1": schema}} for number in range(50)}
    return {"specversion": "1.0-rc4", "messagegroups": groups, "schemagroups": {"shop": {"schemas": schemas}}}


def _message(area: str, number: int) -> dict[str, Any]:
    return {
        "messageid": f"{area}.event{number}",
        "name": f"Event {number}",
        "description": "Something happened in the shop, and several departments want to know.",
        "envelope": "CloudEvents/1.0",
        "envelopemetadata": {
            "type": {"value": f"{area}.event{number}", "required": True},
            "source": {"type": "uritemplate", "value": "/shops/{shop}", "required": True},
            "subject": {"type": "uritemplate", "value": "{order}"},
            "time": {"type": "timestamp", "required": True},
        },
        "protocol": "KAFKA",
        "protocoloptions": {"topic": "orders", "key": "{order}", "headers": {"tenant": {"value": "{shop}"}}},
        "dataschemaformat": "JsonSchema/draft-07",
        "dataschemauri": f"/schemagroups/shop/schemas/schema{number % 50}",
    }
