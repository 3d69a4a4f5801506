"""The exchanges recorded from the reference server, replayed against a real `postroom serve`."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.http.running_service import serving

EXCEPTIONS = Path(__file__).with_name("corpus_exceptions.toml")


@pytest.fixture(scope="module")
def replayed(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("corpus")
    conformance, results = shared / "conformance", folder / "results.json"
    arguments = ("--model", "none", "--allow-fetch", "127.0.0.1")
    # With the format that the reference server has to test itself with, so that these cases are not left out.
    with serving(f"sqlite:///{folder}/registry.db", *arguments, program="tests.http.counting") as (_, url):
        command = [sys.executable, conformance / "replay.py", "--base-url", url, "--json", results]
        subprocess.run([*command, conformance / "core-public.jsonl"], capture_output=True, timeout=300, check=False)
    answered: dict[str, Any] = json.loads(results.read_text())
    return answered


def test_the_corpus_passes_but_for_what_is_argued(replayed: dict[str, Any]) -> None:
    exceptions = tomllib.loads(EXCEPTIONS.read_text())
    wrong = {case["case"]: case["failures"][0]["why"] for case in replayed["results"] if not case["ok"]}
    assert {case: why for case, why in wrong.items() if case not in exceptions} == {}
    assert [case for case in exceptions if case not in wrong] == [], "these pass: take them off the list"
    assert replayed["passed"] + len(wrong) > 150


def test_what_is_skipped_is_another_server_s_own(replayed: dict[str, Any], shared: Path) -> None:
    cases = map(json.loads, (shared / "conformance" / "core-public.jsonl").read_text().splitlines())
    needs = {case["case"]: case.get("needs", []) for case in cases}
    assert {need for case in replayed["skipped"] for need in needs[case]} <= {"available:.xregistry"}
