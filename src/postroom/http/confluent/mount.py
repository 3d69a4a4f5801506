"""Mount of the schema registry: its routes, and every answer and error in the form that its clients expect."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import msgspec

from postroom.http.confluent import levels, reads, writes
from postroom.http.confluent.call import Call, Handler
from postroom.http.confluent.refusals import MEDIA_TYPE, SubjectProblem, plain_problem, translated
from postroom.http.server.request import Request
from postroom.http.server.response import Response
from postroom.registry.numbering.subjects import DEFAULT, Contexts, Subject, parse_context
from postroom.registry.problems import RegistryProblem
from postroom.registry.transaction_interface import Transaction
from postroom.settings import Settings
from postroom.store.checked_write import write_checked
from postroom.store.interface import Store

Route = tuple[str, ...]

_ = "*"
READS: dict[Route, dict[str, Handler]] = {
    (): {"GET": reads.get_root},
    ("contexts",): {"GET": reads.get_contexts},
    ("v1", "metadata", "id"): {"GET": reads.get_cluster},
    ("v1", "metadata", "version"): {"GET": reads.get_server_version},
    ("schemas",): {"GET": reads.list_schemas},
    ("schemas", "types"): {"GET": reads.get_types},
    ("schemas", "ids", _): {"GET": reads.get_by_id},
    ("schemas", "ids", _, "schema"): {"GET": reads.get_document_by_id},
    ("schemas", "ids", _, "subjects"): {"GET": reads.list_subjects_by_id},
    ("schemas", "ids", _, "versions"): {"GET": reads.list_versions_by_id},
    ("schemas", "guids", _): {"GET": reads.get_by_guid},
    ("schemas", "guids", _, "ids"): {"GET": reads.list_ids_by_guid},
    ("subjects",): {"GET": reads.list_subjects},
    ("subjects", _): {"POST": writes.look_up},
    ("subjects", _, "metadata"): {"GET": reads.get_latest_with_metadata},
    ("subjects", _, "versions"): {"GET": reads.list_versions},
    ("subjects", _, "versions", _): {"GET": reads.get_version},
    ("subjects", _, "versions", _, "schema"): {"GET": reads.get_version_schema},
    ("subjects", _, "versions", _, "referencedby"): {"GET": reads.list_referrers},
    ("compatibility", "subjects", _, "versions"): {"POST": writes.check_against_all},
    ("compatibility", "subjects", _, "versions", _): {"POST": writes.check_against_version},
    ("config",): {"GET": levels.get_config},
    ("config", _): {"GET": levels.get_config},
    ("mode",): {"GET": levels.get_mode},
    ("mode", _): {"GET": levels.get_mode},
}
WRITES: dict[Route, dict[str, Handler]] = {
    ("subjects", _): {"DELETE": writes.delete_subject},
    ("subjects", _, "versions"): {"POST": writes.register},
    ("subjects", _, "versions", _): {"DELETE": writes.delete_version},
    ("config",): {"PUT": levels.put_config, "DELETE": levels.delete_config},
    ("config", _): {"PUT": levels.put_config, "DELETE": levels.delete_config},
    ("mode",): {"PUT": levels.put_mode, "DELETE": levels.delete_mode},
    ("mode", _): {"PUT": levels.put_mode, "DELETE": levels.delete_mode},
}


def answer_confluent(request: Request, store: Store, settings: Settings) -> Response:
    """Answer a request below the root of the schema registry."""
    try:
        return _typed(_answer(request, store, settings))
    except SubjectProblem as problem:
        return refusal(problem)
    except RegistryProblem as problem:
        return refusal_of(problem)


def refusal_of(problem: RegistryProblem) -> Response:
    """A problem of the registry as an answer of the schema registry."""
    made = refusal(translated(problem))
    headers = {**made.headers, **{name.title(): value for name, value in problem.extra_headers.items()}}
    return msgspec.structs.replace(made, headers=headers)


def refusal(problem: SubjectProblem) -> Response:
    """A refusal as an answer."""
    body = {"error_code": problem.code, "message": problem.sentence}
    return _typed(Response(status=problem.status, json=body, cacheable=False))


def _typed(made: Response) -> Response:
    return msgspec.structs.replace(made, root_link=False, headers={"Content-Type": MEDIA_TYPE, **made.headers})


def _answer(request: Request, store: Store, settings: Settings) -> Response:
    context, segments = _split(request.path)
    context = Contexts(settings.schema_registry_group).normal(Subject(context, "")).context
    method = "GET" if request.method == "HEAD" else request.method
    route = _matching(segments)
    parameters = [one for one, name in zip(segments, route, strict=True) if name == _]
    reading, writing = READS.get(route, {}).get(method), WRITES.get(route, {}).get(method)

    def call(handler: Handler, tx: Transaction) -> Any:
        return handler(Call(tx, request, settings, context), *parameters)

    if reading is not None:
        with store.read() as tx:
            return _response(call(reading, tx))
    if writing is None:
        return _not_allowed(request, route)
    if writing is writes.register:  # producers do so whenever they start, mostly with what is there
        with store.read() as tx:
            known = call(writes.registered, tx)
        if known is not None:
            return _response(known)
    return _response(write_checked(store, lambda tx: call(writing, tx)))


def _not_allowed(request: Request, route: Route) -> Response:
    methods = {*READS.get(route, {}), *WRITES.get(route, {}), "OPTIONS"}
    allow = ", ".join(sorted({*methods, "HEAD"} if "GET" in methods else methods))
    made = Response(status=204) if request.method == "OPTIONS" else refusal(plain_problem(405))
    return msgspec.structs.replace(made, headers={**made.headers, "Allow": allow})


def _response(made: Any) -> Response:
    return made if isinstance(made, Response) else Response(json=made)


def _split(path: str) -> tuple[str, list[str]]:
    """The context that a path begins with, and the rest of its segments."""
    segments = path.strip("/").split("/") if path.strip("/") else []
    if len(segments) > 2 and segments[0] == "contexts":
        return parse_context(unquote(segments[1])), segments[2:]
    return DEFAULT, segments


def _matching(segments: list[str]) -> Route:
    for route in (*READS, *WRITES):
        if len(route) == len(segments) and all(name in (_, one) for name, one in zip(route, segments, strict=True)):
            return route
    raise plain_problem(404)
