"""The hook and the action that other repositories use: they name commands, flags and files that exist."""

import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml

from postroom.catalog.catalog import open_catalog
from postroom.cli.main import all_commands
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.lake import create_lake
from postroom.pipeline.worker.sort_task import write_batch

ROOT = Path(__file__).parent.parent


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def flags_of(command: str) -> set[str]:
    return {flag for parameter in all_commands()[command].params for flag in parameter.opts}


def test_hooks_run_commands_on_catalogs_only() -> None:
    for hook in read(".pre-commit-hooks.yaml"):
        program, command, *flags = hook["entry"].split()
        assert program == "postroom"
        assert set(flags) <= flags_of(command)
        pattern = re.compile(hook["files"])
        for name in ("a.xreg.json", "x/a.xreg.yaml", "a.cereg", "a.cereg.yaml", "a.cereg.yml"):
            assert pattern.search(name), name
        assert not pattern.search("package.json")


def test_the_action_uses_flags_that_exist_and_runs_no_input() -> None:
    action = read("action.yml")
    scripts = [step["run"] for step in action["runs"]["steps"] if "run" in step]
    used = {name for step in action["runs"]["steps"] for name in re.findall(r"inputs\.([\w-]+)", str(step))}
    assert used == set(action["inputs"])
    for script in scripts:
        assert "${{" not in script
        for command, rest in re.findall(r"postroom (\w+) (.*)", script):
            assert set(re.findall(r"(?<!\S)--\w+", rest)) <= flags_of(command), script


def test_the_job_of_gitlab_uses_flags_that_exist() -> None:
    (job,) = read("deploy/gitlab-impact.yml").values()
    script = "\n".join(job["script"])
    ((command, rest),) = re.findall(r"postroom (\w+) (.*)", script)
    assert set(re.findall(r"(?<!\S)\"?(--\w+)", rest.partition("||")[0])) <= flags_of(command)
    assert "impact.md" in job["artifacts"]["paths"]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Two catalogs, and a lake with a message that only one of them lets in."""
    for name, kind in {"old": "number", "new": "integer"}.items():
        schema = {"type": "object", "properties": {"celsius": {"type": kind}}}
        message = {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "temperature"}}}
        message |= {"dataschemaformat": "JsonSchema/draft-07", "dataschema": schema}
        tree = {"messagegroups": {"ovens": {"messages": {"temperature": message}}}}
        (tmp_path / f"{name}.xreg.json").write_text(json.dumps(tree))
    event = {"specversion": "1.0", "id": "1", "source": "/ovens", "type": "temperature", "data": {"celsius": 0.5}}
    columns = {"source": ["ovens"], "position": [0], "value": pa.array([json.dumps(event).encode()], pa.binary())}
    lake = create_lake(tmp_path / "lake")
    digest = lake.keep_catalog(open_catalog(str(tmp_path / "old.xreg.json")).compiled)
    job = Job(lake.url, digest, "strict", "run1", 0, datetime.now(UTC), keep_records=True)
    commit_batch(lake, job, "ovens", [write_batch(job, [pa.RecordBatch.from_pydict(columns)])])
    return tmp_path


@pytest.mark.parametrize(("limit", "code"), [("0", 1), ("1", 0)])
def test_the_last_step_of_the_action_fails_by_the_policy(place: Path, limit: str, code: int) -> None:
    step = read("action.yml")["runs"]["steps"][-1]
    (place / "impact.toml").write_text(f"dying = {limit}\n")
    given = {"CATALOGS": "new.xreg.json", "BASE": "old.xreg.json", "LAKE": "lake", "POLICY": "impact.toml"}
    given |= {"SAMPLES": "masked", "REPORT": "report.md", "COMMENT": "true", "PULL_REQUEST": ""}
    assert set(given) | {"GH_REPO", "GH_TOKEN"} == set(step["env"])
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = os.environ | given | {"PATH": path, "GITHUB_STEP_SUMMARY": str(place / "summary.md")}
    ran = subprocess.run(["bash", "-eo", "pipefail", "-c", step["run"]], cwd=place, env=environment, check=False)
    assert ran.returncode == code
    assert "1 landed message" in (place / "summary.md").read_text()
    assert "celsius" in (place / "report.md").read_text()
