from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from postroom.model.includes import CachedFetch, expand_includes, refuse_fetch
from postroom.model.model_refused import ModelRefused
from postroom.model.shipped_models import load_model
from postroom.outbound.client import Fetcher
from postroom.outbound.policy import FetchRefused, OutboundPolicy

DOCS = {"groups": {"docs": {"singular": "doc"}, "dirs": {"singular": "folder"}}}
FILES: dict[str, Any] = {
    "http://host/models/docs.json": DOCS,
    "http://host/models/near.json": {"groups": {"$include": "./docs.json#/groups"}},
    "http://host/models/up.json": {"groups": {"$include": "../models/docs.json#groups"}},
    "http://host/models/circle.json": {"groups": {"$include": "circle.json#/groups"}},
    "http://host/models/local.json": {"groups": {"$include": "file:///etc/passwd"}},
    "http://host/models/escaped.json": {"a/b": {"c~d": {"x": {"type": "string"}}}},
    "http://host/models/list.json": [],
}


def fetch(url: str) -> bytes:
    if url not in FILES:
        raise FetchRefused(f"{url} is not there")
    return json.dumps(FILES[url]).encode()


def included(reference: str, **own: Any) -> Any:
    return expand_includes({"groups": {"$include": reference, **own}}, fetch)["groups"]


@pytest.mark.feature("MOD-095", "MOD-097")
@pytest.mark.parametrize("reference", ["docs.json#/groups", "docs.json#groups", "near.json#/groups", "up.json#groups"])
def test_an_include_is_replaced_by_what_it_names(reference: str) -> None:
    assert included(f"http://host/models/{reference}") == DOCS["groups"]


@pytest.mark.feature("MOD-096")
def test_what_is_there_wins_over_what_is_included() -> None:
    merged = included("http://host/models/docs.json#/groups", dirs={"singular": "dir"})
    assert merged == {"docs": {"singular": "doc"}, "dirs": {"singular": "dir"}}
    two = {"first": {"a": 1, "b": 1}, "second": {"b": 2, "c": 2}, "x": {"$includes": ["#/first", "#/second"], "c": 3}}
    assert expand_includes(two, refuse_fetch)["x"] == {"a": 1, "b": 1, "c": 3}


@pytest.mark.feature("MOD-095")
def test_a_pointer_is_unescaped() -> None:
    assert included("http://host/models/escaped.json#/a~1b/c~0d") == {"x": {"type": "string"}}


@pytest.mark.feature("MOD-095", "MOD-097")
@pytest.mark.parametrize(
    "document",
    [
        {"$include": "#/x", "$includes": ["#/x"], "x": {}},
        {"$include": ["#/x"], "x": {}},
        {"$includes": "#/x", "x": {}},
        {"$includes": [""], "x": {}},
        {"$include": 5},
        {"x": {"$include": "#/y"}, "y": {"$include": "#/x"}},
        {"x": {"$include": "#"}},
        {"x": {"$include": "#/missing"}},
        {"x": {"$include": "http://host/models/circle.json"}},
        {"x": {"$include": "http://host/models/local.json"}},
        {"x": {"$include": "http://host/models/list.json"}},
        {"x": {"$include": "http://host/models/nowhere.json"}},
        {"x": {"$include": "http://[host"}},
        {"x": {"$include": "file:///etc/passwd"}},
        {"x": {"$include": "relative.json"}},
        {
            **{f"l{n}": {"a": {"$include": f"#/l{n + 1}"}, "b": {"$include": f"#/l{n + 1}"}} for n in range(30)},
            "l30": {},
        },
    ],
)
def test_bad_includes_are_refused(document: Any) -> None:
    with pytest.raises(ModelRefused):
        expand_includes(document, fetch)


@pytest.mark.feature("MOD-097", "MOD-098")
def test_a_model_file_includes_files_beside_it(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "dirs.json").write_text('{"dirs": {"singular": "dir"}}')
    (tmp_path / "model.json").write_text('{"groups": {"$include": "parts/dirs.json"}}')
    assert list(load_model(str(tmp_path / "model.json")).groups) == ["dirs"]
    (tmp_path / "model.json").write_text('{"groups": {"$include": "parts/gone.json"}}')
    with pytest.raises(ModelRefused, match=r"gone\.json"):
        load_model(str(tmp_path / "model.json"))


@pytest.mark.parametrize("url", ["http://other/x", "ftp://host/x", "host/x", "http://host:81/x", "http://[::1/x", "x"])
def test_only_named_hosts_are_asked(url: str) -> None:
    with pytest.raises(FetchRefused):
        Fetcher(OutboundPolicy(hosts=("host:80",)))(url)


def test_what_was_fetched_before_is_not_fetched_again_and_nothing_else_is() -> None:
    asked: list[str] = []

    def ask(url: str) -> bytes:
        asked.append(url)
        return fetch(url)

    remembering = CachedFetch(ask)
    source = {"groups": {"$include": "http://host/models/docs.json#/groups"}}
    first = expand_includes(source, remembering)
    closed = remembering.cached_only()
    assert expand_includes(source, closed) == first
    assert asked == ["http://host/models/docs.json"]
    with pytest.raises(ModelRefused, match="cannot be included here"):
        expand_includes({"groups": {"$include": "http://host/models/near.json"}}, closed)
