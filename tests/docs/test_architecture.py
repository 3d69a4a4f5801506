"""The architecture page names the folders, modules and functions that there are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.sessions import ROOT

PACKAGE = ROOT / "src" / "postroom"
PAGE = (ROOT / "docs" / "architecture.md").read_text()
FOLDERS = sorted(path.parent for path in PACKAGE.rglob("__init__.py") if path.parent != PACKAGE)
STEP = re.compile(r"^\| `(?P<module>[\w/]+\.py)` \| `(?P<function>[\w.]+)` \|", re.MULTILINE)
STEPS = sorted({(step["module"], step["function"]) for step in STEP.finditer(PAGE)})
MODULE = re.compile(r"`([\w/]+/[\w]+\.py)`")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(PACKAGE)))
def test_every_folder_has_its_line_and_it_is_the_first_of_its_docstring(folder: Path) -> None:
    docstring = ast.get_docstring(ast.parse((folder / "__init__.py").read_text())) or ""
    assert f"| `{folder.relative_to(PACKAGE)}/` | {docstring.splitlines()[0]} |" in PAGE


@pytest.mark.parametrize(("module", "function"), STEPS)
def test_every_step_of_a_walk_is_a_function_of_its_module(module: str, function: str) -> None:
    assert function in set(_functions(ast.parse((PACKAGE / module).read_text()).body))


def test_there_are_four_walks() -> None:
    assert PAGE.count("| module | function | does |") == 4
    assert len(STEPS) > 40


@pytest.mark.parametrize("module", sorted(set(MODULE.findall(PAGE))))
def test_every_module_that_is_named_exists(module: str) -> None:
    assert (PACKAGE / module).exists()


def _functions(body: list[ast.stmt], owner: str = "") -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield owner + node.name
        elif isinstance(node, ast.ClassDef):
            yield owner + node.name
            yield from _functions(node.body, f"{owner}{node.name}.")
