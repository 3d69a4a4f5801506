"""Problems in the form of 1.0-rc2 and 1.0-rc3 (VERSIONS, part B1)."""

from __future__ import annotations

from typing import Any

import pytest

from postroom.http.older_releases.problems import RC2_NAMES, problem_document, problem_status
from postroom.http.older_releases.releases import RC2, RC3
from postroom.registry.problem_types import OURS
from postroom.registry.problems import PROBLEMS, RegistryProblem
from tests.http.requests import AsgiClient

BASE = "http://ovens.localhost"
FIRST_ERRORS = frozenset(
    (
        *("ancestor_circular_reference", "api_not_found", "bad_flag", "bad_request", "cannot_doc_xref"),
        *("capability_error", "compatibility_violation", "data_retrieval_error", "details_required"),
        *("extra_xregistry_headers", "header_decoding_error", "invalid_character", "invalid_data"),
        *("invalid_data_type", "method_not_allowed", "mismatched_epoch", "mismatched_id", "misplaced_epoch"),
        *("missing_versions", "model_compliance_error", "model_error", "multiple_roots", "not_found", "readonly"),
        *("required_attribute_missing", "server_error", "too_large", "too_many_versions", "unknown_attribute"),
        *("unknown_id", "unsupported_specversion"),
    )
)
"""All error types of 1.0-rc2."""


def test_the_first_version_has_31_errors_and_each_of_today_is_one_of_them() -> None:
    assert len(FIRST_ERRORS) == 31
    known = {name for name, problem in PROBLEMS.items() if problem.base != OURS}
    assert {RC2_NAMES.get(name, name) for name in known} <= FIRST_ERRORS
    assert RC2_NAMES.keys() == known - FIRST_ERRORS


def test_our_own_errors_keep_their_names() -> None:
    document = problem_document(RegistryProblem("forbidden", "/ovens", grant="write on /ovens"), RC2, BASE)
    assert document["type"] == f"{OURS}forbidden"


SCHEMA = "/schemagroups/kitchen/schemas/oven"
REFUSED: list[tuple[str, str, Any, int, str, str, Any]] = [
    ("GET", "/nothing", b"", 404, "not_found", "/nothing", None),
    ("GET", "/model/x", b"", 404, "api_not_found", "/model/x", None),
    ("GET", "/schemagroups/none", b"", 404, "not_found", "/schemagroups/none", None),
    ("PUT", "/schemagroups", {}, 405, "method_not_allowed", "/schemagroups", "PUT"),
    ("PUT", "/schemagroups/kitchen", {"epoch": 99}, 400, "mismatched_epoch", "/schemagroups/kitchen", "99"),
    ("PUT", "/schemagroups/kitchen", {"schemagroupid": "x"}, 400, "mismatched_id", "/schemagroups/kitchen", "x"),
    ("PUT", "/schemagroups/kitchen", b"", 400, "bad_request", "/schemagroups/kitchen", None),
    ("PUT", "/schemagroups/kitchen", {"createdat": 7}, 400, "invalid_data", "/schemagroups/kitchen", "createdat"),
    ("PATCH", SCHEMA, {"name": "x"}, 400, "details_required", SCHEMA, None),
    ("GET", "/schemagroups?collections", b"", 400, "bad_flag", "/schemagroups", "collections"),
    ("GET", "/?inline=nothing", b"", 400, "invalid_data", "/", "nothing"),
    ("GET", "/?filter=a%2A", b"", 400, "invalid_data", "/", None),
    ("PATCH", f"{SCHEMA}$details", {"ancestor": "7"}, 400, "unknown_id", SCHEMA, None),
    ("PATCH", "/capabilities", {"oven": 1}, 400, "capability_error", "", "oven"),
    ("PUT", "/modelsource", {"oven": 1}, 400, "model_error", "", None),
]


@pytest.mark.parametrize(("method", "target", "body", "status", "name", "instance", "data"), REFUSED)
def test_problems_of_the_first_version(
    asgi: AsgiClient, method: str, target: str, body: Any, status: int, name: str, instance: str, data: Any
) -> None:
    document = {"format": "Avro/1.11", "schema": {"type": "string"}}
    assert asgi.ask("PUT", f"{SCHEMA}$details", document).status == 201
    refused = asgi.ask(method, f"{target}{'&' if '?' in target else '?'}specversion=1.0-rc2", body)
    assert (refused.status, refused.json["type"].rpartition("#")[2]) == (status, name), refused.body
    assert refused.json["instance"] == BASE + instance
    assert set(refused.json) <= {"type", "instance", "title", "detail", "data"}
    assert data is None or refused.json["data"] == data
    assert refused.headers["content-type"] == "application/json; charset=utf-8"


@pytest.mark.parametrize(("method", "target", "body"), [one[:3] for one in REFUSED])
def test_problems_of_the_third_version_are_those_of_today(
    asgi: AsgiClient, method: str, target: str, body: Any
) -> None:
    assert asgi.ask("PUT", f"{SCHEMA}$details", {"format": "Avro/1.11", "schema": {"type": "string"}}).status == 201
    mark = "&" if "?" in target else "?"
    today, third = asgi.ask(method, target, body), asgi.ask(method, f"{target}{mark}specversion=1.0-rc3", body)
    assert (third.status, third.problem) == (today.status, today.problem)
    assert {**third.json, "instance": ""} == {**today.json, "instance": ""}


def test_names_of_attributes_in_sentences() -> None:
    problem = RegistryProblem(
        "invalid_attribute",
        "/x",
        name="ancestorid",
        error_detail="no",
        pointer="/ancestorid",
        detail="Give ancestorid.",
    )
    third = problem_document(problem, RC3, BASE)
    assert (third["args"]["name"], third["pointer"], third["detail"]) == ("ancestor", "/ancestor", "Give ancestor.")
    first = problem_document(problem, RC2, BASE)
    assert first["data"] == "ancestor"
    assert "ancestorid" not in first["title"]


def test_an_id_that_looks_like_a_name_is_left_alone(asgi: AsgiClient) -> None:
    refused = asgi.ask("GET", "/schemagroups/ancestorid?specversion=1.0-rc3").json
    assert (refused["subject"], refused["title"]) == (
        "/schemagroups/ancestorid",
        "/schemagroups/ancestorid does not exist.",
    )


def test_statuses_of_the_first_version() -> None:
    """B1: `details_required` was 400; a path that is switched off was one that is not there."""
    assert problem_status(RegistryProblem("details_required", "/x"), RC2) == 400
    assert problem_status(RegistryProblem("details_required", "/x"), RC3) == 405
    assert problem_status(RegistryProblem("not_available", "/export"), RC2) == 404
    assert problem_status(RegistryProblem("bad_request", "/x", error_detail="no", status=413), RC2) == 413


def test_what_is_refused_before_the_registry_sees_it(asgi: AsgiClient) -> None:
    refused = asgi.ask("PUT", "/schemagroups/kitchen?specversion=1.0-rc2", b"x", {"Content-Encoding": "br"})
    assert refused.status == 415
    assert set(refused.json) <= {"type", "instance", "title", "detail", "data"}
