"""Clients that are not Python's: the schema registry clients of franz-go and of Confluent for JavaScript, and the
requests that web tools send."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
import uuid
from pathlib import Path

import httpx
import pytest

from postroom.access.grants import parse_grant
from postroom.access.keys import create_key
from postroom.http.server.app import create_app
from postroom.settings import Settings
from postroom.store.interface import Store
from tests.http.confluent.subject_client import MEDIA_TYPE, SubjectClient, avro
from tests.http.requests import AsgiClient

PROGRAM = Path(__file__).with_name("franz_go") / "main.go"
SCRIPT = Path(__file__).with_name("node") / "main.js"
NODE_CLIENT = "@confluentinc/schemaregistry@1.10.1"
SAYS = """versions 1 2 true
by id true AVRO
lookup 1 true
refused true 409
compatible false
level NONE
uses true
deleted [1 2] [1 2]
gone true 40401
"""
NODE_SAYS = """versions [ 1, 2 ] true
lookup true
latest true
compatible false
level NONE
avro true {"id":"a","heat":250}
reference {"lock":{"bolt":"steel"}}
json {"loaves":12}
wrong refused
unknown [ 404, 40401 ]
deleted [ 1, 2 ] [ 1, 2 ]
"""


@pytest.fixture
def franz_go(tmp_path: Path) -> Path:
    """The program, compiled."""
    if not os.environ.get("FRANZ_GO"):
        pytest.skip("takes too long for every day: FRANZ_GO=1, as `make long` says, compiles it")
    if shutil.which("go") is None:
        pytest.skip("NOT HERE: Go; the schema registry client of franz-go did not run")
    shutil.copy(PROGRAM, tmp_path)
    for command in (
        ["go", "mod", "init", "ovens"],
        ["go", "get", "github.com/twmb/franz-go/pkg/sr@v1.8.0"],
        ["go", "build", "-o", "ovens", "."],
    ):
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
        if run.returncode != 0 and command[1] == "get":
            pytest.skip(
                f"NOT HERE: the modules of franz-go; its schema registry client did not run: {run.stderr[-200:]}"
            )
        assert run.returncode == 0, run.stderr
    return tmp_path / "ovens"


def test_franz_go(franz_go: Path, registry_url: str) -> None:
    run = subprocess.run(
        [franz_go, registry_url, f"ovens-{uuid.uuid4().hex}"], capture_output=True, text=True, check=False, timeout=60
    )
    assert run.stdout == SAYS, run.stderr


@pytest.fixture
def node_client(tmp_path: Path) -> Path:
    """The script, with the packages that it needs."""
    if not os.environ.get("NODE_CLIENT"):
        pytest.skip("takes too long for every day: NODE_CLIENT=1, as `make long` says, installs its packages")
    if shutil.which("npm") is None:
        pytest.skip("NOT HERE: Node.js; the schema registry client of Confluent for JavaScript did not run")
    shutil.copy(SCRIPT, tmp_path)
    (tmp_path / "package.json").write_text('{"private": true}')
    install = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", NODE_CLIENT]
    run = subprocess.run(install, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    if run.returncode != 0:
        pytest.skip(f"NOT HERE: the packages of {NODE_CLIENT}; it did not run: {run.stderr[-200:]}")
    return tmp_path / SCRIPT.name


def test_the_client_of_confluent_for_javascript(node_client: Path, registry_url: str) -> None:
    command = ["node", node_client, registry_url, f"ovens-{uuid.uuid4().hex}"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert run.stdout == NODE_SAYS, run.stderr


def test_a_web_tool_finds_its_way(subjects: SubjectClient) -> None:
    """What Kafka UI and its like ask for to fill their pages."""
    subjects.register("ovens-value", avro("Oven", "id"))
    subjects.register("gone-value", avro("Gone", "id"))
    subjects.good("DELETE", "/subjects/gone-value")
    assert subjects.good("GET", "/mode") == {"mode": "READWRITE"}
    assert subjects.good("GET", "/config") == {"compatibilityLevel": "BACKWARD"}
    assert subjects.good("GET", "/subjects?deleted=true") == ["gone-value", "ovens-value"]
    assert subjects.good("GET", "/subjects?deleted=false") == ["ovens-value"]
    assert subjects.error("GET", "/config/ovens-value") == 40408
    assert subjects.error("GET", "/mode/ovens-value") == 40409
    assert subjects.good("GET", "/subjects/ovens-value/versions/latest")["version"] == 1
    assert subjects.good("PUT", "/config/ovens-value", {"compatibility": "FULL"}) == {"compatibility": "FULL"}
    assert [one["subject"] for one in subjects.good("GET", "/schemas?latestOnly=true")] == ["ovens-value"]


def test_the_port_shows_the_same_and_nothing_else(registry_url: str) -> None:
    with httpx.Client(base_url=registry_url, timeout=30) as client:
        answer = client.get("/subjects")
        assert (answer.status_code, answer.headers["content-type"]) == (200, MEDIA_TYPE)
        assert client.get("/healthz").json()["error_code"] == 404
        assert client.post("/subjects/x/versions", content=b"{").json()["error_code"] == 400


@pytest.fixture
def guarded(store: Store) -> AsgiClient:
    return AsgiClient(create_app(store, Settings(access="on")))


def test_basic_credentials_are_keys(store: Store, guarded: AsgiClient) -> None:
    with store.write() as tx:
        key = create_key(tx, "oven", [parse_grant("key:oven", "write", "/schemagroups/default")])[1]
    name, _, secret = key.removeprefix(f"{key.split('_')[0]}_").partition("_")
    basic = base64.b64encode(f"{name}:{secret}".encode()).decode()
    headers = {"authorization": f"Basic {basic}"}
    body = b'{"schema": "\\"string\\""}'
    assert guarded.ask("POST", "/confluent/subjects/ovens/versions", body, headers).json["id"] == 100001
    refused = guarded.ask("GET", "/confluent/subjects")
    assert (refused.status, refused.json["error_code"]) == (401, 401)
    assert refused.headers["content-type"] == MEDIA_TYPE
    assert "www-authenticate" in refused.headers
    elsewhere = guarded.ask("POST", "/confluent/subjects/:.other:x/versions", body, headers)
    assert (elsewhere.status, elsewhere.json["error_code"]) == (403, 40301)
