"""The public pairs of JSON Schemas with verdicts, where they lie beside the checkout, and our disagreements with them.

The verdicts: `backward` means that the updated schema takes all that the original took, and not the other way round;
`both` means both ways, `none` neither.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from postroom.formats.compatibility import compatible
from postroom.formats.format_table import parse_schema
from postroom.formats.jsonschema.compat.compare import readable
from postroom.formats.schema import SchemaDocument, Verdict

PAGE = Path(__file__).parents[4] / "docs" / "formats" / "jsonschema-compatibility.md"
# A row of the page's table: the pair, the mode, our answer, and the payload that shows it.
_ROW = re.compile(r"^\| (\d+) \| `([^|]+)` \| (backward|forward) \| (compatible|incompatible) \| (?:`([^|]*)`|—) \|")
_STATED = {
    "backward": {"backward": "compatible", "forward": "incompatible"},
    "both": {"backward": "compatible", "forward": "compatible"},
    "none": {"backward": "incompatible", "forward": "incompatible"},
}


def argued() -> dict[tuple[int, str], tuple[str, str, str | None]]:
    """The disagreements that the page argues: pair and mode to its name, our answer and the payload."""
    rows = [found for line in PAGE.read_text().splitlines() if (found := _ROW.match(line))]
    return {(int(row[1]), row[3]): (row[2], row[4], row[5]) for row in rows}


@pytest.fixture(scope="module")
def pairs(shared: Path) -> list[dict[str, Any]]:
    file = shared / "suites" / "json-schema-compatibility" / "apicurio-compatibility-test-data.json"
    found: list[dict[str, Any]] = json.loads(file.read_text())["tests"]
    return found


@pytest.fixture(scope="module")
def verdicts(pairs: list[dict[str, Any]]) -> dict[tuple[int, str], Verdict]:
    return {
        (number, mode): compatible([_source(pair["original"])], _source(pair["updated"]), mode, readable)
        for number, pair in enumerate(pairs)
        for mode in ("backward", "forward")
    }


def _source(document: Any) -> SchemaDocument:
    return SchemaDocument(document=document, version="draft-07", undeclared_members=True)


@pytest.mark.feature("SCH-025")
def test_no_answer_differs_unless_the_page_argues_it(
    pairs: list[dict[str, Any]], verdicts: dict[tuple[int, str], Verdict]
) -> None:
    differing = {
        (number, mode): (pairs[number]["id"], verdict.answer, verdict.shown or None)
        for (number, mode), verdict in verdicts.items()
        if verdict.answer not in ("undecided", _STATED[pairs[number]["compatibility"]][mode])
    }
    assert differing == argued()


@pytest.mark.feature("SCH-025")
def test_few_pairs_stay_undecided(verdicts: dict[tuple[int, str], Verdict]) -> None:
    undecided = {number for (number, _), verdict in verdicts.items() if verdict.answer == "undecided"}
    assert len(undecided) <= 0.1 * len(verdicts) / 2


@pytest.mark.feature("SCH-025")
def test_every_incompatible_verdict_has_a_counterexample(
    pairs: list[dict[str, Any]], verdicts: dict[tuple[int, str], Verdict]
) -> None:
    for (number, mode), verdict in verdicts.items():
        if verdict.answer == "incompatible":
            sides = [pairs[number]["original"], pairs[number]["updated"]]
            writer, reader = sides if mode == "backward" else reversed(sides)
            assert verdict.counterexample is not None
            assert parse_schema("JsonSchema/draft-07", writer).validate(verdict.counterexample)[1] == []
            assert parse_schema("JsonSchema/draft-07", reader).validate(verdict.counterexample)[1] != []


def test_the_page_argues_something() -> None:
    assert len(argued()) >= 15
