"""Units from the JSON of an xRegistry service, without the attributes that a server keeps by itself."""

from __future__ import annotations

from typing import Any

from postroom.catalog.export import CHECKS
from postroom.replication.replicas import replica_unit
from postroom.replication.replicas.export_units import authority_in
from postroom.replication.replicas.replica_unit import ResourceShape, Tree, Unit, UnitEntry

_OF_THE_SERVER = frozenset({"self", "shortself", "xid", "epoch", "isdefault", "readonly", *CHECKS})


def shapes_in(model: Any) -> replica_unit.Shapes:
    """The shapes of a model as a service shows it."""
    shapes = {}
    for plural, kind in _objects(_object(model).get("groups")).items():
        resources = {
            name: ResourceShape(
                str(one.get("singular", name)),
                one.get("hasdocument", True) is not False,
                _has_room(one.get("attributes")),
            )
            for name, one in _objects(kind.get("resources")).items()
        }
        shapes[plural] = replica_unit.GroupShape(str(kind.get("singular", plural)), resources)
    return shapes


def group_unit(xid: str, seen: Tree, shape: replica_unit.GroupShape, home: str) -> Unit:
    """A Group without what is in it."""
    nested = {name + end for name in shape.resources for end in ("", "url", "count")}
    body = {
        name: value for name, value in seen.items() if name not in _OF_THE_SERVER | nested | {shape.singular + "id"}
    }
    return _unit(xid, body, None, home)


def resource_unit(xid: str, seen: Tree, meta: Tree, versions: dict[str, Tree], shape: ResourceShape, home: str) -> Unit:
    """A Resource; a reference is only that."""
    if meta.get("xref"):
        return _unit(xid, {"meta": {"xref": meta["xref"]}}, shape, home)
    ids = {shape.singular + "id"}
    kept = {n: v for n, v in meta.items() if n not in _OF_THE_SERVER | ids | {"defaultversionurl"}}
    shown = {one: _version(version, shape) for one, version in versions.items()}
    if not shown:
        own = {name: value for name, value in seen.items() if name not in ("meta", "versions")}
        shown = {str(seen.get("versionid") or kept.get("defaultversionid") or "1"): _version(own, shape)}
    return _unit(xid, {"meta": kept, "versions": shown}, shape, home)


def _version(version: Tree, shape: ResourceShape) -> Tree:
    beside = {shape.singular + "id", "versionid", "metaurl", "versionsurl", "versionscount"}
    plain = {name: value for name, value in version.items() if name not in _OF_THE_SERVER | beside}
    if shape.hasdocument and shape.singular + "proxyurl" in plain:  # fetched for every answer, and nobody's content
        plain.pop(shape.singular, None)
        plain.pop(shape.singular + "base64", None)
    return plain


def _unit(xid: str, body: Tree, shape: ResourceShape | None, home: str) -> Unit:
    entry = UnitEntry(
        digest=replica_unit.digest_of(body, shape),
        stamp=replica_unit.Stamp(0, replica_unit.newest_time(body, shape)),
        home=home,
        authority=authority_in(body, shape),
    )
    return Unit(xid=xid, body=body, entry=entry)


def _has_room(attributes: Any) -> bool:
    return isinstance(attributes, dict) and (
        "*" in attributes or all(name in attributes for name in replica_unit.PROVENANCE)
    )


def _object(value: Any) -> Tree:
    return value if isinstance(value, dict) else {}


def _objects(value: Any) -> dict[str, Tree]:
    return {str(name): one for name, one in _object(value).items() if isinstance(one, dict)}
