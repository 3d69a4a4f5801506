"""`postroom prune` as a command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from postroom.cli.main import execute


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert execute(list(arguments)) == 0
    return capsys.readouterr().out


def test_a_dry_run_says_what_the_run_then_deletes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = f"sqlite:///{tmp_path}/shop.db"
    output(capsys, "load", "demo/catalog", "--to", database)
    limits = ("--changes-kept", "5", "--history-kept", "with_changes")
    wanted = json.loads(output(capsys, "prune", database, *limits, "--dry-run", "--json"))
    assert wanted["changes"] > 60
    assert wanted["deleted"] is False
    counts = f"from {database}: changes {wanted['changes']}, history {wanted['history']}\n"
    assert output(capsys, "prune", database, *limits, "--dry-run") == f"would be deleted {counts}"
    assert output(capsys, "prune", database, *limits) == f"deleted {counts}"
    assert json.loads(output(capsys, "prune", database, *limits, "--json")) == {
        "db": database,
        "changes": 0,
        "history": 0,
        "deleted": True,
    }


def test_without_limits_nothing_is_due(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = f"sqlite:///{tmp_path}/shop.db"
    output(capsys, "load", "demo/catalog", "--to", database)
    assert output(capsys, "prune", database) == f"deleted from {database}: changes 0, history 0\n"


def test_a_database_that_is_not_there_is_not_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["prune", f"sqlite:///{tmp_path}/none.db"]) == 2
    assert "there is no such database" in capsys.readouterr().err
    assert not (tmp_path / "none.db").exists()
