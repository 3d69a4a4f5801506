"""Problems in the names and paths that a client of 0.5 knows."""

from __future__ import annotations

import re

from postroom.documents.dialects.name_tables import ENDPOINT_OPTIONS, OLD_MESSAGE_ATTRIBUTES, SERVICE_ATTRIBUTES
from postroom.http.v0_5.names import v0_5_path
from postroom.model.json_pointers import pointer
from postroom.registry.problems import RegistryProblem

_COMMON = {
    **{ours: theirs for theirs, ours in SERVICE_ATTRIBUTES.items()},
    "envelope": "format",
    "messagegroups": "definitionGroups",
    "versionid": "version",
    **dict.fromkeys(("endpointid", "messagegroupid", "schemagroupid", "messageid", "schemaid"), "id"),
}
_OF_MESSAGES = {**OLD_MESSAGE_ATTRIBUTES, "basemessage": "uri", "protocol": "format"}
_OPTIONS = {**{ours: theirs for theirs, ours in ENDPOINT_OPTIONS.items()}, "cleanstart": "clean-session"}
_BROKERS = ("endpoints", "0", "bootstrap.servers")
_STEP = re.compile(r"bootstrap\.servers|\[\d+\]|[^.\[\]]+")
# Names of 1.0 that a sentence may have, and that are no words otherwise.
_WORDS = {
    **{name: OLD_MESSAGE_ATTRIBUTES[name] for name in ("dataschemaformat", "dataschema", "dataschemauri")},
    "envelopemetadata": "metadata.attributes",
    "messagegroups": "definitionGroups",
    "schemagroups": "schemaGroups",
}
_WORD = re.compile(rf"\b({'|'.join(_WORDS)})\b")
_NAMES = ("name", "list", "path")
_SENTENCES = ("error_detail", "reason")

Steps = tuple[str, ...]


def translate_problem(problem: RegistryProblem, path: str) -> RegistryProblem:
    """Translate a problem into names and paths of 0.5; a path that the client wrote itself stays as it is."""
    is_endpoint = _is_endpoint(problem.subject)
    is_schema = problem.subject.startswith(("/schemagroups", "/schemaGroups"))
    arguments = dict(problem.args_map)
    for key, value in problem.args_map.items():
        if key in _NAMES and not is_schema:
            arguments[key] = ", ".join(_dotted(one, is_endpoint) for one in value.split(", "))
        elif key in _NAMES:
            arguments[key] = ", ".join(_COMMON.get(one, one) for one in value.split(", "))
        elif key in _SENTENCES:
            arguments[key] = _sentence(value)
    steps = tuple(step.replace("~1", "/").replace("~0", "~") for step in problem.pointer.split("/")[1:])
    return RegistryProblem(
        problem.name,
        problem.subject if problem.subject == path else v0_5_path(problem.subject),
        detail=_sentence(problem.detail),
        pointer=problem.pointer if is_schema else pointer(_translated(steps, is_endpoint)),
        status=problem.status,
        headers=problem.extra_headers,
        **arguments,
    )


def _is_endpoint(subject: str) -> bool:
    """Whether a path is that of an endpoint, not of one of its definitions."""
    return subject.startswith("/endpoints") and subject.count("/") <= 2


def _sentence(text: str) -> str:
    return _WORD.sub(lambda found: _WORDS[found[1]], text)


def _dotted(name: str, is_endpoint: bool) -> str:
    """The name of an attribute, as `deprecated.docs` or `definitionGroups[0]`."""
    given = tuple(_STEP.findall(name))
    steps = _translated(given, is_endpoint)
    if steps == given:
        return name
    return "".join(step if step.startswith("[") else f".{step}" for step in steps).removeprefix(".")


def _translated(steps: Steps, is_endpoint: bool) -> Steps:
    match steps:
        case ("protocoloptions", *rest) if is_endpoint:
            return _config(tuple(rest))
        case ("protocol", *rest) if is_endpoint:
            return ("config", "protocol", *rest)
        case ("protocoloptions", *rest):
            return ("metadata", *(step.replace("_", "-") for step in rest))
        case ("envelopemetadata", *rest):
            return ("metadata", "attributes", *rest)
        case ("deprecated", "documentation"):
            return ("deprecated", "docs")
        case (first, *rest):
            names = _COMMON if is_endpoint else {**_COMMON, **_OF_MESSAGES}
            return (names.get(first, first), *rest)
    return steps


def _config(steps: Steps) -> Steps:
    match steps:
        case ("deployed",):
            return ("config", "strict")
        case ("endpoints", *rest):
            is_broker = tuple(step.strip("[]") for step in steps[:3]) == _BROKERS
            return ("config", "endpoints", *(rest[2:] if is_broker else (step for step in rest if step != "uri")))
        case (first, *rest):
            return ("config", "options", _OPTIONS.get(first, first), *rest)
    return ("config",)
