"""The wheel, installed into an empty environment: the pages are all there, and need nothing else."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from postroom.ui.website import PAGES
from tests.conftest import DEMO_CATALOG
from tests.http.running_service import serving
from tests.ui.conftest import POSITION, Visitor, load

ROOT = Path(__file__).parents[2]
UV = Path(sys.executable).with_name("uv")
# What `make setup` has fetched is enough; otherwise with the machine's certificates, then with uv's own.
WAYS = (("--offline",), ("--system-certs",), ())


def run(*command: str | Path, folder: Path = ROOT) -> None:
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def install(python: Path, *what: str | Path) -> None:
    for way in WAYS[:-1]:
        command = [str(UV), "pip", "install", "--quiet", "--python", str(python), *way, *map(str, what)]
        if subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == 0:
            return
    run(UV, "pip", "install", "--quiet", "--python", python, *WAYS[-1], *what)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the wheel and what it depends on, and nothing else."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder)
    (wheel,) = folder.glob("*.whl")
    run(UV, "venv", "--quiet", "--python", sys.executable, folder / "environment")
    python = folder / "environment" / "bin" / "python"
    install(python, "--require-hashes", "--no-deps", "-r", ROOT / "requirements" / "plain.txt")
    install(python, "--no-deps", wheel)
    return python


@pytest.fixture(scope="module")
def plain(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service of the installed wheel."""
    folder = tmp_path_factory.mktemp("plain")
    (folder / "lake").mkdir()
    database = f"sqlite:///{folder}/registry.db"
    load(database, DEMO_CATALOG)
    with serving(database, "--lake", str(folder / "lake"), python=str(installed)) as (_, url):
        yield url


def test_all_pages_open_with_their_stylesheet_and_script(page: Page, plain: str) -> None:
    visitor = Visitor(page, plain)
    named = {"example": f"?xid={POSITION}", "history": f"?xid={POSITION}", "lake/landed": f"?xid={POSITION}"}
    named["compare"] = "?xid=/schemagroups/fleet.schemas/schemas/position"
    paths = [f"/-/{name}{named.get(name, '')}" for name in PAGES]
    for path in ("/", POSITION, *paths):
        visitor.open(f"/ui{path}")
        assert page.evaluate("getComputedStyle(document.body).margin") == "0px", path
        assert page.evaluate("Boolean(customElements.get('load-part'))"), path
    visitor.check()


@pytest.mark.parametrize("words", ["tables", "dead", "ledger", "metrics", "replay --catalog x"])
def test_commands_about_lakes_say_what_to_install(installed: Path, tmp_path: Path, words: str) -> None:
    command = [str(installed), "-m", "postroom", *shlex.split(words), "--lake", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "pip install 'postroom[spark]'" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_pages_of_a_lake_say_what_to_install(page: Page, plain: str) -> None:
    page.goto(f"{plain}/ui/-/lake")
    expect(page.locator("main")).to_contain_text("pip install 'postroom[spark]'")
