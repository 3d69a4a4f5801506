"""The document view of Resources and Versions: bytes in the body, attributes in headers, or a way to elsewhere."""

from __future__ import annotations

import base64
from typing import Any
from urllib.parse import quote

import msgspec

from postroom.http.server.request import Request
from postroom.http.server.response import Response
from postroom.http.xregistry.attribute_headers import attribute_headers, read_attributes
from postroom.http.xregistry.proxied_documents import relay
from postroom.model.types import ResourceType
from postroom.registry.entities import Document
from postroom.registry.problems import RegistryProblem
from postroom.registry.read.document_content import proxy_name
from postroom.registry.read.render import View, render
from postroom.registry.read.tree import ResourceTree, VersionTree
from postroom.settings import Settings

URL_CHARACTERS = "!#$%&'()*+,/:;=?@[]~{}|^"
NOT_IN_HEADERS = frozenset({"contenttype", "meta", "versions"})
# Documents are other people's bytes on the origin of the registry: a browser must neither guess nor run them.
HARMLESS = {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox"}


def document_answer(
    tree: ResourceTree | VersionTree, view: View, request: Request, created: bool, settings: Settings
) -> Response:
    """The document with its attributes as headers; a redirect, or a relay, where it is elsewhere."""
    version = tree.default if isinstance(tree, ResourceTree) else tree
    if version is None:
        raise RegistryProblem("not_found", tree.xid)
    document = version.entity.document or Document()
    not_in_headers = NOT_IN_HEADERS | {tree.type.singular, tree.type.singular + "base64"}
    headers = attribute_headers(render(tree, view), tree.type, not_in_headers)
    headers |= {
        "Content-Location": view.base + version.xid,
        "Content-Disposition": version.resource_id,
        **HARMLESS,
    }
    contenttype = version.entity.attributes.get("contenttype")
    if contenttype:
        headers["Content-Type"] = contenttype
    if created:
        headers["Location"] = view.base + tree.xid
    made = Response(status=201 if created else 200, headers=headers, content=document.content)
    elsewhere = version.entity.attributes.get(proxy_name(tree.type.singular))
    if elsewhere:
        return relay(made, elsewhere, settings, is_read=request.method == "GET")
    return _redirect(made, document.url) if document.url and not created else made


def _redirect(made: Response, url: str) -> Response:
    headers = {**made.headers, "Location": quote(url, safe=URL_CHARACTERS)}
    return msgspec.structs.replace(made, status=303, headers=headers, content=b"")


def document_body(resource_type: ResourceType, request: Request) -> dict[str, Any]:
    """What a document write says, in the form of a metadata write: attributes of the headers, the body as base64."""
    body = read_attributes(request.headers, resource_type, request.path)
    body["contenttype"] = request.header("content-type")  # RES-016: without the header it is erased
    elsewhere = [
        name
        for name in (resource_type.singular + "url", proxy_name(resource_type.singular))
        if body.get(name) is not None
    ]
    if not elsewhere:
        body[resource_type.singular + "base64"] = base64.b64encode(request.body).decode() if request.body else None
        return body
    if request.body:
        detail = "with it the body has to be empty"
        raise RegistryProblem("extra_xregistry_header", request.path, name=elsewhere[0], error_detail=detail)
    return body
