"""Comparing two catalogs, entity by entity."""

from __future__ import annotations

from collections.abc import Iterator

from postroom.documents.dialects.name_tables import RESOURCES
from postroom.documents.dialects.walk import group_types, objects
from postroom.documents.diff.attributes import IGNORED, attribute_changes
from postroom.documents.diff.change import BOTH, CONSUMERS, Change, come_or_gone
from postroom.documents.diff.compared_catalog import Side, borrowed_from
from postroom.documents.diff.constraints import constraint_changes, option_changes
from postroom.documents.diff.endpoints import LISTS, endpoint_changes
from postroom.documents.diff.payloads import document_changes, payload_changes
from postroom.messages.definitions.catalog_tree import Tree, default_version
from postroom.messages.definitions.inheritance import BASE_NAMES
from postroom.model.json_pointers import pointer

_OF_A_MESSAGE = IGNORED | {"envelopemetadata", "protocoloptions", "dataschema", "dataschemauri", "dataschemaxid"}
_OF_A_SCHEMA = IGNORED | {"schema", "schemabase64", "schemaurl", "format", "defaultversionid"}
_OF_META = IGNORED | {"messageid", "schemaid", "xref", "defaultversionurl"}


def differences(old: Tree, new: Tree) -> list[Change]:
    """All changes from one catalog to another."""
    return list(_Comparison(old, new).changes())


class _Comparison:
    def __init__(self, old: Tree, new: Tree) -> None:
        self.old = Side(old)
        self.new = Side(new)

    def changes(self) -> Iterator[Change]:
        """Of the registry, its groups and what they hold."""
        old, new = self.old.tree, self.new.tree
        kinds = dict.fromkeys((*group_types(old), *group_types(new)))
        server = {one for kind in kinds for one in (kind, f"{kind}url", f"{kind}count")}
        yield from attribute_changes("", old, new, IGNORED | server | {"specversion", "$schema", "registryid"})
        for kind in kinds:
            for name, before, after in _pairs(objects(old, kind), objects(new, kind)):
                place = pointer((kind, name))
                if before is None or after is None:
                    yield come_or_gone(place, kind[:-1], after is None)
                else:
                    yield from self._group(place, kind, name, before, after)

    def _group(self, place: str, kind: str, name: str, before: Tree, after: Tree) -> Iterator[Change]:
        collection = RESOURCES.get(kind, "")
        own = {collection, f"{collection}url", f"{collection}count", f"{kind[:-1]}id"}
        if kind == "endpoints":
            own |= {*LISTS, "protocoloptions"}
            yield from endpoint_changes(place, before, after)
        yield from attribute_changes(place, before, after, IGNORED | own)
        for one, was, now in _pairs(objects(before, collection), objects(after, collection)):
            below = place + pointer((collection, one))
            if was is None or now is None:
                yield come_or_gone(below, collection[:-1], now is None)
                continue
            compare = self._schema if collection == "schemas" else self._message
            yield from compare(below, f"/{kind}/{name}/{collection}/{one}", was, now)
            yield from _meta(f"{below}/meta", was, now)

    def _message(self, place: str, xid: str, before: Tree, after: Tree) -> Iterator[Change]:
        if borrowed_from(before) == borrowed_from(after) != "":
            return  # told where it is
        (old, beyond), (new, now_beyond) = self.old.effective(xid, before), self.new.effective(xid, after)
        if beyond != now_beyond:
            reason = (
                f"it derives from {now_beyond or 'nothing'} and not from {beyond or 'nothing'}, which is elsewhere."
            )
            yield Change(f"{place}/basemessage", "changed", BOTH, reason)
        yield from attribute_changes(place, old, new, _OF_A_MESSAGE | {*BASE_NAMES, "messageid", "dataschemaformat"})
        at = f"{place}/envelopemetadata"
        yield from constraint_changes(at, old.get("envelopemetadata", {}), new.get("envelopemetadata", {}))
        protocol = str(new.get("protocol") or old.get("protocol") or "")
        options = [one.get("protocoloptions", {}) for one in (old, new)]
        yield from option_changes(f"{place}/protocoloptions", protocol, *options)
        yield from payload_changes(place, (self.old, old), (self.new, new))

    def _schema(self, place: str, xid: str, before: Tree, after: Tree) -> Iterator[Change]:
        old, new = default_version(before), default_version(after)
        yield from attribute_changes(place, old, new, _OF_A_SCHEMA | {"schemaid", "schemaids"})
        versions = {**_versions(before), **_versions(after)}
        for name in versions:
            split = name in objects(after, "versions") or name in objects(before, "versions")
            at = place + pointer(("versions", name)) if split else place
            yield from self._version(at, xid, name, (before, after))
        was, now = (next(iter(_default(one))) for one in (before, after))
        if was != now:
            yield from self._documents(place, xid, (was, before), (now, after))

    def _version(self, place: str, xid: str, name: str, schemas: tuple[Tree, Tree]) -> Iterator[Change]:
        before, after = (name in _versions(schema) for schema in schemas)
        if before and after:
            yield from _id_changes(place, *(_versions(schema)[name] for schema in schemas))
            yield from self._documents(place, xid, (name, schemas[0]), (name, schemas[1]))
        elif before:
            yield Change(
                place, "removed", CONSUMERS, "what was written with this Version cannot be read with it again."
            )
        else:
            yield Change(place, "added", "compatible", "a new Version.")

    def _documents(self, place: str, xid: str, old: tuple[str, Tree], new: tuple[str, Tree]) -> Iterator[Change]:
        was = self.old.version(xid, old[0], str(old[1].get("format", "")))
        now = self.new.version(xid, new[0], str(new[1].get("format", "")))
        if was is not None and now is not None:
            yield from document_changes(place, was, now)
        elif was is not None or now is not None:
            yield Change(place, "changed", BOTH, "a schema document came or went.")


def _id_changes(place: str, old: Tree, new: Tree) -> Iterator[Change]:
    """Ids that registries gave a Version: what is written with one is read with the Version that has it."""
    was, now = (version.get("schemaids") or [] for version in (old, new))
    lost, found = [one for one in was if one not in now], [one for one in now if one not in was]
    if lost:
        reason = f"payloads with the schema id {_listed(lost)} are not known to be written with this Version any more."
        yield Change(f"{place}/schemaids", "changed" if now else "removed", CONSUMERS, reason)
    if found:
        reason = f"payloads with the schema id {_listed(found)} are read with this Version."
        yield Change(f"{place}/schemaids", "changed" if was else "added", "compatible", reason)


def _listed(ids: list[object]) -> str:
    return ", ".join(map(str, ids))


def _pairs(old: Tree, new: Tree) -> Iterator[tuple[str, Tree | None, Tree | None]]:
    for name in {**old, **new}:
        yield name, old.get(name), new.get(name)


def _versions(schema: Tree) -> Tree:
    return objects(schema, "versions") or _default(schema)


def _default(schema: Tree) -> Tree:
    version = default_version(schema)
    return {str(version.get("versionid") or "1"): version}


def _meta(place: str, old: Tree, new: Tree) -> Iterator[Change]:
    before, after = (one.get("meta") for one in (old, new))
    was = before if isinstance(before, dict) else {}
    now = after if isinstance(after, dict) else {}
    for change in attribute_changes(place, was, now, _OF_META):
        if change.place.endswith(("/compatibility", "/defaultversionid", "/defaultversionsticky")):
            reason = "what later Versions have to keep, or which one counts, is said differently."
            yield Change(change.place, change.change, "compatible", reason)
        else:
            yield change
