"""Renderer of entity trees as the JSON that clients see; knows the base URL and the flags, no store and no HTTP."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from postroom.deadlines import check_deadline
from postroom.model.core_attributes import SPECVERSION
from postroom.model.render import render_model
from postroom.model.types import ResourceType
from postroom.registry.entities import Entity
from postroom.registry.query.inline import ALL, CONFIGURATION, NOTHING, Inline
from postroom.registry.read.document_content import ProxiedContent, inline_document, proxy_name
from postroom.registry.read.short_urls import short_path
from postroom.registry.read.tree import Collection, GroupTree, MetaTree, RegistryTree, ResourceTree, Tree, VersionTree
from postroom.registry.write.document_checks import MARKS

Json = dict[str, Any]
# RFC 6901 escapes "~", which ids may have; only where it would be read as an escape, as other servers do.
_AMBIGUOUS = re.compile("~(?=[01])")


class View(msgspec.Struct, frozen=True, kw_only=True):
    """How to render: the base URL without a final slash, the flags, and the xid of the request's target."""

    base: str = ""
    inline: Inline = NOTHING
    doc: bool = False
    binary: bool = False
    urls: bool = True
    shortself: bool = False
    root: str = "/"
    capabilities: Mapping[str, Any] = {}

    def url(self, xid: str, included: bool, details: bool = False) -> str:
        """The URL of an entity or collection: a pointer into the document when it is included in a document view."""
        if self.doc and included:
            return "#" + (_AMBIGUOUS.sub("~0", xid.removeprefix(self.root.rstrip("/"))) or "/")
        return self.base + xid + ("$details" if details else "")


def render(tree: Tree, view: View) -> Json:
    """Render one entity."""
    match tree:
        case RegistryTree():
            return _registry(tree, view, view.inline)
        case GroupTree():
            return _group(tree, view, view.inline)
        case ResourceTree():
            return _resource(tree, view, view.inline)
        case MetaTree():
            return _meta(tree.resource, view, in_resource=False)
        case VersionTree():
            return _version(tree, view, view.inline)


def render_collection(collection: Collection, view: View) -> Json:
    """Render the members of a collection, by id."""
    return {entity_id: render(tree, view) for entity_id, tree in collection.items()}


def _identity(view: View, xid: str, details: bool = False) -> Json:
    check_deadline()
    if not view.urls:
        return {"xid": xid}
    short = {"shortself": view.base + short_path(xid)} if view.shortself and not view.doc else {}
    return {"self": view.url(xid, included=True, details=details), **short, "xid": xid}


def _body(entity: Entity, leave_out: tuple[str, ...] = ()) -> Json:
    attributes = {name: value for name, value in entity.attributes.items() if name not in leave_out}
    return {**attributes, "createdat": entity.createdat, "modifiedat": entity.modifiedat}


def _collections(
    view: View, xid: str, counts: Mapping[str, int], rendered: Mapping[str, Json], queries: Mapping[str, str]
) -> Json:
    document: Json = {}
    for plural, count in counts.items():
        if view.urls:
            url = view.url(f"{xid.rstrip('/')}/{plural}", included=plural in rendered)
            document[plural + "url"] = url if url.startswith("#") else url + queries.get(plural, "")
            document[plural + "count"] = len(rendered[plural]) if plural in rendered else count
        if plural in rendered:
            document[plural] = rendered[plural]
    return document


def _registry(tree: RegistryTree, view: View, inline: Inline) -> Json:
    configuration = {
        "capabilities": lambda: dict(view.capabilities),
        "model": lambda: render_model(tree.model),
        "modelsource": lambda: tree.modelsource,
    }
    rendered = {
        plural: {one: _group(group, view, inline.below(plural) or NOTHING) for one, group in members.items()}
        for plural, members in tree.collections.items()
    }
    return {
        "specversion": SPECVERSION,
        "registryid": tree.entity.attributes["registryid"],
        **(_identity(view, "/") if view.urls else {"xid": "/"}),
        "epoch": tree.entity.epoch,
        **_body(tree.entity, ("registryid", "capabilities")),
        **{name: configuration[name]() for name in CONFIGURATION if inline.shows(name)},
        **_collections(view, "/", tree.counts, rendered, tree.queries),
    }


def _group(tree: GroupTree, view: View, inline: Inline) -> Json:
    rendered = {
        plural: {one: _resource(resource, view, inline.below(plural) or NOTHING) for one, resource in members.items()}
        for plural, members in tree.collections.items()
    }
    return {
        tree.type.singular + "id": tree.entity.id,
        **_identity(view, tree.entity.xid),
        "epoch": tree.entity.epoch,
        **_body(tree.entity),
        **_collections(view, tree.entity.xid, tree.counts, rendered, tree.queries),
    }


def _resource(tree: ResourceTree, view: View, inline: Inline) -> Json:
    resource_type = tree.type
    document: Json = {resource_type.singular + "id": tree.id}
    dangling = tree.default is None
    if tree.default is not None and not view.doc:
        document |= _version(tree.default, view, inline)
    document |= _identity(view, tree.xid, _details(resource_type, view))
    if view.urls:
        document["metaurl"] = view.url(tree.xid + "/meta", included=inline.shows("meta"))
    if inline.shows("meta"):
        document["meta"] = _meta(tree, view, in_resource=True)
    if dangling or (view.doc and tree.xref):
        return document
    versions: dict[str, Json] = {}
    if tree.versions is not None:
        below = inline.below("versions") or NOTHING
        versions = {"versions": {one: _version(v, view, below) for one, v in tree.versions.items()}}
    queries = {"versions": tree.query}
    return {**document, **_collections(view, tree.xid, {"versions": tree.count}, versions, queries)}


def _details(resource_type: ResourceType, view: View) -> bool:
    return resource_type.hasdocument and not view.doc


def _meta(tree: ResourceTree, view: View, in_resource: bool) -> Json:
    xid = tree.xid + "/meta"
    document: Json = {tree.type.singular + "id": tree.id, **_identity(view, xid)}
    if tree.xref:
        document["xref"] = tree.xref
        if tree.default is None or view.doc:
            return document
    document |= {"epoch": tree.meta.epoch, **_body(tree.meta, ("xref",))}
    if view.urls and tree.default is not None:
        included = in_resource and tree.default.entity.id in (tree.versions or ())
        document["defaultversionurl"] = view.url(
            tree.default.xid, included, _details(tree.type, view) or (not included and tree.type.hasdocument)
        )
    return document


def _version(tree: VersionTree, view: View, inline: Inline) -> Json:
    resource_type, entity = tree.type, tree.entity
    body = _body(entity, MARKS if view.doc else ())
    document: Json = {
        resource_type.singular + "id": tree.resource_id,
        "versionid": entity.id,
        **_identity(view, tree.xid, _details(resource_type, view)),
        "epoch": entity.epoch,
        "isdefault": tree.isdefault,
        **body,
    }
    proxied = entity.attributes.get(proxy_name(resource_type.singular)) if resource_type.hasdocument else None
    if proxied and inline.shows(resource_type.singular) and view.urls and not view.doc:
        document[resource_type.singular + "base64"] = ProxiedContent(proxied)
    if resource_type.hasdocument and entity.document is not None:
        if entity.document.url:
            document[resource_type.singular + "url"] = entity.document.url
        if inline.shows(resource_type.singular):
            document |= inline_document(
                resource_type, entity.document, entity.attributes.get("contenttype"), view.binary
            )
    return document


EXPORT = View(inline=ALL, urls=False)
ALONE = View(urls=False)
