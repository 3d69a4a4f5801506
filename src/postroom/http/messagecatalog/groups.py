"""Groups of the message catalog: list, GET, PUT, DELETE."""

from __future__ import annotations

from typing import Any

from postroom.http.messagecatalog.group_formats import canonical_format, group_format, selectors, store_format
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


def list_groups(visit: CatalogRequest) -> Response:
    """The ids of all groups."""
    return Response(json=visit.tx.ids(visit.path.xid, "", EVERYTHING))


def get_group(visit: CatalogRequest) -> Response:
    """The attributes of a group."""
    return Response(json=_shown(visit, require_entity(visit.tx, visit.path.xid)))


def put_group(visit: CatalogRequest) -> Response:
    """Create a group, or update it; the attributes that it has then."""
    body = _body(visit)
    existing = visit.tx.entity(visit.path.xid)
    form = canonical_format(body["format"])
    before = group_format(visit.tx, existing) if existing else ""
    if existing and form != before and visit.tx.count(f"{existing.xid}/messages"):
        visit.refuse(f"the format is {before} and cannot become {form} while there are definitions", status=409)
    # What else the registry knows about a group is none of the catalog's business, and stays.
    changes = {"description": body.get("description"), **(selectors(form) if form != before else {})}
    work = UnitOfWork(visit.tx, actor=visit.request.actor)
    is_new = operations.put_group(work, visit.path, changes, patch=True)
    store_format(visit.tx, visit.path.xid, form)
    work.finish()
    headers = {"Location": visit.base + path_of(visit.path.xid).removeprefix(CATALOG)} if is_new else {}
    shown = _shown(visit, require_entity(visit.tx, visit.path.xid))
    made = Response(status=201 if is_new else 200, headers=headers, json=shown)
    return correlated(made, work, visit.settings)


def delete(visit: CatalogRequest) -> Response:
    """Delete a group or a definition with all that is in it, or all definitions of a group."""
    work = UnitOfWork(visit.tx, actor=visit.request.actor)
    operations.delete(work, visit.path, None, None, "")
    work.finish()
    return correlated(Response(status=204), work, visit.settings)


def _shown(visit: CatalogRequest, group: Entity) -> dict[str, Any]:
    described = {"description": group.attributes["description"]} if group.attributes.get("description") else {}
    return {
        "id": group.id,
        "format": group_format(visit.tx, group),
        **described,
        "createdtimeutc": group.createdat,
        "updatedtimeutc": group.modifiedat,
    }


def _body(visit: CatalogRequest) -> dict[str, Any]:
    if not visit.request.body.strip():
        raise RegistryProblem("missing_body", visit.path.xid)
    body = parse_json(visit.request.body, visit.settings.max_depth, visit.path.xid)
    if not isinstance(body, dict):
        visit.refuse("a group must be a JSON object")
    unknown = next((name for name in body if name not in MEMBERS), None)
    if unknown is not None:
        visit.refuse(f"a group has no {unknown}; it has {', '.join(MEMBERS)}", pointer=f"/{unknown}")
    if body.get("id") not in (None, "", visit.path.ids[1]):
        visit.refuse(f"id is {body['id']!r} and must be the one in the path", pointer="/id")
    form, description = body.get("format"), body.get("description")
    if not isinstance(form, str) or not form.strip():
        visit.refuse("a group needs a format: CloudEvents, AMQP, MQTT, NATS, or one of your own", pointer="/format")
    if len(form) > LONGEST_FORMAT or not form.isprintable():
        visit.refuse(f"format must be a name of at most {LONGEST_FORMAT} characters", pointer="/format")
    if description is not None and not isinstance(description, str):
        visit.refuse("description must be a text", pointer="/description")
    return body
