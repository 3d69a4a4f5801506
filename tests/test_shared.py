"""Checks against real catalogs and real wire messages, where they lie beside the checkout."""

import json
from collections import Counter
from pathlib import Path

from postroom.catalog import Catalog, open_catalog
from postroom.documents.reading import document_files


def test_every_recorded_message_finds_its_definition(shared: Path) -> None:
    catalogs: dict[str, Catalog] = {}
    counts: Counter[str] = Counter()
    wrong = []
    for file in sorted((shared / "events").rglob("*.jsonl")):
        for line in file.open():
            event = json.loads(line)
            name = event["catalog"]
            if name not in catalogs:
                catalogs[name] = open_catalog(str(shared / "catalogs" / name))
            match, expected = catalogs[name].match(event["record"]), event["expect"]
            # Payloads in formats we do not read yet land unchecked, so only their definition is compared.
            unchecked = match.outcome == "landed" and expected.get("payload_valid") is False
            if match.message == expected["message"] and (match.outcome == expected["outcome"] or unchecked):
                counts["unchecked" if unchecked else "right"] += 1
            else:
                wrong.append((file.name, expected, match))
    assert wrong == []
    assert counts["right"] > 4000


def test_every_catalog_of_the_present_shape_opens(shared: Path) -> None:
    opened = 0
    for path in document_files(shared / "catalogs" / "real-time-sources"):
        opened += len(open_catalog(str(path)).definitions) > 0
    assert opened > 50
