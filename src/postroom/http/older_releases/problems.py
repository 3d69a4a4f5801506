"""Problem documents of older versions: their error names, statuses and members."""

from __future__ import annotations

import re
from typing import Any

from postroom.http.older_releases.releases import OlderRelease
from postroom.registry.problem_types import CORE, OURS, PROBLEMS
from postroom.registry.problems import RegistryProblem

INVALID = "invalid_data"
RC2_NAMES = {
    "action_not_supported": "method_not_allowed",
    "bad_defaultversionid": "unknown_id",
    "bad_details": "bad_request",
    "bad_filter": INVALID,
    "bad_ignore": "bad_flag",
    "bad_inline": INVALID,
    "bad_sort": INVALID,
    "capability_missing_value": "capability_error",
    "capability_unknown": "capability_error",
    "capability_value": "capability_error",
    "capability_wildcard": "capability_error",
    "compatibility_unknown": "compatibility_violation",
    "constraint_failure": INVALID,
    "defaultversionid_request": "bad_flag",
    "extra_xref_attribute": INVALID,
    "extra_xregistry_header": "extra_xregistry_headers",
    "format_external": INVALID,
    "format_unknown": INVALID,
    "format_violation": INVALID,
    "groups_only": "bad_request",
    "hasdocument_violation": "model_compliance_error",
    "header_error": "header_decoding_error",
    "inline_noninlineable": INVALID,
    "invalid_attribute": INVALID,
    "malformed_id": INVALID,
    "malformed_xid": INVALID,
    "malformed_xref": INVALID,
    "mismatched_version_attribute": INVALID,
    "missing_body": "bad_request",
    "model_required_true": "model_error",
    "model_scalar_default": "model_error",
    "not_available": "api_not_found",
    "one_resource": INVALID,
    "parsing_data": "bad_request",
    "resources_only": "bad_request",
    "server_busy": "server_error",
    "setdefaultversionsticky_false": "bad_flag",
    "sort_noncollection": "bad_flag",
    "unknown_group_type": INVALID,
    "unknown_resource_type": INVALID,
    "versionid_not_allowed": INVALID,
}
"""Errors of today that 1.0-rc2 does not have: each with the one that its text names for the case, or the nearest."""
RC2_STATUS = {"details_required": 400, "not_available": 404}
DATA = (
    *("flag", "invalid_id", "bad_epoch", "action", "value", "name", "id", "xid", "xref", "field", "path"),
    *("compat", "format", "list", "error_detail"),
)
"""Arguments that can be the `data` of a problem of 1.0-rc2, the most telling first."""
NAMING = ("title", "detail", "args", "pointer")
"""Members that may name attributes."""
_ADDRESS = re.compile(r"(\bendpoints(?:\[\d+\]\.|/\d+/))uri\b")
SERVER_SUBJECTS = ("/capabilities", "/model", "/modelsource")


def problem_document(problem: RegistryProblem, release: OlderRelease, base: str) -> dict[str, Any]:
    """The body for a client of an older version."""
    plain = problem.document()
    plain |= {name: _named(plain[name], release, problem) for name in NAMING if name in plain}
    if not release.is_rc2:
        return plain
    name = RC2_NAMES.get(problem.name, problem.name)
    document: dict[str, Any] = {
        "type": (OURS if PROBLEMS[problem.name].base == OURS else CORE) + name,
        "instance": base + ("" if problem.subject in SERVER_SUBJECTS else "/" + problem.subject.removeprefix("/")),
        "title": plain["title"],
    }
    detail = problem.detail or problem.args_map.get("error_detail")
    if detail:
        document["detail"] = _named(detail, release, problem)
    data = next((problem.args_map[one] for one in DATA if one in problem.args_map), None)
    if data is not None:
        document["data"] = _named(data, release, problem)
    return document


def problem_status(problem: RegistryProblem, release: OlderRelease) -> int:
    """The status for a client of an older version; one that was chosen for the case stays."""
    is_usual = problem.status == PROBLEMS[problem.name].status
    return RC2_STATUS.get(problem.name, problem.status) if release.is_rc2 and is_usual else problem.status


def _named(value: Any, release: OlderRelease, problem: RegistryProblem) -> Any:
    """Sentences and arguments with the names of attributes that the client knows; an id is left alone."""
    if isinstance(value, dict):
        return {name: _named(one, release, problem) for name, one in value.items()}
    for ours, theirs in release.theirs.items():
        if ours not in problem.subject:
            value = re.sub(rf"\b{ours}\b", theirs, value)
    return _ADDRESS.sub(rf"\g<1>{release.address}", value)
