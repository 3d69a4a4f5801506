"""`make setup` needs what the README names and nothing else: Python, git and make; no C compiler, no Java."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# What a shell and make themselves use, on every machine that has them.
BASICS = ("sh", "env", "git", "make", "awk", "touch", "test", "cat", "mkdir", "rm", "uname", "dirname", "basename")


@pytest.fixture
def bare_path(tmp_path: Path) -> Path:
    """A folder of programs without a compiler and without Java."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in BASICS:
        if found := shutil.which(name):
            (folder / name).symlink_to(found)
    (folder / "python3").symlink_to(Path(sys.executable).resolve())
    return folder


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Path]:
    """A copy of what setting up reads. What was installed goes away afterwards: it is a gigabyte."""
    checkout = tmp_path / "checkout"
    for name in ("requirements", "src"):
        shutil.copytree(ROOT / name, checkout / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("Makefile", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, checkout)
    yield checkout
    for folder in (checkout, tmp_path / "cache"):
        shutil.rmtree(folder)


def test_set_up_needs_no_compiler_and_no_java(checkout: Path, bare_path: Path, tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if name not in {"JAVA_HOME", "CC", "VIRTUAL_ENV"}}
    environment = kept | {
        "PATH": str(bare_path),
        "HOME": str(tmp_path / "home"),
        "UV_CACHE_DIR": str(tmp_path / "cache"),
    }

    made = subprocess.run(
        ["make", "setup"], cwd=checkout, env=environment, capture_output=True, text=True, check=False, timeout=900
    )
    assert made.returncode == 0, made.stdout + made.stderr
    assert "NOT INSTALLED: python-qpid-proton" in made.stdout

    program = checkout / ".venv" / "bin" / "postroom"
    shown = subprocess.run([program, "--version"], env=environment, capture_output=True, text=True, check=True)
    assert "postroom" in shown.stdout.lower()
