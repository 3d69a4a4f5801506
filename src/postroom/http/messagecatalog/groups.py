"""Groups of the message catalog: list, GET, PUT, DELETE."""

from __future__ import annotations

from typing import Any

from postroom.documents.dialects.messagecatalog_ids import catalog_id_of
from postroom.documents.dialects.messagecatalog_sections import canonical_format
from postroom.http.messagecatalog.group_formats import group_format, selectors, store_format
from postroom.http.messagecatalog.paths import refuse_bare_colon
from postroom.http.messagecatalog.request import CATALOG, CatalogRequest, path_of
from postroom.http.server.request_body import parse_json
from postroom.http.server.response import Response
from postroom.http.server.response_encoding import correlated
from postroom.registry import operations
from postroom.registry.entities import Entity
from postroom.registry.problems import RegistryProblem
from postroom.registry.read.tree import require_entity
from postroom.registry.write.unit_of_work import UnitOfWork

EVERYTHING = 2**62
LONGEST_FORMAT = 128
MEMBERS = ("id", "format", "description", "createdtimeutc", "updatedtimeutc")


def list_groups(context: CatalogRequest) -> Response:
    """The ids of all groups."""
    return Response(json=list(map(catalog_id_of, context.tx.ids(context.path.xid, "", EVERYTHING))))


def get_group(context: CatalogRequest) -> Response:
    """The attributes of a group."""
    return Response(json=_shown(context, require_entity(context.tx, context.path.xid)))


def put_group(context: CatalogRequest) -> Response:
    """Create a group, or update it; the attributes that it has then."""
    context.tx.permissions.require_write(context.path.xid)
    body = _body(context)
    existing = context.tx.entity(context.path.xid)
    if existing is None:
        refuse_bare_colon(context)
    form = canonical_format(body["format"])
    before = group_format(context.tx, existing) if existing else ""
    if existing and form != before and context.tx.count(f"{existing.xid}/messages"):
        context.refuse(f"the format is {before} and cannot become {form} while there are definitions", status=409)
    # What else the registry knows about a group is none of the catalog's business, and stays.
    told = selectors(form, context.path.group, existing.attributes if existing else {}) if form != before else {}
    changes = {"description": body.get("description"), **told}
    work = UnitOfWork(context.tx, actor=context.request.actor)
    is_new = operations.put_group(work, context.path, changes, patch=True)
    store_format(context.tx, context.path.xid, form)
    work.finish()
    headers = {"Location": context.base + path_of(context.path.xid).removeprefix(CATALOG)} if is_new else {}
    shown = _shown(context, require_entity(context.tx, context.path.xid))
    made = Response(status=201 if is_new else 200, headers=headers, json=shown)
    return correlated(made, work, context.settings)


def delete(context: CatalogRequest) -> Response:
    """Delete a group or a definition with all that is in it, or all definitions of a group."""
    work = UnitOfWork(context.tx, actor=context.request.actor)
    operations.delete(work, context.path, None, None, "")
    work.finish()
    return correlated(Response(status=204), work, context.settings)


def _shown(context: CatalogRequest, group: Entity) -> dict[str, Any]:
    described = {"description": group.attributes["description"]} if group.attributes.get("description") else {}
    return {
        "id": catalog_id_of(group.id),
        "format": group_format(context.tx, group),
        **described,
        "createdtimeutc": group.createdat,
        "updatedtimeutc": group.modifiedat,
    }


def _body(context: CatalogRequest) -> dict[str, Any]:
    if not context.request.body.strip():
        raise RegistryProblem("missing_body", context.path.xid)
    body = parse_json(context.request.body, context.settings.max_depth, context.path.xid)
    if not isinstance(body, dict):
        context.refuse("a group must be a JSON object")
    unknown = next((name for name in body if name not in MEMBERS), None)
    if unknown is not None:
        context.refuse(f"a group has no {unknown}; it has {', '.join(MEMBERS)}", pointer=f"/{unknown}")
    if body.get("id") not in (None, "", catalog_id_of(context.path.ids[1])):
        context.refuse(f"id is {body['id']!r} and must be the one in the path", pointer="/id")
    form, description = body.get("format"), body.get("description")
    if not isinstance(form, str) or not form.strip():
        context.refuse("a group needs a format: CloudEvents, AMQP, MQTT, NATS, or one of your own", pointer="/format")
    if len(form) > LONGEST_FORMAT or not form.isprintable():
        context.refuse(f"format must be a name of at most {LONGEST_FORMAT} characters", pointer="/format")
    if description is not None and not isinstance(description, str):
        context.refuse("description must be a text", pointer="/description")
    return body
