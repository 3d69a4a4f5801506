"""No small input stops anything: the corpus through everything that takes schemas and payloads."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.http.running_service import serving
from tests.poison.corpus import CORPUS, HARMLESS, catalog, records

ROOT = Path(__file__).parents[2]


def tried(*arguments: str) -> Any:
    """What a trial says, in a process with a gigabyte of memory and two minutes of processor time."""
    command = [sys.executable, "-m", "tests.poison.trial", *arguments]
    ended = subprocess.run(command, cwd=ROOT, env=os.environ, capture_output=True, check=False, timeout=1_200)
    assert ended.returncode == 0, ended.stderr[-2_000:].decode()
    return json.loads(ended.stdout)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the corpus, and with as much that is harmless, as catalogs and as files of records."""
    folder = tmp_path_factory.mktemp("poison")
    for name, cases in (("poison", CORPUS), ("harmless", HARMLESS)):
        (folder / f"{name}.json").write_text(json.dumps(catalog(cases)))
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records(cases)))
    return folder


def test_every_payload_has_an_outcome(tmp_path: Path) -> None:
    found = tried("match", str(tmp_path))
    assert sum(found["outcomes"].values()) == sum(len(case.payloads) for case in CORPUS)
    assert found["outcomes"].keys() == {"landed", "invalid"}
    assert found["failed"] == []


def test_a_worker_needs_hardly_more_memory_for_poison_than_for_harmless_payloads(written: Path) -> None:
    usual, poison = (
        tried("work", f"{written}/{name}.json", f"{written}/{name}.jsonl", f"{written}/{name}-lake")
        for name in ("harmless", "poison")
    )
    assert poison["read"] == usual["read"] == sum(len(case.payloads) for case in CORPUS)
    assert poison["peak"] < 1.5 * usual["peak"]


FAMILIES = ("JsonSchema", "Avro", "Protobuf", "JsonStructure", "XSD")


@pytest.mark.parametrize("family", FAMILIES)
def test_a_sample_is_generated_or_refused_for_every_schema(family: str) -> None:
    found = tried("invent", family)
    assert sum(found["answers"].values()) == sum(case.format.startswith(family) for case in CORPUS)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_comparison_has_an_answer(family: str) -> None:
    found = tried("compare", family)
    assert found["answers"].keys() <= {"compatible", "incompatible", "undecided", "refused"}


def test_the_service_answers_whatever_it_is_given(tmp_path: Path) -> None:
    lines = {case.name: [json.dumps(record) for record in records((case,))] for case in CORPUS}
    with (
        serving(f"sqlite:///{tmp_path}/registry.db") as (process, url),
        httpx.Client(base_url=url, timeout=120) as client,
    ):
        for case in CORPUS:
            version = {"format": case.format, "schema": case.document}
            path = f"/schemagroups/poison/schemas/{case.name}/versions/1$details"
            assert client.put(path, json=version).status_code in (200, 201, 400)
        messages = catalog()["messagegroups"]
        assert client.post("/", json={"messagegroups": messages}).status_code == 200
        assert client.get("/healthz").status_code == 200
        for name, given in lines.items():
            answer = client.post("/match", content="\n".join(given), headers={"content-type": "application/x-ndjson"})
            assert (name, answer.status_code, len(answer.text.splitlines())) == (name, 200, len(given))
        assert client.get("/healthz").status_code == 200
        bomb = gzip.compress(b"0\n" * 50_000_000)
        headers = {"content-type": "application/x-ndjson", "content-encoding": "gzip"}
        assert client.post("/match", content=bomb, headers=headers).status_code in (400, 413)
        assert client.get("/healthz").status_code == 200
        assert process.poll() is None


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_every_record_is_sorted(written: Path, tmp_path: Path) -> None:
    sources = ["--catalog", f"{written}/poison.json", "--source", f"{written}/poison.jsonl"]
    command = [sys.executable, "-m", "postroom", "sort", *sources, "--json"]
    ended = subprocess.run(
        [*command, "--lake", "lake"], cwd=tmp_path, env=os.environ, capture_output=True, check=False, timeout=600
    )
    assert ended.returncode == 0, ended.stderr[-2_000:].decode()
    summary = json.loads(ended.stdout)
    assert summary["read"] == sum(len(case.payloads) for case in CORPUS)
