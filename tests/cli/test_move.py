"""`postroom move`, `backup` and `restore` as commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from postroom.cli.main import execute
from tests.postgres import Postgres


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert execute(list(arguments)) == 0
    return capsys.readouterr().out


def test_all_three_say_what_they_copied_and_its_digest(
    tmp_path: Path, postgres: Postgres, capsys: pytest.CaptureFixture[str]
) -> None:
    here, there, again = f"sqlite:///{tmp_path}/here.db", postgres.registry(), postgres.registry()
    file = str(tmp_path / "registry.backup")
    output(capsys, "load", "demo/catalog", "--to", here)
    moved = json.loads(output(capsys, "move", here, there, "--json"))
    assert moved["rows"]["entities"] == moved["rows"]["changes"] - 1 > 70
    assert moved["target"] == f"postgresql://127.0.0.1:{postgres.port}/postgres"
    made = json.loads(output(capsys, "backup", there, file, "--json"))
    restored = json.loads(output(capsys, "restore", file, again, "--json"))
    assert moved["digest"] == made["digest"] == restored["digest"]
    assert moved["rows"] == made["rows"] == restored["rows"]
    first, second = output(capsys, "backup", again, file, "--force").splitlines()
    assert first.startswith(f"backed up {moved['target']} into {file}: entities ")
    assert second == moved["digest"]


def test_refusals_are_a_sentence_with_the_place_and_the_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here, file = f"sqlite:///{tmp_path}/here.db", str(tmp_path / "registry.backup")
    output(capsys, "load", "demo/catalog", "--to", here)
    output(capsys, "backup", here, file)
    for arguments, sentence in (
        (("move", here, here), f"{here}: there is a registry in this database. Name a database without one."),
        (("backup", here, file), f"{file}: there is such a file. Say --force to replace it."),
        (("restore", file, here), f"{here}: there is a registry in this database. Name a database without one."),
        (("move", f"sqlite:///{tmp_path}/none.db", here), f"{tmp_path}/none.db: there is no such database."),
        (("restore", f"{tmp_path}/none", here), f"{tmp_path}/none: there is no such file."),
    ):
        assert execute(list(arguments)) == 2
        assert capsys.readouterr().err == f"postroom: {sentence}\n"
