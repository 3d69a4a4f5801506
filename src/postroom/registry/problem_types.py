"""The error types of xRegistry as data: status, the sentence that becomes the title, where the type is defined.

Titles are our own wording; the placeholders are those of the specification and appear in `args` (core and http §Error
Processing). Every type of the specification is here, whether or not a request can lead to it today. It has none for
access and for ids of schemas, so three are our own.
"""

from __future__ import annotations

import msgspec

CORE = "https://github.com/xregistry/spec/blob/main/core/spec.md#"
HTTP = "https://github.com/xregistry/spec/blob/main/core/http.md#"
OURS = "urn:postroom:problems#"


class ProblemType(msgspec.Struct, frozen=True):
    """One error type: its HTTP status and the sentence that becomes the title."""

    status: int
    title: str
    base: str = CORE


PROBLEMS: dict[str, ProblemType] = {
    "action_not_supported": ProblemType(405, "{action} cannot be used on {subject}."),
    "ancestor_circular_reference": ProblemType(400, "Ancestors of {subject} would form a circle: {list}."),
    "api_not_found": ProblemType(404, "There is no API at {subject}.", HTTP),
    "bad_defaultversionid": ProblemType(400, "{subject}: setdefaultversionid={value} cannot be used: {error_detail}."),
    "bad_details": ProblemType(400, "{subject} is no Resource or Version, so it takes no $details."),
    "bad_filter": ProblemType(400, "{subject}: filter={value} cannot be used: {error_detail}."),
    "bad_flag": ProblemType(400, "The flag {flag} cannot be used on {subject}."),
    "bad_ignore": ProblemType(400, "{subject}: ignore={value} cannot be used: {error_detail}."),
    "bad_inline": ProblemType(400, "{subject}: inline={value} cannot be used: {error_detail}."),
    "bad_request": ProblemType(400, "{subject}: {error_detail}."),
    "bad_sort": ProblemType(400, "{subject}: sort={value} cannot be used: {error_detail}."),
    "cannot_doc_xref": ProblemType(400, "{subject} stands for another, so its Versions have no document view."),
    "capability_error": ProblemType(400, "{subject}: {error_detail}."),
    "capability_missing_value": ProblemType(400, "{subject}: {name} must contain {value}."),
    "capability_unknown": ProblemType(400, "{subject}: there is no capability {field}."),
    "capability_value": ProblemType(400, "{subject}: {field} cannot be {value}; these are possible: {list}."),
    "capability_wildcard": ProblemType(400, "{subject}: beside * there can be nothing else in {field}."),
    "compatibility_unknown": ProblemType(400, "{subject}: {compat} cannot be checked for the format {format}."),
    "compatibility_violation": ProblemType(400, "{subject}: its Versions would not be compatible ({compat})."),
    "constraint_failure": ProblemType(400, "{subject}: {path} breaks the constraint {kind} of its group."),
    "data_retrieval_error": ProblemType(500, "{subject}: not all of the data could be read."),
    "defaultversionid_request": ProblemType(400, "{subject}: no Version was created that could become the default."),
    "details_required": ProblemType(405, "{subject} needs $details for this.", HTTP),
    "extra_xref_attribute": ProblemType(400, "{subject}: {name} cannot be set on a {singular} that has xref."),
    "extra_xregistry_header": ProblemType(
        400, "{subject}: the header {name} cannot be used here: {error_detail}.", HTTP
    ),
    "forbidden": ProblemType(403, "{subject}: this needs {grant}.", OURS),
    "format_external": ProblemType(400, "{subject}: the document is elsewhere, so its format cannot be checked."),
    "format_unknown": ProblemType(400, "{subject}: the format {format} cannot be checked here."),
    "format_violation": ProblemType(400, "{subject}: the document does not follow its format {format}."),
    "groups_only": ProblemType(400, "{subject} takes collections of groups only, and {name} is none."),
    "hasdocument_violation": ProblemType(400, "{subject} has a document, and {plural} cannot have any."),
    "header_error": ProblemType(400, "{subject}: the header {name} cannot be used: {error_detail}.", HTTP),
    "inline_noninlineable": ProblemType(400, "{subject}: {name} cannot be inlined."),
    "invalid_attribute": ProblemType(400, "{subject}: the attribute {name} is not valid: {error_detail}."),
    "malformed_id": ProblemType(400, "{subject}: {id} is not a legal id: {error_detail}."),
    "malformed_xid": ProblemType(400, "{subject}: {xid} is not a legal xid: {error_detail}."),
    "malformed_xref": ProblemType(400, "{subject}: {xref} is not a legal xref: {error_detail}."),
    "mismatched_epoch": ProblemType(400, "{subject} has epoch {epoch}, not {bad_epoch}."),
    "mismatched_id": ProblemType(400, "{subject}: the {singular} id is {expected_id}, not {invalid_id}."),
    "mismatched_version_attribute": ProblemType(400, "{subject}: {name} must be the same in all Versions."),
    "misplaced_epoch": ProblemType(400, "{subject}: the epoch to compare belongs under meta."),
    "missing_body": ProblemType(400, "{subject}: a body is needed; an empty one is written {{}}.", HTTP),
    "missing_versions": ProblemType(400, "{subject}: at least one Version is needed.", HTTP),
    "model_compliance_error": ProblemType(400, "{subject}: entities of the registry would not fit the new model."),
    "model_error": ProblemType(400, "{subject}: {error_detail}."),
    "model_required_true": ProblemType(400, "{subject}: {name} has a default and therefore must be required."),
    "model_scalar_default": ProblemType(400, "{subject}: {name} is no scalar and therefore has no default."),
    "multiple_roots": ProblemType(400, "{subject}: {plural} have one root Version only."),
    "not_available": ProblemType(400, "{subject} is not available here."),
    "not_found": ProblemType(404, "{subject} does not exist."),
    "one_resource": ProblemType(400, "{subject}: only one of {list} can be given."),
    "parsing_data": ProblemType(400, "The request cannot be parsed: {error_detail}."),
    "readonly": ProblemType(400, "{subject} is read-only."),
    "required_attribute_missing": ProblemType(400, "{subject} needs these attributes: {list}."),
    "resources_only": ProblemType(400, "{subject} takes collections of its types only, and {name} is none."),
    "schema_id_taken": ProblemType(409, "{subject}: {id} is the id of another schema of this group.", OURS),
    "server_busy": ProblemType(503, "{subject}: the server has too much to do, please try again later."),
    "server_error": ProblemType(500, "{subject}: something went wrong in the server."),
    "setdefaultversionsticky_false": ProblemType(400, "{subject} has one Version only, so its default is not sticky."),
    "sort_noncollection": ProblemType(400, "{subject} is no collection and cannot be sorted."),
    "too_large": ProblemType(406, "{subject}: the answer would be too large."),
    "too_many_versions": ProblemType(400, "{subject}: several Versions were given where one is expected."),
    "unauthorized": ProblemType(401, "{subject}: {error_detail}.", OURS),
    "unknown_attribute": ProblemType(400, "{subject}: there is no attribute {name} here."),
    "unknown_group_type": ProblemType(400, "{subject}: there is no group type {name}."),
    "unknown_id": ProblemType(400, "{subject}: there is no {singular} {id}."),
    "unknown_resource_type": ProblemType(400, "{subject}: the group type {group} has no {name}."),
    "unsupported_specversion": ProblemType(400, "{subject}: {specversion} is not spoken here; these are: {list}."),
    "versionid_not_allowed": ProblemType(400, "{subject}: the ids of Versions of {plural} are given by the server."),
}
