"""The catalog that `/match` uses: after any writes it is the one that would be compiled from nothing."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postroom.catalog.catalog import Catalog
from postroom.catalog.open_store import open_store
from postroom.errors import DocumentRefused
from postroom.http.server.app import create_app
from postroom.http.services.live_catalog import MOST_ENGINES, Catalogs
from postroom.registry.operations import export_document
from postroom.settings import Settings
from postroom.store.interface import Store
from postroom.store.retention import Retention
from tests.http.requests import AsgiClient

GROUPS, IDS = ("a", "b"), ("one", "two", "three")
HOMES = [f"/{kind}/{group}" for kind in ("messagegroups", "endpoints") for group in GROUPS]
MESSAGES = [f"{home}/messages/{one}" for home in HOMES for one in IDS]
SCHEMAS = [f"/schemagroups/{group}/schemas/{one}" for group in GROUPS for one in IDS]
DOCUMENTS: list[dict[str, Any]] = [
    {"type": "object", "required": ["heat"]},
    {"type": "object", "properties": {"heat": {"type": "integer"}}},
    {"$ref": "two"},
]
EVENTS = [
    {"specversion": "1.0", "id": "1", "source": "/x", "type": kind, "data": data}
    for kind in ("t1", "t2", "none")
    for data in ({"heat": 5}, {"heat": "hot"}, {})
]
RECORDS = [*EVENTS, *({"protocol": "KAFKA", "metadata": {"topic": topic}, "payload": "{}"} for topic in ("q1", "q2"))]

references = st.sampled_from([*MESSAGES, *(f"{xid}/versions/1" for xid in MESSAGES), "/nowhere", "https://a.example/x"])
schema_references = st.sampled_from([*SCHEMAS, *(f"{xid}/versions/1" for xid in SCHEMAS), f"{SCHEMAS[0]}:Part", "#/no"])
types = st.fixed_dictionaries({"type": st.fixed_dictionaries({"value": st.sampled_from(["t1", "t2"])})})
messages = st.fixed_dictionaries(
    {},
    optional={
        "envelope": st.just("CloudEvents/1.0"),
        "envelopemetadata": types,
        "protocol": st.just("KAFKA"),
        "protocoloptions": st.fixed_dictionaries({"topic": st.sampled_from(["q1", "q2"])}),
        "basemessage": references,
        "dataschemauri": schema_references,
        "dataschemaformat": st.just("JsonSchema/draft-07"),
    },
)
schemas = st.fixed_dictionaries({"schema": st.sampled_from(DOCUMENTS), "format": st.just("JsonSchema/draft-07")})
groups = st.fixed_dictionaries(
    {}, optional={"name": st.sampled_from("xy"), "envelope": st.just("CloudEvents/1.0"), "protocol": st.just("KAFKA")}
)
writes = st.one_of(
    st.tuples(st.sampled_from(["PUT", "PATCH"]), st.sampled_from(MESSAGES), messages),
    st.tuples(st.just("PUT"), st.sampled_from(MESSAGES).map(lambda xid: f"{xid}/versions/2"), messages),
    st.tuples(st.just("PUT"), st.sampled_from(SCHEMAS).map(lambda xid: f"{xid}$details"), schemas),
    st.tuples(st.just("PUT"), st.sampled_from(SCHEMAS).map(lambda xid: f"{xid}/versions/2$details"), schemas),
    st.tuples(st.just("PATCH"), st.sampled_from([f"/messagegroups/{group}" for group in GROUPS]), groups),
    st.tuples(
        st.just("PATCH"),
        st.sampled_from([f"/endpoints/{group}" for group in GROUPS]),
        st.fixed_dictionaries({"usage": st.just(["producer"]), "messagegroups": st.just(["/messagegroups/a"])}),
    ),
    st.tuples(
        st.just("PUT"),
        st.sampled_from(MESSAGES).map(lambda xid: f"{xid}/meta"),
        st.fixed_dictionaries({"xref": st.sampled_from(MESSAGES)}),
    ),
    st.tuples(
        st.just("DELETE"),
        st.sampled_from(
            [*MESSAGES, *SCHEMAS, *(f"/{kind}/{g}" for kind in ("messagegroups", "schemagroups") for g in GROUPS)]
        ),
        st.just(None),
    ),
    st.tuples(st.just("DELETE"), st.just("/messagegroups"), st.just(None)),
)


@contextmanager
def opened(folder: Path | str, **retention: int) -> Iterator[tuple[Store, AsgiClient, Catalogs]]:
    kept = Retention(**retention) if retention else Retention(days=0, count=0)
    with open_store(f"sqlite:///{folder}/registry.db", retention=kept) as store:
        yield store, AsgiClient(create_app(store, Settings())), Catalogs(store, Settings())


def compiled_anew(store: Store) -> Catalog:
    with store.read() as tx:
        return Catalog(export_document(tx))


def outcomes(catalog: Catalog) -> list[Any]:
    return [catalog.match(record) for record in RECORDS]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(writes, st.booleans()), min_size=5, max_size=16))
def test_after_any_writes_the_catalog_is_the_one_compiled_from_nothing(steps: list[tuple[Any, bool]]) -> None:
    with TemporaryDirectory() as folder, opened(folder) as (store, asgi, catalogs):
        for (method, path, body), looks in [*steps, (("GET", "/", None), True)]:
            assert asgi.ask(method, path, body if body is not None else b"").status < 500
            if looks:
                found, wanted = catalogs.get("strict"), compiled_anew(store)
                assert found.compiled == wanted.compiled
                assert {e.place: e.sentence for e in found.refused} == {e.place: e.sentence for e in wanted.refused}
                assert outcomes(found) == outcomes(wanted)
                for kind in ("messagegroups", "schemagroups", "endpoints"):
                    assert found.tree[kind] == wanted.tree[kind]


READING = {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "t1"}}}
DERIVED = {"basemessage": MESSAGES[0], "envelopemetadata": {"type": {"value": "t2"}}}


def definition(catalogs: Catalogs, xid: str) -> Any:
    return next(one for one in catalogs.get("strict").definitions if one.xid == xid)


def test_only_what_depends_on_a_change_is_compiled_again(tmp_path: Path) -> None:
    base, derived, other = MESSAGES[:3]
    with opened(tmp_path) as (_, asgi, catalogs):
        asgi.ask("PUT", base, READING)
        asgi.ask("PUT", derived, DERIVED)
        asgi.ask("PUT", other, {"envelope": "CloudEvents/1.0", "dataschemauri": SCHEMAS[0]})
        before = {xid: definition(catalogs, xid) for xid in (base, derived, other)}
        asgi.ask("PATCH", base, {"description": "hot"})
        assert definition(catalogs, base) is not before[base]
        assert definition(catalogs, derived).description == "hot"
        assert definition(catalogs, other) is before[other]
        asgi.ask("PUT", f"{SCHEMAS[0]}$details", {"format": "JsonSchema/draft-07", "schema": {}})
        assert definition(catalogs, other).schema.place == SCHEMAS[0]
        asgi.ask("PATCH", "/messagegroups/a", {"name": "A"})
        assert definition(catalogs, other) is definition(catalogs, other)


def test_a_write_to_something_else_leaves_the_engine_as_it_is(tmp_path: Path) -> None:
    with opened(tmp_path) as (store, asgi, catalogs):
        asgi.ask("PUT", MESSAGES[0], READING)
        before = catalogs.get("strict")
        with store.write() as tx:
            tx.put_record("notes", "1", b"{}")
        assert catalogs.get("strict") is before


def test_a_log_that_forgot_what_happened_is_not_relied_upon(tmp_path: Path) -> None:
    with opened(tmp_path, days=0, count=1) as (store, asgi, catalogs):
        asgi.ask("PUT", MESSAGES[0], READING)
        catalogs.get("strict")
        for xid in MESSAGES[1:]:
            asgi.ask("PUT", xid, READING)
        assert catalogs.get("strict").compiled == compiled_anew(store).compiled


def test_many_who_ask_at_once_share_one_catalog(tmp_path: Path) -> None:
    with opened(tmp_path) as (_, asgi, catalogs):
        asgi.ask("PUT", MESSAGES[0], READING)
        found: list[Catalog] = []
        threads = [threading.Thread(target=lambda: found.append(catalogs.get("strict"))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 8
        assert len(set(map(id, found))) == 1


def test_endpoints_follow_what_changes(tmp_path: Path) -> None:
    endpoint = {"usage": ["producer"], "messagegroups": ["/messagegroups/a"]}
    with opened(tmp_path) as (_, asgi, catalogs):
        asgi.ask("PUT", "/endpoints/e", endpoint)
        assert catalogs.get("strict", "e").definitions == ()
        asgi.ask("PUT", MESSAGES[0], READING)
        assert [one.xid for one in catalogs.get("absent", "e").definitions] == [MESSAGES[0]]
        asgi.ask("PATCH", "/endpoints/e", {"messagegroups": []})
        assert catalogs.get("strict", "e").definitions == ()
        asgi.ask("DELETE", "/endpoints/e")
        with pytest.raises(DocumentRefused):
            catalogs.get("strict", "e")


def test_only_some_endpoints_are_kept_in_memory(tmp_path: Path) -> None:
    names = [f"e{number}" for number in range(3 * MOST_ENGINES)]
    with opened(tmp_path) as (_, asgi, catalogs):
        asgi.ask("PUT", MESSAGES[0], READING)
        asgi.ask("POST", "/", {"endpoints": {name: {"usage": ["producer"]} for name in names}})
        whole = catalogs.get("strict")
        made = [weakref.ref(catalogs.get("strict", name)) for name in names]
        last = catalogs.get("strict", names[-1])
        gc.collect()
        assert sum(one() is not None for one in made) < MOST_ENGINES
        assert catalogs.get("strict") is whole
        assert catalogs.get("strict", names[-1]) is last
