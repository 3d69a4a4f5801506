"""`postroom sort` as users run it: a process of its own, with its own Spark."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from postroom.cli.main import execute

ROOT = Path(__file__).parents[2]
CATALOG = str(ROOT / "demo" / "catalog")
SAMPLE = str(ROOT / "demo" / "sample.jsonl")


def sort(*arguments: str, folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "postroom", "sort", "--catalog", CATALOG, "--source", SAMPLE, *arguments]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, **environ}, capture_output=True, text=True, check=False, timeout=300
    )


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_machine_without_java_sorts_quietly_and_leaves_nothing_behind(tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    bare = tmp_path / "bin"
    bare.mkdir()
    for tool in (
        "sh",
        "bash",
        "env",
        "dirname",
        "uname",
        "readlink",
        "cat",
        "ps",
        "ls",
        "sed",
        "basename",
        "nice",
        "which",
    ):
        for folder in ("/bin", "/usr/bin"):
            if (Path(folder) / tool).exists() and not (bare / tool).exists():
                (bare / tool).symlink_to(Path(folder) / tool)
    environ = {"HOME": str(home), "PATH": str(bare), "JAVA_HOME": "", "XDG_CACHE_HOME": ""}

    people = sort("--lake", "lake", folder=work, **environ)

    assert (people.returncode, people.stderr) == (0, "")
    read, landed, dead = (int(word) for word in people.stdout.splitlines()[-1].split() if word.isdigit())
    assert read == landed + dead > 0
    assert [path.name for path in work.iterdir()] == ["lake"]


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["--catalog", "nowhere", "--source", SAMPLE, "--lake", "{tmp}/lake"], 2, "nowhere"),
        (["--catalog", CATALOG, "--source", "nowhere.jsonl", "--lake", "{tmp}/lake"], 2, "no such file"),
        (["--catalog", CATALOG, "--source", SAMPLE, "--lake", "/proc/self/lake"], 3, "cannot be written"),
        (["--catalog", CATALOG, "--source", SAMPLE, "--lake", str(ROOT / "demo")], 2, "not empty and not a lake"),
        (["--catalog", CATALOG, "--source", SAMPLE, "--lake", "{tmp}/lake", "--nulls", "maybe"], 2, "maybe"),
    ],
)
def test_bad_usage_is_one_sentence_before_spark_starts(
    arguments: list[str], code: int, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [argument.replace("{tmp}", str(tmp_path)) for argument in arguments]
    assert execute(["sort", *given]) == code
    output = capsys.readouterr()
    assert sentence in output.err
    assert len(output.err.splitlines()) == 1
    assert output.out == ""
    assert list(tmp_path.iterdir()) == []


def test_a_missing_extra_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("postroom.pipeline.spark.session.LIBRARIES", ("library_that_is_not_installed",))
    assert execute(["sort", "--catalog", CATALOG, "--source", SAMPLE, "--lake", str(tmp_path / "lake")]) == 3
    assert "this needs `pip install 'postroom[spark]'`" in capsys.readouterr().err
