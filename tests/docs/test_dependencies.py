"""Every dependency has its reason in docs/dependencies.md, and every reason its dependency."""

from __future__ import annotations

import re
import tomllib

from tests.docs.sessions import ROOT


def _name(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found, requirement
    return found[0].lower()


def _declared() -> dict[str, set[str]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    groups = {"plain": project["project"]["dependencies"]}
    groups |= project["project"]["optional-dependencies"]
    groups |= project["dependency-groups"]
    return {group: {_name(requirement) for requirement in required} for group, required in groups.items()}


def _explained() -> dict[str, set[str]]:
    page = (ROOT / "docs" / "dependencies.md").read_text()
    sections = re.split(r"^## .*\{#(\w+)\}$", page, flags=re.MULTILINE)[1:]
    return {
        group: set(re.findall(r"^\| `([^`]+)` \| \S", body, flags=re.MULTILINE))
        for group, body in zip(sections[::2], sections[1::2], strict=True)
    }


def test_dependencies_and_reasons_are_the_same() -> None:
    assert _explained() == _declared()
