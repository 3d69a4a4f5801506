"""Checks against real catalogs and real wire messages, where they lie beside the checkout."""

import json
from pathlib import Path

from postroom.catalog.catalog import Catalog, open_catalog
from postroom.documents.read_files import document_files


def test_every_recorded_message_finds_its_definition_and_its_outcome(shared: Path) -> None:
    catalogs: dict[str, Catalog] = {}
    wrong, right = [], 0
    for file in sorted((shared / "events").rglob("*.jsonl")):
        for line in file.open():
            event = json.loads(line)
            name, expected = event["catalog"], event["expect"]
            if name not in catalogs:
                catalogs[name] = open_catalog(str(shared / "catalogs" / name))
            match = catalogs[name].match(event["record"])
            if (match.outcome, match.message) == (expected["outcome"], expected["message"]):
                right += 1
            else:
                wrong.append((file.name, expected, match))
    assert wrong == []
    assert right > 4500


def test_every_catalog_of_the_present_shape_opens(shared: Path) -> None:
    opened = 0
    for path in document_files(shared / "catalogs" / "real-time-sources"):
        opened += len(open_catalog(str(path)).definitions) > 0
    assert opened > 50
