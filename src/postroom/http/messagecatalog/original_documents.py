"""Documents of versions: read and checked as they come, or rendered from the message."""

from __future__ import annotations

import msgspec

from postroom.http.messagecatalog import translate
from postroom.http.messagecatalog.group_formats import message_format
from postroom.http.messagecatalog.metaschema_validation import violations
from postroom.http.messagecatalog.metaschemas import SECTIONS
from postroom.http.messagecatalog.request import CatalogRequest
from postroom.http.messagecatalog.translate import MessageContext, Tree
from postroom.http.server.request_body import parse_json
from postroom.registry.changes.original_documents import Original, is_content_type
from postroom.registry.problems import RegistryProblem
from postroom.registry.read.resource_history import NumberedState

JSON, BYTES = "application/json", "application/octet-stream"
MOST_SHOWN = 5


def render_document(state: NumberedState, around: MessageContext) -> bytes:
    """A document for a state that came without one."""
    message = state.version.attributes
    form = message_format(around.tx, message, around.group)
    own = {"description": message["description"]} if message.get("description") else {}
    document = {**own, "format": form, "version": state.number, **translate.write_document(message, around, form)}
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def read_request_document(context: CatalogRequest, form: str) -> tuple[Original, Tree]:
    """The document of a request as it is, and what it says; refused when it does not follow its format."""
    request = context.request
    if not request.body.strip():
        raise RegistryProblem("missing_body", context.path.xid, detail="The document of the new version is missing.")
    contenttype = _content_type(context, form)
    if form not in SECTIONS:
        return Original(content=request.body, contenttype=contenttype), _foreign(context, contenttype)
    if not _is_json(contenttype):
        context.refuse(f"a document in the format {form} is JSON, and {contenttype} is not", status=415)
    document = parse_json(request.body, context.settings.max_depth, context.path.xid)
    if not isinstance(document, dict):
        context.refuse("the document must be a JSON object")
    _check(context, document, form)
    return Original(content=request.body, contenttype=contenttype), document


def _content_type(context: CatalogRequest, form: str) -> str:
    given = (context.request.header("content-type") or (JSON if form in SECTIONS else BYTES)).strip()
    if not is_content_type(given):
        context.refuse("Content-Type must be a media type", status=415)
    return given


def _is_json(contenttype: str) -> bool:
    media_type = contenttype.partition(";")[0].strip().lower()
    return media_type in (JSON, "text/json") or media_type.endswith("+json")


def _foreign(context: CatalogRequest, contenttype: str) -> Tree:
    """What a document in a format that is defined elsewhere says to us; most say nothing."""
    if not _is_json(contenttype):
        return {}
    document = parse_json(context.request.body, context.settings.max_depth, context.path.xid)
    return document if isinstance(document, dict) else {}


def _check(context: CatalogRequest, document: Tree, form: str) -> None:
    found = list(violations(document, form))
    attributes = document.get("attributes")
    name = attributes.get("type") if isinstance(attributes, dict) else None
    if not found and form == "CloudEvents" and document.get("id") not in (None, "", name):  # CAT-012, C-71
        context.refuse(f"id is {document['id']!r} and must be the type, {name!r}", pointer="/id")
    if found:
        first, *others = found
        reported = "; ".join(f"{one.pointer}: {one.detail}" for one in others[: MOST_SHOWN - 1])
        raise RegistryProblem(
            "invalid_attribute",
            context.path.xid,
            name=first.dotted,
            error_detail=first.detail,
            pointer=first.pointer,
            detail=f"Also {reported}." if reported else "",
        )
