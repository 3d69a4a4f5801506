from __future__ import annotations

import pytest

from postroom.model.shipped_models import load_model
from postroom.registry.paths import resolve
from postroom.registry.problems import RegistryProblem

MODEL = load_model("messaging")


@pytest.mark.feature("REG-046", "RES-007", "RES-008")
@pytest.mark.parametrize(
    ("path", "kind", "details"),
    [
        ("/", "registry", False),
        ("/messagegroups", "groups", False),
        ("/messagegroups/a.b@c~d:e_1-", "group", False),
        ("/schemagroups/g/schemas", "resources", False),
        ("/schemagroups/g/schemas/s$details", "resource", True),
        ("/messagegroups/g/messages/m$details", "resource", True),
        ("/schemagroups/g/schemas/s/meta", "meta", False),
        ("/schemagroups/g/schemas/s/versions/", "versions", False),
        ("/schemagroups/g/schemas/s/versions/1%2E0$details", "version", True),
    ],
)
def test_paths_are_resolved_by_the_model(path: str, kind: str, details: bool) -> None:
    entity_path = resolve(MODEL, path)
    assert (entity_path.kind, entity_path.details) == (kind, details)


@pytest.mark.audit("registry-6")
@pytest.mark.feature("HTTP-002", "RES-009", "REG-034", "REG-036")
@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("/kitchens", "not_found"),
        ("/MessageGroups", "not_found"),
        ("/messagegroups/g/schemas", "not_found"),
        ("/messagegroups/g/messages/m/parts", "not_found"),
        ("/messagegroups/g/messages/m/meta/x", "not_found"),
        ("/messagegroups/g/messages/m/versions/1/x", "not_found"),
        ("/messagegroups/..", "api_not_found"),
        ("/messagegroups//messages", "malformed_id"),
        ("/messagegroups//", "malformed_id"),
        ("/schemagroups/g/schemas//versions", "malformed_id"),
        ("/schemagroups/g/schemas/s/versions//", "malformed_id"),
        ("/schemagroups/g//s", "not_found"),
        ("/messagegroups/%ff", "api_not_found"),
        ("/messagegroups/a%2Fb", "malformed_id"),
        ("/messagegroups/a%20b", "malformed_id"),
        ("/messagegroups/" + "x" * 129, "malformed_id"),
        ("/messagegroups$details", "bad_details"),
        ("/messagegroups/g$details", "bad_details"),
        ("/$details", "bad_details"),
        ("/messagegroups/$details", "bad_details"),
        ("/messagegroups/g/$details", "bad_details"),
        ("/messagegroups/g/messages$details", "bad_details"),
        ("/messagegroups/g/messages/$details", "bad_details"),
        ("/messagegroups/g/messages/m/meta$details", "bad_details"),
        ("/messagegroups/g/messages/m/versions$details", "bad_details"),
        ("/messagegroups/g/messages/m/versions/$details", "bad_details"),
        ("/messagegroups/g/messages/m$details/versions", "bad_details"),
        ("/kitchens$details", "bad_details"),
    ],
)
def test_other_paths_are_problems(path: str, problem: str) -> None:
    with pytest.raises(RegistryProblem) as refused:
        resolve(MODEL, path)
    assert refused.value.name == problem
