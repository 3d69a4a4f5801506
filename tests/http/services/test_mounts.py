"""Services under a name of their own, and who has the name when a model has it too (CONTRACT: root paths)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from postroom.catalog.open_store import open_store
from postroom.http.server.request import Request
from postroom.http.server.response import Response
from postroom.http.services.mounts import MOUNTS
from postroom.http.xregistry.dispatch import answer
from postroom.settings import Settings
from postroom.store.interface import Store
from tests.http.requests import AsgiClient

OWN_MODEL = b'{"groups": {"parrots": {"singular": "parrot"}}}'


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setitem(
        MOUNTS, "parrots", lambda request, *_: Response(json=[request.method, request.base, request.path])
    )
    return open_store(f"sqlite:///{tmp_path}/registry.db", "none")


def read(answered: Response) -> Any:
    return json.loads(answered.content)


def ask(store: Store, path: str, method: str = "GET", body: bytes = b"") -> Response:
    return answer(Request(method=method, path=path, base="http://here", body=body), store, Settings())


@pytest.mark.parametrize(
    ("path", "base", "below"),
    [
        ("/parrots", "http://here/parrots", "/"),
        ("/parrots/a/b", "http://here/parrots", "/a/b"),
        ("/-/parrots/a", "http://here/-/parrots", "/a"),
    ],
)
def test_a_mount_sees_what_is_below_its_name(store: Store, path: str, base: str, below: str) -> None:
    assert read(ask(store, path, "TRACE")) == ["TRACE", base, below]


def test_a_group_type_of_the_same_name_goes_first(store: Store) -> None:
    assert ask(store, "/modelsource", "PUT", OWN_MODEL).status == 200
    assert read(ask(store, "/parrots")) == {}
    assert read(ask(store, "/-/parrots")) == ["GET", "http://here/-/parrots", "/"]


def test_no_other_name_is_taken(store: Store) -> None:
    assert ask(store, "/parrot").status == 404
    assert ask(store, "/-/parrot").status == 404


@pytest.mark.feature("HTTP-017")
def test_the_root_says_where_other_texts_find_the_registry(asgi: AsgiClient) -> None:
    def links(path: str) -> list[str]:
        return [value.decode() for name, value in asgi.ask("GET", path).raw if name == b"link"]

    base = "http://ovens.localhost"
    assert links("/") == [
        f"<{base}>;rel=xregistry-root",
        f'<{base}/v0.5>;rel=alternate;title="Registry Service 0.5"',
        f'<{base}/messagecatalog>;rel=alternate;title="Message and Event Catalog"',
        f'<{base}/confluent>;rel=alternate;title="Schema Registry"',
    ]
    assert links("/messagegroups") == [f"<{base}>;rel=xregistry-root"]
    model = {"groups": {"messagecatalog": {"singular": "catalog", "resources": {"pages": {"singular": "page"}}}}}
    assert asgi.ask("PUT", "/modelsource", model).status == 200
    assert links("/")[2].startswith(f"<{base}/-/messagecatalog>")
