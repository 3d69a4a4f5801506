"""What all responses have: JSON as bytes, its content type, the link to the registry's root."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

import msgspec

from postroom.http.server.request import Request
from postroom.http.server.response import Response
from postroom.http.xregistry.proxied_documents import fetch_base64
from postroom.registry.permissions import UNRESTRICTED
from postroom.registry.read.document_content import ProxiedContent
from postroom.registry.write.unit_of_work import UnitOfWork
from postroom.replication.changes.feed import has_readers
from postroom.settings import Settings

JSON_TYPE = "application/json; charset=utf-8"  # HTTP-016, C-64


CORRELATION = "xRegistry-xregcorrelationid"


def correlated(given: Response, work: UnitOfWork, settings: Settings) -> Response:
    """The answer to a write, with what its events can be told by (EVT-007).

    Events have to reach somebody: the reference server has none, and clients made for it refuse headers they do not
    know. So the header is sent from the first reader of changes on, unless the settings say always. Where access is
    on, nobody learns by it that somebody else reads changes.
    """
    is_open = work.permissions is UNRESTRICTED
    if settings.correlation_header != "always" and is_open and not has_readers(work.tx):
        return given
    return msgspec.structs.replace(given, headers={**given.headers, CORRELATION: work.correlation})


def completed(given: Response, request: Request, settings: Settings, *, waits: bool = True) -> Response:
    """The response as it is sent, apart from compression and what concerns the connection.

    Its JSON has the documents that had to be fetched for it, null for one that is not to be had; MustFetch where that
    would take a while and nobody waits.
    """
    headers = _linked(given, request) if given.root_link else given.headers
    if given.json is msgspec.UNSET:
        return msgspec.structs.replace(given, headers=headers)
    fetched = []

    def fetch(document: ProxiedContent) -> str | None:
        if settings.allow_fetch and not waits:
            raise MustFetch
        fetched.append(document)
        return fetch_base64(document.url, settings)

    return msgspec.structs.replace(
        given,
        headers={"Content-Type": JSON_TYPE, **headers},
        json=msgspec.UNSET,
        content=encode_json(given.json, fetch),
        cacheable=given.cacheable and not fetched,
    )


def _linked(given: Response, request: Request) -> dict[str, str]:
    links = [f"<{request.base}>;rel=xregistry-root", *([given.headers["Link"]] if "Link" in given.headers else [])]
    return {**given.headers, "Link": ", ".join(links)}


class MustFetch(Exception):
    """A response needs documents from elsewhere, and whoever encodes it does not want to wait for them."""


def refuse_to_wait(_: ProxiedContent) -> NoReturn:
    """Say that a document has to be fetched."""
    raise MustFetch


def encode_json(value: Any, fetch: Callable[[ProxiedContent], str | None] = refuse_to_wait) -> bytes:
    """The JSON of a value; `fetch` gives the documents in it that are elsewhere."""
    return msgspec.json.encode(value, enc_hook=partial(_encode_document, fetch))


def _encode_document(fetch: Callable[[ProxiedContent], str | None], value: Any) -> str | None:
    if isinstance(value, ProxiedContent):
        return fetch(value)
    raise NotImplementedError(type(value))
