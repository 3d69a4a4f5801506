from __future__ import annotations

import pytest

from tests.http.requests import Desk
from tests.http.v0_5.requests import EVENT, JSON_SCHEMA, TEXT_SCHEMA, HalfDesk


@pytest.fixture
def half(desk: Desk) -> HalfDesk:
    return HalfDesk(desk)


@pytest.fixture
def ovens(half: HalfDesk) -> HalfDesk:
    """A group of definitions with one in it."""
    group = {"id": "ovens", "name": "Ovens", "format": "CloudEvents/1.0"}
    assert half.post("/definitionGroups", group).status == 201
    assert half.post("/definitionGroups/ovens/definitions", {"id": "oven.hot", **EVENT}).status == 201
    return half


@pytest.fixture
def notes(half: HalfDesk) -> HalfDesk:
    """A group of schemas with one in it."""
    assert half.post("/schemaGroups", {"id": "payloads", "name": "Payloads"}).status == 201
    made = half.ask("POST", "/schemaGroups/payloads/schemas", TEXT_SCHEMA, {"Registry-id": "note", **JSON_SCHEMA})
    assert made.status == 201, made.body
    return half
