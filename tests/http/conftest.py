"""A real `postroom serve` process, started once, with a registry of its own; and the same stack in this process."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from postroom.catalog.open_store import open_store
from postroom.http.server.app import create_app
from postroom.settings import Settings
from postroom.store.interface import Store
from tests.http.requests import AsgiClient


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    database = tmp_path_factory.mktemp("service") / "registry.db"
    command = [sys.executable, "-m", "postroom", "serve", "--db", f"sqlite:///{database}", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(database).parent)
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("listening on http://127.0.0.1:"), line
    yield line.removeprefix("listening on ").strip()
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0


@pytest.fixture
def client(service: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=service, timeout=30) as client:
        for kind in ("messagegroups", "schemagroups", "endpoints"):
            assert client.delete(f"/{kind}").status_code == 204
        yield client


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path}/registry.db") as opened:
        yield opened


@pytest.fixture
def asgi(store: Store) -> AsgiClient:
    return AsgiClient(create_app(store, Settings()))
