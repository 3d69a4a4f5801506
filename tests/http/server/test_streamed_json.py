"""Answers that are written in pieces say exactly what the same answers in one piece would."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postroom.catalog.open_store import open_store
from postroom.catalog.sources import read_source
from postroom.http.server.response_encoding import MustFetch
from postroom.http.server.streamed_json import written
from postroom.registry.operations import import_document
from postroom.registry.paths import resolve
from postroom.registry.problems import RegistryProblem
from postroom.registry.query.inline import parse_inline
from postroom.registry.read.render import View, render, render_collection
from postroom.registry.read.tree import read_collection, read_entity
from postroom.settings import Settings
from postroom.store.interface import Store

DEMO = Path(__file__).parents[3] / "demo" / "catalog"
PLACES = ("/", "/messagegroups", "/messagegroups/shop.orders", "/messagegroups/shop.orders/messages", "/schemagroups")
INLINES = ("*", "messagegroups", "messagegroups.messages", "messages", "messages.versions", "meta", "schemas", "model")
MANY = {"messagegroups": {"many": {"messages": {f"m{n}": {} for n in range(120)}}, "none": {}}}


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path_factory.mktemp('large')}/registry.db") as store:
        with store.write() as tx:
            import_document(tx, read_source(str(DEMO), Settings()))
            import_document(tx, MANY)
        yield store


@settings(max_examples=150, deadline=None)
@given(
    path=st.sampled_from((*PLACES, "/messagegroups/many", "/messagegroups/many/messages", "/messagegroups/none")),
    inline=st.sets(st.sampled_from(INLINES)),
    doc=st.booleans(),
    binary=st.booleans(),
    shortself=st.booleans(),
)
def test_pieces_say_what_the_whole_says(
    loaded: Store, path: str, inline: set[str], doc: bool, binary: bool, shortself: bool
) -> None:
    with loaded.read() as tx:
        entity_path = resolve(tx.model(), path)
        try:
            shown = parse_inline(tx.model(), entity_path, sorted(inline))
        except RegistryProblem:
            return
        view = View(base="http://x.example", inline=shown, doc=doc, binary=binary, root=path, shortself=shortself)
        pieces = list(written(tx, entity_path, view))
        if entity_path.is_collection:
            whole = render_collection(read_collection(tx, entity_path, shown), view)
        else:
            whole = render(read_entity(tx, entity_path, shown), view)
        assert b"".join(pieces) == msgspec.json.encode(whole)
        assert max(map(len, pieces)) < 100_000


def test_a_group_that_is_not_there_is_not_found(loaded: Store) -> None:
    with loaded.read() as tx, pytest.raises(RegistryProblem, match="does not exist"):
        list(written(tx, resolve(tx.model(), "/messagegroups/nowhere/messages"), View()))


def test_documents_from_elsewhere_are_left_to_those_who_wait_for_them(tmp_path: Path) -> None:
    schema = {"format": "T/1", "schemaproxyurl": "http://127.0.0.1:9/x"}
    with open_store(f"sqlite:///{tmp_path}/registry.db") as store, store.write() as tx:
        import_document(tx, {"schemagroups": {"g": {"schemas": {"s": schema}}}})
        path = resolve(tx.model(), "/schemagroups/g")
        view = View(base="http://x.example", inline=parse_inline(tx.model(), path, ["*"]), root=path.xid)
        with pytest.raises(MustFetch):
            list(written(tx, path, view))
