"""`postroom impact` over a lake that was made without Spark."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from postroom.catalog.catalog import open_catalog
from postroom.cli.main import execute
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.lake import create_lake
from postroom.pipeline.worker.sort_task import write_batch

OVEN = """
messagegroups:
  ovens:
    messages:
      temperature:
        envelope: CloudEvents/1.0
        envelopemetadata: {{ type: {{ value: temperature }} }}
        dataschemaformat: JsonSchema/draft-07
        dataschema: {{ type: object, properties: {{ celsius: {{ type: {type} }} }} }}
"""
XID = "/messagegroups/ovens/messages/temperature"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with catalogs, and a lake with ten temperatures, one of them no whole number."""
    monkeypatch.chdir(tmp_path)
    for name, kind in {"old": "number", "strict": "integer", "same": "number"}.items():
        (tmp_path / f"{name}.yaml").write_text(OVEN.format(type=kind))
    event = {"specversion": "1.0", "source": "/ovens", "type": "temperature"}
    lines = [json.dumps(event | {"id": str(n), "data": {"celsius": n or 0.5}}).encode() for n in range(10)]
    columns = {"source": ["ovens"] * 10, "position": list(range(10)), "value": pa.array(lines, pa.binary())}
    lake = create_lake(tmp_path / "lake")
    digest = lake.keep_catalog(open_catalog(str(tmp_path / "old.yaml")).compiled)
    job = Job(lake.url, digest, "strict", "run1", 0, datetime.now(UTC), keep_records=True)
    commit_batch(lake, job, "ovens", [write_batch(job, [pa.RecordBatch.from_pydict(columns)])])
    return tmp_path


def test_a_message_that_would_die_is_a_negative_answer(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["impact", "strict.yaml", "--lake", "lake"]) == 1
    text = capsys.readouterr().out
    assert "10 landed messages: 0 that the change cannot concern, 10 judged." in text
    assert "/data/celsius must be integer but is 0.5" in text
    assert execute(["impact", "same.yaml", "--lake", "lake"]) == 0


def test_json_has_everything(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["impact", "strict.yaml", "--against", "old.yaml", "--lake", "lake", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["dying"] == {"count": 1, "low": 1, "high": 1}
    assert report["definitions"][0]["definition"] == XID
    assert report["changes"][0]["kind"] == "breaking for producers"
    assert report["deaths"][0]["sample"]["record"].startswith("{")


def test_markdown_is_a_comment(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["impact", "strict.yaml", "--against", "old.yaml", "--lake", "lake", "--markdown", "--samples", "masked"]
    assert execute(command) == 1
    text = capsys.readouterr().out
    assert text.startswith("### Impact on real messages\n\n**Against the policy:**")
    assert f"| `{XID}` | changed | 10 | 1 | 0 | 0 | 0 | breaking |" in text
    assert "0.5" not in text.partition("On paper:")[0]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["old.yaml", "--lake", "nowhere"], "there is no such folder"),
        (["nowhere.yaml", "--lake", "lake"], "nowhere.yaml"),
        (["old.yaml", "--lake", "lake", "--sample", "5", "--all"], "do not go together"),
        (["old.yaml", "--lake", "lake", "--sample", "0"], "--sample"),
        (["old.yaml", "--lake", "lake", "--since", "yesterday"], "is no age"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(
    place: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    assert execute(["impact", *arguments]) == 2
    assert sentence in capsys.readouterr().err


def test_a_policy_decides_about_the_exit_code(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["impact", "strict.yaml", "--lake", "lake", "--policy", "impact.toml"]
    (place / "impact.toml").write_text('dying = "10%"\n')
    assert execute(command) == 0
    (place / "impact.toml").write_text('dying = "9%"\n')
    capsys.readouterr()
    assert execute(command) == 1
    complaint = f"{XID}: 1 of 10 messages would die, and the limit is 9%."
    assert f"against the policy: {complaint}" in capsys.readouterr().out
    assert execute([*command, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["complaints"] == [complaint]
    assert execute([*command, "--markdown"]) == 1
    assert "**Against the policy:**" in capsys.readouterr().out
    assert execute([*command[:-1], "nowhere.toml"]) == 2


def test_only_messages_of_an_endpoint_are_compared(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    east = "  east: { usage: [producer], messagegroups: [/messagegroups/ovens] }\n"
    endpoints = f"endpoints:\n{east}  west: {{ usage: [producer] }}\n"
    (place / "ends.yaml").write_text(OVEN.format(type="number") + endpoints)
    command = ["impact", "ends.yaml", "--lake", "lake", "--endpoint"]
    assert execute([*command, "/endpoints/east"]) == 0
    assert execute([*command, "/endpoints/west"]) == 1
    assert "Would die: 10." in capsys.readouterr().out


def test_sarif_names_the_line_of_the_definition(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["impact", "strict.yaml", "--lake", "lake", "--sarif"]) == 1
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    (result,) = [one for one in run["results"] if one["ruleId"] == "messages_would_die"]
    assert result["message"]["text"] == "1 of 10 messages that landed would be dead letters."
    (location,) = result["locations"]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "strict.yaml"
    assert location["physicalLocation"]["region"]["startLine"] == 5
    assert (run["tool"]["driver"]["name"], result["level"]) == ("postroom impact", "error")
    (place / "impact.toml").write_text("dying = 1\n")
    assert execute(["impact", "strict.yaml", "--lake", "lake", "--sarif", "--policy", "impact.toml"]) == 0
    assert '"level":"warning","message":{"text":"1 of 10 messages' in capsys.readouterr().out


def test_sarif_of_a_folder_names_the_file(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "catalog").mkdir()
    (place / "catalog" / "ovens.yaml").write_text(OVEN.format(type="integer"))
    (place / "catalog" / "doors.yaml").write_text(
        OVEN.format(type="number").replace("ovens", "doors").replace(": temp", ": door")
    )
    assert execute(["impact", "catalog", "--lake", "lake", "--sarif"]) == 1
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    (result,) = [one for one in run["results"] if one["ruleId"] == "messages_would_die"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "catalog/ovens.yaml"
