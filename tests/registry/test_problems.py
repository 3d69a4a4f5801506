from __future__ import annotations

import string

import pytest

from postroom.registry.problem_types import CORE, HTTP, OURS
from postroom.registry.problems import PROBLEMS, RegistryProblem

# The error types of the specification: id of the requirement, name, status, arguments, where it is defined.
TYPES = [
    pytest.param("action_not_supported", 405, "action", CORE, marks=pytest.mark.feature("ERR-008")),
    pytest.param("ancestor_circular_reference", 400, "list", CORE, marks=pytest.mark.feature("ERR-009")),
    pytest.param("api_not_found", 404, "", HTTP, marks=pytest.mark.feature("ERR-010")),
    pytest.param("bad_defaultversionid", 400, "value error_detail", CORE, marks=pytest.mark.feature("ERR-011")),
    pytest.param("bad_details", 400, "", CORE, marks=pytest.mark.feature("ERR-012")),
    pytest.param("bad_filter", 400, "value error_detail", CORE, marks=pytest.mark.feature("ERR-013")),
    pytest.param("bad_flag", 400, "flag", CORE, marks=pytest.mark.feature("ERR-014")),
    pytest.param("bad_ignore", 400, "value error_detail", CORE, marks=pytest.mark.feature("ERR-015")),
    pytest.param("bad_inline", 400, "value error_detail", CORE, marks=pytest.mark.feature("ERR-016")),
    pytest.param("bad_request", 400, "error_detail", CORE, marks=pytest.mark.feature("ERR-017")),
    pytest.param("bad_sort", 400, "value error_detail", CORE, marks=pytest.mark.feature("ERR-018")),
    pytest.param("cannot_doc_xref", 400, "", CORE, marks=pytest.mark.feature("ERR-019")),
    pytest.param("capability_error", 400, "error_detail", CORE, marks=pytest.mark.feature("ERR-020")),
    pytest.param("capability_missing_value", 400, "name value", CORE, marks=pytest.mark.feature("ERR-021")),
    pytest.param("capability_unknown", 400, "field", CORE, marks=pytest.mark.feature("ERR-022")),
    pytest.param("capability_value", 400, "value field list", CORE, marks=pytest.mark.feature("ERR-023")),
    pytest.param("capability_wildcard", 400, "field", CORE, marks=pytest.mark.feature("ERR-024")),
    pytest.param("compatibility_unknown", 400, "compat format", CORE, marks=pytest.mark.feature("ERR-025")),
    pytest.param("compatibility_violation", 400, "compat", CORE, marks=pytest.mark.feature("ERR-026")),
    pytest.param("constraint_failure", 400, "path kind", CORE, marks=pytest.mark.feature("ERR-027")),
    pytest.param("data_retrieval_error", 500, "", CORE, marks=pytest.mark.feature("ERR-028")),
    pytest.param("defaultversionid_request", 400, "", CORE, marks=pytest.mark.feature("ERR-029")),
    pytest.param("details_required", 405, "", HTTP, marks=pytest.mark.feature("ERR-030")),
    pytest.param("extra_xref_attribute", 400, "name singular", CORE, marks=pytest.mark.feature("ERR-031")),
    pytest.param("extra_xregistry_header", 400, "name error_detail", HTTP, marks=pytest.mark.feature("ERR-032")),
    pytest.param("format_external", 400, "", CORE, marks=pytest.mark.feature("ERR-033")),
    pytest.param("format_unknown", 400, "format", CORE, marks=pytest.mark.feature("ERR-034")),
    pytest.param("format_violation", 400, "format", CORE, marks=pytest.mark.feature("ERR-035")),
    pytest.param("groups_only", 400, "name", CORE, marks=pytest.mark.feature("ERR-036")),
    pytest.param("hasdocument_violation", 400, "plural", CORE, marks=pytest.mark.feature("ERR-037")),
    pytest.param("header_error", 400, "name", HTTP, marks=pytest.mark.feature("ERR-038")),
    pytest.param("inline_noninlineable", 400, "name", CORE, marks=pytest.mark.feature("ERR-039")),
    pytest.param("invalid_attribute", 400, "name error_detail", CORE, marks=pytest.mark.feature("ERR-040")),
    pytest.param("malformed_id", 400, "id error_detail", CORE, marks=pytest.mark.feature("ERR-041")),
    pytest.param("malformed_xid", 400, "xid error_detail", CORE, marks=pytest.mark.feature("ERR-042")),
    pytest.param("malformed_xref", 400, "xref error_detail", CORE, marks=pytest.mark.feature("ERR-043")),
    pytest.param("mismatched_epoch", 400, "bad_epoch epoch", CORE, marks=pytest.mark.feature("ERR-044")),
    pytest.param("mismatched_id", 400, "singular invalid_id expected_id", CORE, marks=pytest.mark.feature("ERR-045")),
    pytest.param("mismatched_version_attribute", 400, "name", CORE, marks=pytest.mark.feature("ERR-046")),
    pytest.param("misplaced_epoch", 400, "", CORE, marks=pytest.mark.feature("ERR-047")),
    pytest.param("missing_body", 400, "", HTTP, marks=pytest.mark.feature("ERR-048")),
    pytest.param("missing_versions", 400, "", HTTP, marks=pytest.mark.feature("ERR-049")),
    pytest.param("model_compliance_error", 400, "", CORE, marks=pytest.mark.feature("ERR-050")),
    pytest.param("model_error", 400, "error_detail", CORE, marks=pytest.mark.feature("ERR-051")),
    pytest.param("model_required_true", 400, "name", CORE, marks=pytest.mark.feature("ERR-052")),
    pytest.param("model_scalar_default", 400, "name", CORE, marks=pytest.mark.feature("ERR-053")),
    pytest.param("multiple_roots", 400, "plural", CORE, marks=pytest.mark.feature("ERR-054")),
    pytest.param("not_available", 400, "", CORE, marks=pytest.mark.feature("ERR-055")),
    pytest.param("not_found", 404, "", CORE, marks=pytest.mark.feature("ERR-056")),
    pytest.param("one_resource", 400, "list", CORE, marks=pytest.mark.feature("ERR-057")),
    pytest.param("parsing_data", 400, "error_detail", CORE, marks=pytest.mark.feature("ERR-058")),
    pytest.param("readonly", 400, "", CORE, marks=pytest.mark.feature("ERR-059")),
    pytest.param("required_attribute_missing", 400, "list", CORE, marks=pytest.mark.feature("ERR-060")),
    pytest.param("resources_only", 400, "name", CORE, marks=pytest.mark.feature("ERR-061")),
    pytest.param("server_busy", 503, "", CORE, marks=pytest.mark.feature("ERR-062")),
    pytest.param("server_error", 500, "", CORE, marks=pytest.mark.feature("ERR-063")),
    pytest.param("setdefaultversionsticky_false", 400, "", CORE, marks=pytest.mark.feature("ERR-064")),
    pytest.param("sort_noncollection", 400, "", CORE, marks=pytest.mark.feature("ERR-065")),
    pytest.param("too_large", 406, "", CORE, marks=pytest.mark.feature("ERR-066")),
    pytest.param("too_many_versions", 400, "", CORE, marks=pytest.mark.feature("ERR-067")),
    pytest.param("unknown_attribute", 400, "name", CORE, marks=pytest.mark.feature("ERR-068")),
    pytest.param("unknown_group_type", 400, "name", CORE, marks=pytest.mark.feature("ERR-069")),
    pytest.param("unknown_id", 400, "singular id", CORE, marks=pytest.mark.feature("ERR-070")),
    pytest.param("unknown_resource_type", 400, "group name", CORE, marks=pytest.mark.feature("ERR-071")),
    pytest.param("unsupported_specversion", 400, "specversion list", CORE, marks=pytest.mark.feature("ERR-072")),
    pytest.param("versionid_not_allowed", 400, "plural", CORE, marks=pytest.mark.feature("ERR-073")),
]


@pytest.mark.feature("ERR-001", "ERR-002", "ERR-003", "ERR-004", "ERR-005")
@pytest.mark.parametrize(("name", "status", "arguments", "base"), TYPES)
def test_every_type_of_the_specification(name: str, status: int, arguments: str, base: str) -> None:
    names = set(arguments.split())
    fields = {field for _, field, _, _ in string.Formatter().parse(PROBLEMS[name].title) if field} - {"subject"}
    assert names <= fields <= names | {"error_detail"}  # header_error: its title says more than its list of arguments
    document = RegistryProblem(name, "/ovens/1", **{field: f"<{field}>" for field in fields}).document()
    assert (document["type"], document["status"], document["subject"]) == (base + name, status, "/ovens/1")
    assert document.get("args", {}) == {field: f"<{field}>" for field in fields}
    assert all(f"<{field}>" in document["title"] for field in fields)
    assert document["title"].endswith(".")


def test_the_only_types_of_our_own_are_those_for_access_and_for_ids_of_schemas() -> None:
    own = set(PROBLEMS) - {row.values[0] for row in TYPES}
    assert own == {"forbidden", "unauthorized", "schema_id_taken"}
    assert {PROBLEMS[name].base for name in own} == {OURS}


def test_what_a_client_sent_is_not_sent_back_at_length() -> None:
    document = RegistryProblem("unknown_attribute", "/ovens/1", name="x" * 10_000_000).document()
    assert len(document["title"]) < 1000
    assert len(document["args"]["name"]) < 1000
