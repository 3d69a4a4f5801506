"""Every block of JSON in the five texts, where they lie beside the checkout: loaded, no JSON, or with a known slip."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest

from postroom.catalog.catalog import Catalog, open_catalog
from postroom.catalog.sources import read_source
from postroom.catalog.targets import write_target
from postroom.settings import Settings
from tests.catalog.printed import EXAMPLES, document_of, messages_of
from tests.catalog.printed_blocks import TEXTS, Block, Text, blocks_in, content_of, document_in, mended

LOADED = ("message", "definition", "document", "config", "members")
PLAIN = ("model", "request", "answer", "event")


def of_kinds(*kinds: str) -> pytest.MarkDecorator:
    chosen = [
        pytest.param(text, block, id=f"{text.file}-{block.line}")
        for text in TEXTS
        for block in text.blocks
        if block.kind in kinds
    ]
    return pytest.mark.parametrize(("text", "block"), chosen)


@pytest.fixture
def seeds(shared: Path) -> Path:
    return shared / "seeds"


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.file)
def test_every_block_is_listed(text: Text, seeds: Path) -> None:
    assert sorted(blocks_in(text.lines(seeds))) == [block.line for block in text.blocks]
    assert {block.kind for block in text.blocks} <= {*LOADED, *PLAIN, "form"}


@of_kinds("form")
def test_a_form_is_no_json(text: Text, block: Block, seeds: Path) -> None:
    with pytest.raises(json.JSONDecodeError):
        content_of(blocks_in(text.lines(seeds))[block.line])


@of_kinds(*LOADED, *PLAIN)
def test_what_is_printed_is_json_after_its_slips_are_mended_and_no_sooner(
    text: Text, block: Block, seeds: Path
) -> None:
    lines = text.lines(seeds)
    content = content_of(blocks_in(mended(lines, block))[block.line])
    for left_out in range(len(block.slips)):
        slips = block.slips[:left_out] + block.slips[left_out + 1 :]
        others = Block(block.line, block.kind, block.example, slips)
        with contextlib.suppress(json.JSONDecodeError):
            assert content_of(blocks_in(mended(lines, others))[block.line]) != content


@of_kinds(*LOADED)
def test_what_is_printed_loads_and_what_its_definitions_make_lands_on_them(
    text: Text, block: Block, seeds: Path, tmp_path: Path
) -> None:
    printed = blocks_in(mended(text.lines(seeds), block))[block.line]
    document = document_in(block, content_of(printed), text.dialect)
    path, store = tmp_path / "printed.json", f"sqlite:///{tmp_path}/printed.db"
    path.write_text(json.dumps(document))
    write_target(read_source(str(path), Settings()), store, Settings())
    example = EXAMPLES[block.example]
    for catalog in (open_catalog(str(path)), open_catalog(store)):
        assert catalog.refused == []
        assert sorted(one.xid for one in catalog.definitions) == sorted(messages_of(example))
        if "details" not in printed:  # which are left out, so that the definitions fit whatever comes
            check_made_messages(catalog, block)


def check_made_messages(catalog: Catalog, block: Block) -> None:
    example = EXAMPLES[block.example]
    for xid in messages_of(example):
        made = catalog.message(xid).make(example.get("values"), data=example.get("data"))
        match = catalog.match(made)
        assert (match.outcome, match.message) == ("landed", xid), (made, match)


@of_kinds("event")
def test_printed_events_are_events(text: Text, block: Block, seeds: Path, tmp_path: Path) -> None:
    path = tmp_path / "catalog.json"
    path.write_text(json.dumps(document_of(EXAMPLES["object-deleted"])))
    match = open_catalog(str(path)).match(content_of(blocks_in(text.lines(seeds))[block.line]))
    assert match.outcome == ("landed" if block.example else "unmatched")
