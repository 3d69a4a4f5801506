"""The official command line of xRegistry, `xr`, against a service of ours.

It is not on PyPI, so these tests run where a binary is: on PATH, or where the variable XREGISTRY_XR says.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.http.running_service import serving

XR = os.environ.get("XREGISTRY_XR") or shutil.which("xr") or ""
pytestmark = [
    pytest.mark.audit("clients-2"),
    pytest.mark.skipif(
        not XR, reason="NOT HERE: xr (on PATH, or XREGISTRY_XR); the official command line was not tried"
    ),
]

Run = Callable[..., str]
DEMO = Path(__file__).parents[2] / "demo" / "catalog"


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    with serving(f"sqlite:///{tmp_path}/registry.db") as (_, url):
        yield url


@pytest.fixture
def xr(url: str, tmp_path: Path) -> Run:
    """Runs a command of xr and gives what it prints; it has to succeed."""

    def run(*arguments: str) -> str:
        command = [XR, "-s", url, *arguments]
        env = {**os.environ, "HOME": str(tmp_path)}
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=env, check=False)
        assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
        return done.stdout

    return run


def test_group_and_resource_types_are_created_changed_and_removed(xr: Run, url: str) -> None:
    xr("model", "group", "create", "kitchens:kitchen")
    xr("model", "resource", "create", "-g", "kitchens", "recipes:recipe")
    xr("model", "resource", "update", "-g", "kitchens", "recipes", "--description", "What is cooked")
    kitchens = httpx.get(f"{url}/model").json()["groups"]["kitchens"]
    assert (kitchens["plural"], kitchens["resources"]["recipes"]["description"]) == ("kitchens", "What is cooked")
    assert "kitchens / kitchen" in xr("model", "group", "list")
    assert "recipes / recipe" in xr("model", "resource", "list", "-g", "kitchens")
    xr("model", "resource", "delete", "-g", "kitchens", "recipes")
    xr("model", "group", "delete", "kitchens")
    assert "kitchens" not in httpx.get(f"{url}/model").json()["groups"]


def test_entities_are_created_changed_and_removed(xr: Run, url: str) -> None:
    group, message = "/messagegroups/ovens", "/messagegroups/ovens/messages/hot"
    xr("create", group, "-d", '{"name": "Ovens"}')
    xr("create", message, "-d", '{"envelope": "CloudEvents/1.0"}')
    xr("update", group, "--set", "name=All ovens")
    xr("upsert", message, "--set", "description=too hot")
    shown = json.loads(xr("get", group))
    assert (shown["name"], shown["messagescount"]) == ("All ovens", 1)
    assert httpx.get(url + message).json()["description"] == "too hot"
    xr("delete", group)
    assert httpx.get(url + group).status_code == 404


def test_a_document_is_imported_and_a_registry_is_downloaded(xr: Run, url: str, tmp_path: Path) -> None:
    xr("import", "/", "-d", "@" + str(DEMO / "orders.xreg.json"))
    (tmp_path / "copy").mkdir()
    xr("download", str(tmp_path / "copy"))
    assert any((tmp_path / "copy").rglob("order.placed*"))


def test_the_registry_conforms(xr: Run) -> None:
    assert "Fail: 0   Warn: 0" in xr("conform")
