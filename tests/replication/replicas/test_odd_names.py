"""Attributes whose names mean something elsewhere: they are attributes, and take part in copies as any other does."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from postroom.errors import ServiceRefused
from postroom.replication.replicas.peers.open import open_source, open_target
from postroom.replication.replicas.peers.postroom import UnitPage
from postroom.replication.replicas.replica_unit import Unit, UnitEntry
from postroom.replication.replicas.scope import parse_scope
from postroom.settings import Settings
from tests.replication.catalogs import Kitchen, pull, served, verify
from tests.replication.replicas.test_peers import _say, answering

GROUPS = ("/messagegroups/odd", "/schemagroups/odd", "/endpoints/odd")
ODD: list[dict[str, Any]] = [
    {"meta": "x"},
    {"versions": "x"},
    {"meta": 7, "versions": 7},
    {"meta": {"xref": "/messagegroups/a/messages/b"}},
    {"meta": {"modifiedat": 5, "defaultversionid": "1"}, "versions": {"1": "x"}},
    {"versions": {"1": {"modifiedat": "2999-01-01T00:00:00Z", "authority": "https://evil.example"}}},
    {"versions": ["a"], "meta": []},
    {"authority": "https://oven.example", "versionuri": "urn:x"},
    {"implied": True, "xref": "/x", "versionid": "1", "defaultversionid": "1", "document": "x", "digest": "x"},
]


ALL = [(f"{group}{number}", odd) for number, odd in enumerate(ODD) for group in GROUPS]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kitchen:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Kitchen(tmp_path, "here")


@pytest.fixture
def there(tmp_path: Path) -> Kitchen:
    return Kitchen(tmp_path, "there")


def fill(kitchen: Kitchen, **more: str) -> None:
    for group, odd in ALL:
        usage = {"usage": ["producer"]} if group.startswith("/endpoints/") else {}
        kitchen.put(group, {**usage, **odd, **more})


def test_odd_attributes_of_groups_are_copied_from_store_to_store(here: Kitchen, there: Kitchen) -> None:
    fill(there)
    there.bake("bread.baked", "odd1")
    there.shape("1", "2", group="odd1")
    assert len(pull(there.side, here.side).outcome.taken) == len(ALL) + 2
    assert verify(there.side, here.side) == []
    for group, odd in ALL:
        assert {name: here.show(group)[name] for name in odd} == odd
    assert pull(there.side, here.side).outcome.taken == []
    fill(there, name="Changed")
    assert len(pull(there.side, here.side).outcome.taken) == len(ALL)
    assert verify(there.side, here.side) == []


def test_odd_attributes_of_groups_that_get_another_name(here: Kitchen, there: Kitchen) -> None:
    fill(there)
    scope = parse_scope("/", tuple(f"{group}={group}.there" for group, _ in ALL))
    assert len(pull(there.side, here.side, scope=scope).outcome.taken) == len(ALL)
    assert verify(there.side, here.side, scope=scope) == []
    for group, odd in ALL:
        if "xref" not in odd:  # a reference by its name, wherever it is: it is renamed as well
            assert {name: here.show(f"{group}.there")[name] for name in odd} == odd


@pytest.mark.parametrize("path", ["copy", "copy.json", "copy.yaml"])
def test_odd_attributes_of_groups_in_files(here: Kitchen, there: Kitchen, tmp_path: Path, path: str) -> None:
    fill(there)
    target = open_target(str(tmp_path / path), Settings())
    assert len(pull(there.side, target).outcome.taken) == len(ALL)
    source = open_source(str(tmp_path / path), Settings())
    assert len(pull(source, here.side).outcome.taken) == len(ALL)
    assert verify(there.side, here.side) == []


@pytest.mark.parametrize("plain", [False, True], ids=["postroom", "any service"])
def test_odd_attributes_of_groups_between_services(here: Kitchen, there: Kitchen, plain: bool) -> None:
    fill(there)
    there.bake("bread.baked", "odd1", history=["x"], documents={"1": "x"}, uri="urn:x", states=1, past="x")
    with served(there) as url:
        assert httpx.get(f"{url}/-/replication/overview").status_code == 200
        source = open_source(url, Settings(), plain=plain)
        assert len(pull(source, here.side).outcome.taken) == len(ALL) + 1
        assert verify(source, here.side) == []
        assert verify(there.side, here.side) == []
        here.put("/messagegroups/mine", {"meta": "x", "versions": {"1": 1}})
        done = pull(here.side, open_target(url, Settings(), plain=plain)).outcome
        assert (done.taken, done.refused) == (["/messagegroups/mine"], {})


@pytest.mark.parametrize(
    "body", [{}, {"meta": "x"}, {"meta": {}}, {"meta": {}, "versions": {"1": "x"}}, {"versions": 1}]
)
def test_a_service_that_answers_no_units_is_refused(here: Kitchen, body: dict[str, Any]) -> None:
    unit = Unit(xid="/messagegroups/g/messages/m", body=body, entry=UnitEntry(digest="1"))

    def answer(handler: BaseHTTPRequestHandler) -> None:
        _say(handler, msgspec.json.encode(UnitPage([unit])))

    with answering(answer) as url, pytest.raises(ServiceRefused, match="no meta"):
        list(open_source(url, Settings()).units([unit.xid]))
