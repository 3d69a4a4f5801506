"""`postroom load` into a running service: everything in one request, so that a refusal leaves nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from postroom.catalog.targets import write_target
from postroom.errors import ServiceRefused
from postroom.settings import Settings
from tests.http.running_service import serving

KITCHENS: dict[str, Any] = {
    "name": "Harbour",
    "modelsource": {
        "groups": {"kitchens": {"singular": "kitchen", "attributes": {"heat": {"type": "integer"}}, "resources": {}}}
    },
    "kitchens": {"north": {"heat": 1}},
}


@pytest.fixture
def service(tmp_path: Path) -> Any:
    with serving(f"sqlite:///{tmp_path}/registry.db") as (_, url):
        yield url


def whole(url: str) -> Any:
    return httpx.get(f"{url}/?inline=*,modelsource,capabilities").json()


def test_a_refused_load_leaves_nothing(service: str) -> None:
    before = whole(service)
    refused = {**KITCHENS, "kitchens": {"north": {"heat": "hot"}}}
    with pytest.raises(ServiceRefused, match="heat"):
        write_target(refused, service, Settings())
    assert whole(service) == before


def test_model_attributes_and_groups_arrive_together(service: str) -> None:
    assert httpx.patch(service, json={"description": "Everything that moves.", "name": "Port"}).status_code == 200
    assert httpx.put(f"{service}/messagegroups/kept", json={}).status_code == 201
    write_target(KITCHENS, service, Settings())
    write_target({**KITCHENS, "kitchens": {"north": {"description": "cold"}}}, service, Settings())
    shown = whole(service)
    assert (shown["name"], shown["description"]) == ("Harbour", "Everything that moves.")
    assert list(shown["messagegroups"]) == ["kept"]
    assert shown["kitchens"]["north"]["description"] == "cold"
    assert "heat" not in shown["kitchens"]["north"], "a group that is loaded again is replaced"


@pytest.mark.feature("META-004")
def test_who_loads_is_no_administrator(service: str, tmp_path: Path) -> None:
    message = {"meta": {"readonly": True}, "description": "locked"}
    for target in (service, f"sqlite:///{tmp_path}/other.db"):
        document = {"messagegroups": {"doors": {"messages": {"open": message}}}}
        write_target(document, target, Settings())
        write_target(document, target, Settings())  # it is not locked: `readonly` is the server's own, and ignored
    shown = httpx.get(f"{service}/messagegroups/doors/messages/open/meta").json()
    assert shown["readonly"] is False
