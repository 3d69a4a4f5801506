"""Every block of JSON in the five texts, where they lie beside the checkout: loaded, no JSON, or with a known slip."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from postroom.catalog.catalog import Catalog, open_catalog
from postroom.catalog.open_store import open_store
from postroom.catalog.sources import read_source
from postroom.catalog.targets import write_target
from postroom.http.server.app import create_app
from postroom.settings import Settings
from tests.catalog.printed import EXAMPLES, document_of, messages_of
from tests.catalog.printed_blocks import TEXTS, Block, Text, blocks_in, content_of, document_in, mended
from tests.http.requests import AsgiClient
from tests.http.v0_5.requests import V05Client

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
        others = msgspec.structs.replace(block, slips=slips)
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


@pytest.fixture
def v0_5(tmp_path: Path) -> Iterator[V05Client]:
    """The Registry Service 0.5 with the two endpoints and the definition that the text speaks of."""
    with open_store(f"sqlite:///{tmp_path}/registry.db") as store:
        client = V05Client(AsgiClient(create_app(store, Settings())))
        definition = {"id": "456", "name": "Blob Created", "format": "CloudEvents/1.0", "metadata": {"attributes": {}}}
        for endpoint in ({"id": "123", "definitions": {"456": definition}}, {"id": "124"}):
            assert client.post("/endpoints", {"name": "Queue", "usage": "consumer", **endpoint}).status == 201
        yield client


@of_kinds("model")
def test_printed_models_are_those_of_the_service(text: Text, block: Block, seeds: Path, v0_5: V05Client) -> None:
    (printed,) = content_of(blocks_in(mended(text.lines(seeds), block))[block.line])["groups"]
    (ours,) = [group for group in v0_5.get("/?model")["groups"] if group["plural"] == printed["plural"]]
    assert ours["singular"] == printed["singular"]
    for known, one in zip(ours["resources"], printed["resources"], strict=True):
        assert {**known, **one} == known


@of_kinds("answer")
def test_printed_answers_have_no_members_that_ours_lack(text: Text, block: Block, seeds: Path, v0_5: V05Client) -> None:
    printed = content_of(blocks_in(mended(text.lines(seeds), block))[block.line])
    ours = v0_5.get(block.path)
    assert printed.keys() <= ours.keys()
    for name, one in printed.items():
        if isinstance(one, dict):
            assert one.keys() <= ours[name].keys()


def test_the_printed_request_is_taken_with_the_usage_that_it_lacks(seeds: Path, v0_5: V05Client) -> None:
    (text,) = [one for one in TEXTS if one.dialect == "0.5-service"]
    (block,) = [one for one in text.blocks if one.kind == "request"]
    printed = content_of(blocks_in(text.lines(seeds))[block.line])
    printed["epoch"] = v0_5.get(block.path)["epoch"]
    assert v0_5.problem("PUT", block.path, printed) == (400, "required_attribute_missing")
    answer = v0_5.put(block.path, {**printed, "usage": "consumer"})
    assert (answer.status, answer.json["name"]) == (200, "A cooler endpoint")
