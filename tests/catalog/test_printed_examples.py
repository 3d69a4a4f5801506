"""The examples of the five texts: loaded every way, made, matched, and converted there and back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from postroom.catalog.catalog import Catalog
from postroom.documents.dialects.convert import read_tree, write_tree
from postroom.documents.dialects.dialect_table import DIALECTS
from tests.catalog.printed import EXAMPLES, WAYS, Tree, document_of, messages_of, opened
from tests.catalog.ways_in import Service, running_service
from tests.documents.dialects.there_and_back import check_there_and_back

PAIRS = [(name, way) for name in EXAMPLES for way in WAYS]
HELD = [(name, way) for name, way in PAIRS if way not in EXAMPLES[name].get("not_over", {})]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running_service(tmp_path_factory.mktemp("service")) as running:
        yield running


def check_made_messages(catalog: Catalog, example: Tree, way: str) -> None:
    """What each definition makes lands on that definition."""
    assert catalog.refused == []
    for xid in messages_of(example, way):
        made = catalog.message(xid).make(example.get("values"), data=example.get("data"))
        match = catalog.match(made)
        assert (match.outcome, match.message) == ("landed", xid), (made, match)


@pytest.mark.parametrize(("name", "way"), HELD)
def test_what_a_printed_definition_makes_lands_on_it(name: str, way: str, tmp_path: Path, service: Service) -> None:
    check_made_messages(opened(way, document_of(EXAMPLES[name]), tmp_path, service), EXAMPLES[name], way)


@pytest.mark.parametrize(("name", "way"), [pair for pair in PAIRS if pair not in HELD])
def test_what_an_api_is_said_not_to_hold_it_does_not_hold(
    name: str, way: str, tmp_path: Path, service: Service
) -> None:
    with pytest.raises(AssertionError):
        check_made_messages(opened(way, document_of(EXAMPLES[name]), tmp_path, service), EXAMPLES[name], way)


@pytest.mark.parametrize("way", ["file", "store", "service"])
@pytest.mark.parametrize("name", [name for name, one in EXAMPLES.items() if "lands" in one or "strays" in one])
def test_messages_written_by_hand_land_or_stray(name: str, way: str, tmp_path: Path, service: Service) -> None:
    example = EXAMPLES[name]
    catalog = opened(way, document_of(example), tmp_path, service)
    if "lands" in example:
        match = catalog.match(example["lands"]["record"])
        expected = example["lands"].get("message") or messages_of(example)[0]
        assert (match.outcome, match.message) == ("landed", expected), match
        assert match.variables == example["lands"].get("variables", {})
    for stray in example.get("strays", ()):
        assert catalog.match(stray).outcome in ("invalid", "unmatched"), stray


@pytest.mark.parametrize("target", DIALECTS)
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_printed_document_comes_back_from_every_dialect_but_for_reported_losses(name: str, target: str) -> None:
    printed = document_of(EXAMPLES[name])
    parsed = read_tree(printed)
    assert parsed is not None
    document = write_tree(parsed.tree, parsed.dialect).document
    if parsed.dialect != "1.0-rc4":
        assert document == DIALECTS[parsed.dialect].canonical(printed)
    check_there_and_back(document, parsed.dialect, target)


def test_every_text_has_examples() -> None:
    texts = {text for one in EXAMPLES.values() for text in one["text"]}
    assert texts == {"2025-09", "2026-05", "0.5-message", "0.5-service", "catalog"}
