"""SARIF: what code hosts need to show a finding beside its line."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from postroom.cli.main import execute

CATALOG = """messagegroups:
  ovens:
    messages:
      oven.hot:
        envelope: CloudEvents/1.0
        envelopemetadata:
          type: { value: oven.hot }
          time: { type: datetime }
"""
# The members that consumers read, after the schema of SARIF 2.1.0.
SHAPE = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "properties": {
                    "tool": {"properties": {"driver": {"required": ["name", "rules"]}}},
                    "results": {
                        "items": {
                            "required": ["ruleId", "level", "message", "locations", "partialFingerprints"],
                            "properties": {"level": {"enum": ["error", "warning", "note"]}},
                        }
                    },
                },
            },
        },
    },
}


def sarif_of(source: str, capsys: pytest.CaptureFixture[str]) -> Any:
    capsys.readouterr()
    execute(["lint", "--sarif", source])
    found = json.loads(capsys.readouterr().out)
    jsonschema_rs.validate(SHAPE, found)
    return found["runs"][0]


def test_a_finding_has_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my ovens.yaml").write_text(CATALOG)
    run = sarif_of("my ovens.yaml", capsys)
    (result,) = [one for one in run["results"] if one["ruleId"] == "type_variant"]
    assert result["level"] == "warning"
    assert result["message"]["text"].endswith("Write timestamp.")
    (location,) = result["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "my%20ovens.yaml"},
        "region": {"startLine": 8, "startColumn": 19},
    }
    assert location["logicalLocations"][0]["fullyQualifiedName"].endswith("/envelopemetadata/time/type")
    (rule,) = [one for one in run["tool"]["driver"]["rules"] if one["id"] == "type_variant"]
    assert rule["shortDescription"]["text"] == "Types of older texts are read, but have another name today."


def test_a_store_has_no_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.yaml").write_text(CATALOG)
    store = f"sqlite:///{tmp_path / 'registry.db'}"
    assert execute(["load", str(tmp_path / "a.yaml"), "--to", store]) == 0
    for result in sarif_of(store, capsys)["results"]:
        assert result["locations"][0]["physicalLocation"] == {"artifactLocation": {"uri": store}}


def test_nothing_found_is_a_log_without_results(capsys: pytest.CaptureFixture[str]) -> None:
    assert all(result["level"] == "note" for result in sarif_of("demo/catalog", capsys)["results"])
