from __future__ import annotations

import string

import pytest

from postroom.registry.problems import PROBLEMS, RegistryProblem


@pytest.mark.feature("ERR-001", "ERR-002", "ERR-003", "ERR-004")
@pytest.mark.parametrize("name", sorted(PROBLEMS))
def test_every_problem_has_a_title_with_its_arguments(name: str) -> None:
    kind = PROBLEMS[name]
    fields = {field for _, field, _, _ in string.Formatter().parse(kind.title) if field}
    problem = RegistryProblem(name, "/ovens/1", **{field: f"<{field}>" for field in fields - {"subject"}})
    document = problem.document()
    assert document["type"] == kind.base + name
    assert document["status"] == kind.status >= 400
    assert document["subject"] == "/ovens/1"
    assert set(document.get("args", {})) == fields - {"subject"}
    assert all(f"<{field}>" in document["title"] for field in fields - {"subject"})
    assert document["title"].endswith(".")
