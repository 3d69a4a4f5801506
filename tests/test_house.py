"""The house stands as DESIGN draws it: imports point one way, and the check would notice if they did not."""

import ast
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LINTER = Path(sys.executable).with_name("lint-imports")


def contracts_hold(folder: Path) -> bool:
    run = subprocess.run(
        [LINTER, "--no-cache"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(folder / "src"), "PATH": "/usr/bin:/bin"},
    )
    assert "Contracts" in run.stdout, run.stdout + run.stderr
    return run.returncode == 0


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_contracts_hold(copy: Path) -> None:
    assert contracts_hold(copy)


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("messages/definitions/templates.py", "import postroom.catalog.catalog"),
        ("registry/problems.py", "import postroom.store"),
        ("registry/problems.py", "import postroom.formats.format_table"),
        ("store/interface.py", "import postroom.messages.engine"),
        ("messages/engine.py", "import postroom.registry.paths"),
        ("pipeline/worker/sort_task.py", "import postroom.catalog.catalog"),
        ("formats/column_types.py", "import pyarrow"),
    ],
)
def test_an_import_turned_around_is_noticed(copy: Path, module: str, line: str) -> None:
    path = copy / "src" / "postroom" / module
    path.write_text(path.read_text() + f"\n{line}\n")
    assert not contracts_hold(copy)


def test_a_class_name_means_one_thing() -> None:
    trees = [ast.parse(path.read_text()) for path in (ROOT / "src").rglob("*.py")]
    names = Counter(node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    assert [name for name, count in names.items() if count > 1 and not name.startswith("_")] == []


def test_folders_have_few_modules() -> None:
    modules = (path for path in (ROOT / "src" / "postroom").rglob("*.py") if path.name != "__init__.py")
    counts = Counter(path.parent for path in modules if path.parent.name != "cli")
    assert [folder for folder, count in counts.items() if count > 21] == []
