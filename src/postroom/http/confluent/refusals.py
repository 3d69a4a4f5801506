"""Errors in the words of schema registries: a code, a sentence, and the status that follows from the code."""

from __future__ import annotations

from http import HTTPStatus
from typing import NoReturn

from postroom.registry.problems import RegistryProblem

MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"

SENTENCES: dict[int, str] = {
    40401: "Subject '{subject}' not found.",
    40402: "Version {version} not found.",
    40403: "Schema {id} not found",
    40404: "Subject '{subject}' was soft deleted. Set permanent=true to delete permanently",
    40405: "Subject '{subject}' was not deleted first before being permanently deleted",
    40406: "Subject '{subject}' Version {version} was soft deleted. Set permanent=true to delete permanently",
    40407: "Subject '{subject}' Version {version} was not deleted first before being permanently deleted",
    40408: "Subject '{subject}' does not have subject-level compatibility configured",
    40409: "Subject '{subject}' does not have subject-level mode configured",
    42201: "Invalid schema: {reason}",
    42202: "The specified version '{version}' is not a valid version id. Allowed values are between [1, 2^31-1] and "
    'the string "latest"',
    42203: "Invalid compatibility level. Valid values are none, backward, forward, full, backward_transitive, "
    "forward_transitive, and full_transitive",
    42204: "Invalid mode. Valid values are READWRITE, READONLY, READONLY_OVERRIDE, and IMPORT",
    42205: "{reason}",
    42206: "One or more references exist to the schema {schema}.",
    42208: "The specified subject '{subject}' is not a valid subject.",
    409: "{reason}",
}
_BY_PROBLEM = {
    "compatibility_violation": 409,
    "mismatched_version_attribute": 409,
    "format_violation": 42201,
    "constraint_failure": 42201,
    "schema_id_taken": 42205,
    "readonly": 42205,
    "forbidden": 40301,
    "unauthorized": 401,
    "parsing_data": 400,
}


class SubjectProblem(Exception):
    """A request that is refused."""

    def __init__(self, code: int, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.status = status
        self.sentence = sentence


def problem(code: int, **words: object) -> SubjectProblem:
    """One of the known problems."""
    return SubjectProblem(code, status_of(code), SENTENCES[code].format(**words))


def refuse(code: int, **words: object) -> NoReturn:
    """Refuse a request by one of the known codes."""
    raise problem(code, **words)


def plain_problem(status: int, sentence: str = "") -> SubjectProblem:
    """A problem that has a status alone."""
    return SubjectProblem(status, status, sentence or f"HTTP {status} {HTTPStatus(status).phrase}")


def status_of(code: int) -> int:
    """The status of a code: its first three digits."""
    return int(str(code)[:3])


def translated(given: RegistryProblem) -> SubjectProblem:
    """A problem of the registry in the words of schema registries."""
    code = _BY_PROBLEM.get(given.name)
    if code is None:
        code = {500: 50001, 503: 50003}.get(given.status, given.status)
        return SubjectProblem(code, given.status, str(given))
    detail = given.detail or given.sentence
    sentence = {
        409: f"Schema being registered is incompatible with an earlier schema, details: [{detail}]",
        42201: f"Invalid schema: {detail}",
    }.get(code, f"{given.sentence} {given.detail}".strip())
    return SubjectProblem(code, status_of(code), sentence)
