"""Talking to a running xRegistry service, ours or anyone's: read its catalog, send it a document."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx

from postroom.documents.dialects.converting import FOREIGN, read_tree
from postroom.documents.dialects.detecting import dialect_of
from postroom.documents.media_types import form_of_type
from postroom.documents.reading import JSON_SUFFIXES, YAML_SUFFIXES, read_yaml
from postroom.errors import DocumentRefused, ServiceRefused, ServiceUnreachable
from postroom.settings import Settings

Tree = dict[str, Any]


def read_service(url: str, settings: Settings) -> Tree:
    """The whole catalog of a service, or of a document on a file server, as one document."""
    return _read(url, settings, "*", "catalog")


def read_whole_service(url: str, settings: Settings) -> Tree:
    """The registry of a service with all that can be loaded elsewhere, its model included."""
    return _read(url, settings, "*,modelsource", "registry")


def _read(url: str, settings: Settings, inline: str, noun: str) -> Tree:
    answer = _send("GET", url, settings, params={"inline": inline})
    is_yaml = form_of_type(answer.headers.get("content-type", "")) == "yaml"
    document = read_yaml(answer.text, url, settings) if is_yaml else _json(answer, url)
    if not isinstance(document, dict):
        raise DocumentRefused(f"what the service answers is no {noun}.", place=url)
    # A file server may have a document of any dialect there.
    reading = read_tree(document) if dialect_of(document) in FOREIGN else None
    return reading.tree if reading is not None else document


def read_modelsource(url: str, settings: Settings) -> Tree:
    """The model of a service as it was written."""
    answered = _json(_send("GET", url, settings, "modelsource"), url)
    return answered if isinstance(answered, dict) else {}


def replace_service(url: str, changes: Tree, settings: Settings) -> None:
    """Change the registry's own attributes, its model and its groups in one request, all of it or nothing.

    A PUT of the registry replaces the groups it holds, as a PATCH would not, but also the registry's attributes: those
    that nobody changes are sent back as they were read, with the epoch that tells the service when they are outdated.
    """
    present = _json(_send("GET", url, settings), url)
    if not isinstance(present, dict):
        raise DocumentRefused("what the service answers is no registry.", place=url)
    _send("PUT", url, settings, json={**present, **changes})


def write_service(url: str, document: Tree, settings: Settings) -> Tree:
    """Send groups with all they hold in one request, so that all of it is taken or nothing."""
    answered = _json(_send("POST", url, settings, json=document), url)
    return answered if isinstance(answered, dict) else {}


def _send(method: str, url: str, settings: Settings, name: str = "", **arguments: Any) -> httpx.Response:
    try:
        parts = urlsplit(url)
        is_file = not name and parts.path.endswith((*JSON_SUFFIXES, *YAML_SUFFIXES))
        path = parts.path if is_file else f"{parts.path.rstrip('/')}/{name}"
        root = urlunsplit((parts.scheme, parts.netloc, path, "", ""))
        answer = httpx.request(method, root, timeout=settings.timeout_s, **arguments)
    except httpx.HTTPError as error:
        raise ServiceUnreachable(
            f"the service does not answer ({error}).", place=url, remedy="Is it running? `postroom serve` starts one."
        ) from None
    except (httpx.InvalidURL, ValueError) as error:
        raise ServiceUnreachable(f"this is not a usable address: {error}.", place=url) from None
    if answer.status_code >= 400:
        raise ServiceRefused(f"the service answers {answer.status_code}: {_problem(answer)}", place=url)
    return answer


def _json(answer: httpx.Response, url: str) -> Any:
    try:
        return answer.json()
    except ValueError:
        raise ServiceRefused("the service does not answer with JSON.", place=url) from None


def _problem(answer: httpx.Response) -> str:
    try:
        problem = answer.json()
    except ValueError:
        return answer.text[:200] or answer.reason_phrase
    if not isinstance(problem, dict):
        return answer.reason_phrase
    return " ".join(str(problem[name]) for name in ("title", "detail") if problem.get(name)) or answer.reason_phrase
