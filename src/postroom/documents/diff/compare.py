"""Comparison of two catalogs, entity by entity: what changed, and whom it breaks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from postroom.documents.dialects.endpoints import default_options
from postroom.documents.dialects.name_tables import RESOURCES
from postroom.documents.dialects.preserved_members import EXTRAS
from postroom.documents.dialects.references import as_xid
from postroom.documents.dialects.walk_tree import group_types, objects
from postroom.documents.diff.change import (
    BOTH,
    CONSUMERS,
    NOTHING,
    PRODUCERS,
    CatalogChange,
    Impact,
    action,
    entity_change,
)
from postroom.documents.diff.compared_catalog import ComparedCatalog, WrittenSchema, xref_target
from postroom.documents.diff.constraints import constraint_changes, option_changes
from postroom.errors import PostroomError
from postroom.formats.format_table import format_named, readable_documents
from postroom.messages.definitions.catalog_tree import Tree, default_version
from postroom.messages.definitions.inheritance import BASE_NAMES, envelope_of
from postroom.model.json_pointers import pointer
from postroom.model.messaging import MESSAGING
from postroom.protocols.protocol_table import canonical_protocol

_EDITORIAL = frozenset(("name", "description", "documentation", "icon", "labels"))
_SET_BY_SERVER = frozenset(("epoch", "createdat", "modifiedat", "self", "shortself", "xid", "ancestorid", "isdefault"))
_CHECKS = frozenset(
    ("formatvalidated", "formatvalidatedreason", "compatibilityvalidated", "compatibilityvalidatedreason")
)
_IGNORED = (
    _SET_BY_SERVER | _CHECKS | {EXTRAS, "meta", "metaurl", "versions", "versionsurl", "versionscount", "versionid"}
)
_SELECTORS = ("envelope", "protocol")

# What a change of an attribute does: its impact, and why.
_ATTRIBUTE_IMPACT: dict[str, tuple[Impact, str]] = {
    "envelope": (BOTH, "the envelope is another one."),
    "protocol": (BOTH, "the protocol is another one."),
    "channel": (BOTH, "the endpoint is part of another channel."),
    "envelopeoptions": ("compatible", "messages may be written in another mode, and readers take them all."),
    "deprecated": ("compatible", "it is announced what happens to it; nobody has to do anything yet."),
    "constraints": (PRODUCERS, "the group demands something else of its messages."),
    "modelsource": ("compatible", "the model is another one."),
    "readonly": ("compatible", "who may write it changed."),
}

_ENDPOINT_LISTS = {"usage": "usage", "messagegroups": "message group"}
_OPTION_IMPACT: dict[str, tuple[Impact, str]] = {
    "authorization": (BOTH, "clients have to authorize in another way."),
    "deployed": ("compatible", "the endpoint is there now."),
}

_NOT_OF_MESSAGES = _IGNORED | {"envelopemetadata", "protocoloptions", "dataschema", "dataschemauri", "dataschemaxid"}
_NOT_OF_SCHEMAS = _IGNORED | {"schema", "schemabase64", "schemaurl", "format", "defaultversionid", "contenttype"}
_NOT_OF_META = _IGNORED | {"messageid", "schemaid", "xref", "defaultversionurl"}


def differences(old: Tree, new: Tree, is_strict: bool = False) -> list[CatalogChange]:
    """All changes from one catalog to another; `is_strict` as schemas are compared."""
    return list(_Comparison(old, new, is_strict).changes())


class _Comparison:
    def __init__(self, old: Tree, new: Tree, is_strict: bool) -> None:
        self.is_strict = is_strict
        self.old = ComparedCatalog(old)
        self.new = ComparedCatalog(new)

    def changes(self) -> Iterator[CatalogChange]:
        """Of the registry, its groups and what they hold."""
        old, new = self.old.tree, self.new.tree
        names = dict.fromkeys((*group_types(old), *group_types(new)))
        server = {one for group_type in names for one in (group_type, f"{group_type}url", f"{group_type}count")}
        old, new = (_with_model(tree) for tree in (old, new))
        yield from _attribute_changes("", old, new, _IGNORED | server | {"specversion", "$schema", "registryid"})
        for group_type in names:
            for name, before, after in _pairs(objects(old, group_type), objects(new, group_type)):
                place = pointer((group_type, name))
                if before is None or after is None:
                    yield entity_change(place, group_type[:-1], after is None)
                else:
                    yield from self._group(place, group_type, name, before, after)

    def _group(self, place: str, group_type: str, name: str, before: Tree, after: Tree) -> Iterator[CatalogChange]:
        collection = RESOURCES.get(group_type, "")
        own = {collection, f"{collection}url", f"{collection}count", f"{group_type[:-1]}id"}
        if group_type == "endpoints":
            own |= {*_ENDPOINT_LISTS, "protocoloptions"}
            yield from _endpoint_changes(place, before, after)
        yield from _attribute_changes(place, before, after, _IGNORED | own)
        for one, was, now in _pairs(objects(before, collection), objects(after, collection)):
            below = place + pointer((collection, one))
            if was is None or now is None:
                yield entity_change(below, collection[:-1], now is None)
                continue
            compare = self._schema if collection == "schemas" else self._message
            yield from compare(below, f"/{group_type}/{name}/{collection}/{one}", was, now)
            yield from _meta(f"{below}/meta", was, now)

    def _message(self, place: str, xid: str, before: Tree, after: Tree) -> Iterator[CatalogChange]:
        if xref_target(before) == xref_target(after) != "":
            return  # reported at the message that both stand for
        (old, beyond), (new, now_beyond) = self.old.effective(xid, before), self.new.effective(xid, after)
        if beyond != now_beyond:
            reason = (
                f"it derives from {now_beyond or 'nothing'} and not from {beyond or 'nothing'}, which is elsewhere."
            )
            yield CatalogChange(f"{place}/basemessage", "changed", BOTH, reason)
        old, new = _with_envelope(old), _with_envelope(new)
        yield from _attribute_changes(
            place, old, new, _NOT_OF_MESSAGES | {*BASE_NAMES, "messageid", "dataschemaformat"}
        )
        at = f"{place}/envelopemetadata"
        yield from constraint_changes(at, old.get("envelopemetadata", {}), new.get("envelopemetadata", {}))
        protocol = str(new.get("protocol") or old.get("protocol") or "")
        options = [one.get("protocoloptions", {}) for one in (old, new)]
        yield from option_changes(f"{place}/protocoloptions", protocol, *options)
        yield from _payload_changes(place, (self.old, old), (self.new, new), self.is_strict)

    def _schema(self, place: str, xid: str, before: Tree, after: Tree) -> Iterator[CatalogChange]:
        old, new = default_version(before), default_version(after)
        yield from _attribute_changes(place, old, new, _NOT_OF_SCHEMAS | {"schemaid", "schemaids", "schemaversion"})
        versions = {**_versions(before), **_versions(after)}
        for name in versions:
            split = name in objects(after, "versions") or name in objects(before, "versions")
            at = place + pointer(("versions", name)) if split else place
            yield from self._version(at, xid, name, (before, after))
        was, now = (next(iter(_default(one))) for one in (before, after))
        if was != now:
            yield from self._documents(place, xid, (was, before), (now, after))

    def _version(self, place: str, xid: str, name: str, schemas: tuple[Tree, Tree]) -> Iterator[CatalogChange]:
        before, after = (name in _versions(schema) for schema in schemas)
        if before and after:
            yield from _id_changes(place, *(_versions(schema)[name] for schema in schemas))
            yield from self._documents(place, xid, (name, schemas[0]), (name, schemas[1]))
        elif before:
            yield CatalogChange(
                place, "removed", CONSUMERS, "what was written with this Version cannot be read with it again."
            )
        else:
            yield CatalogChange(place, "added", "compatible", "a new Version.")

    def _documents(self, place: str, xid: str, old: tuple[str, Tree], new: tuple[str, Tree]) -> Iterator[CatalogChange]:
        was = self.old.version(xid, old[0], str(old[1].get("format", "")))
        now = self.new.version(xid, new[0], str(new[1].get("format", "")))
        if was is not None and now is not None:
            yield from _document_changes(place, was, now, self.is_strict)
        elif was is not None or now is not None:
            yield CatalogChange(place, "changed", BOTH, "a schema document came or went.")


def _id_changes(place: str, old: Tree, new: Tree) -> Iterator[CatalogChange]:
    """Ids that registries gave a Version: what is written with one is read with the Version that has it."""
    was, now = (version.get("schemaids") or [] for version in (old, new))
    lost, found = [one for one in was if one not in now], [one for one in now if one not in was]
    if lost and now:
        reason = f"payloads with the schema id {_listed(lost)} are not known to be written with this Version any more."
        yield CatalogChange(f"{place}/schemaids", "changed", CONSUMERS, reason)
    elif lost:
        reason = f"no ids are stated any more; a registry keeps those that it gave, such as {_listed(lost)}."
        yield CatalogChange(f"{place}/schemaids", "removed", "compatible", reason)
    if found:
        reason = f"payloads with the schema id {_listed(found)} are read with this Version."
        yield CatalogChange(f"{place}/schemaids", "changed" if was else "added", "compatible", reason)


def _listed(ids: list[object]) -> str:
    return ", ".join(map(str, ids))


def _pairs(old: Tree, new: Tree) -> Iterator[tuple[str, Tree | None, Tree | None]]:
    for name in {**old, **new}:
        yield name, old.get(name), new.get(name)


def _with_envelope(message: Tree) -> Tree:
    """A message with the envelope that its attributes imply where it names none."""
    envelope = envelope_of(message)
    return {**message, "envelope": envelope} if envelope else message


def _versions(schema: Tree) -> Tree:
    return objects(schema, "versions") or _default(schema)


def _default(schema: Tree) -> Tree:
    version = default_version(schema)
    return {str(version.get("versionid") or "1"): version}


def _with_model(tree: Tree) -> Tree:
    """A catalog with its model: that of messages where it names none."""
    return tree if "modelsource" in tree else {**tree, "modelsource": MESSAGING}


def _meta(place: str, old: Tree, new: Tree) -> Iterator[CatalogChange]:
    was, now = _whole_meta(old), _whole_meta(new)
    for change in _attribute_changes(place, was, now, _NOT_OF_META):
        if change.place.endswith(("/compatibility", "/defaultversionid", "/defaultversionsticky")):
            reason = "what later Versions have to keep, or which one counts, is said differently."
            yield CatalogChange(change.place, change.change, "compatible", reason)
        else:
            yield change


def _whole_meta(resource: Tree) -> Tree:
    """The meta of a resource with what a registry writes where its author leaves it open."""
    stated = {name: value for name, value in _object(resource.get("meta")).items() if value is not None}
    chosen = next(iter(_default(resource)))
    return {"readonly": False, "defaultversionsticky": False, "defaultversionid": chosen, **stated}


def _attribute_changes(place: str, old: Tree, new: Tree, skipped: frozenset[str]) -> Iterator[CatalogChange]:
    """Changes of attributes that have no rules of their own."""
    for name in {**old, **new}:
        before, after = old.get(name, NOTHING), new.get(name, NOTHING)
        if name in skipped or before == after:
            continue
        impact, reason = _attribute_impact(name, before, after)
        yield CatalogChange(place + pointer((name,)), action(before, after), impact, reason)


def _attribute_impact(name: str, before: Any, after: Any) -> tuple[Impact, str]:
    if name in _EDITORIAL or (name in _SELECTORS and _same_selector(before, after)):
        return "editorial", "words only."
    if name == "datacontenttype":
        return _content_type(before, after)
    return _ATTRIBUTE_IMPACT.get(name, ("compatible", f"{name} is an extension, which no rule here looks at."))


def _same_selector(before: Any, after: Any) -> bool:
    texts = isinstance(before, str) and isinstance(after, str)
    return texts and canonical_protocol(before) == canonical_protocol(after)


def _content_type(before: Any, after: Any) -> tuple[Impact, str]:
    if before is NOTHING:
        return PRODUCERS, f"payloads have to be {after}, which was not said before."
    if after is NOTHING:
        return CONSUMERS, f"payloads need not be {before} any more."
    return BOTH, f"payloads are {after} and not {before} any more."


def _endpoint_changes(place: str, old: Tree, new: Tree) -> Iterator[CatalogChange]:
    """Changes of what only endpoints have."""
    for name, noun in _ENDPOINT_LISTS.items():
        yield from _list_changes(f"{place}/{name}", noun, old.get(name), new.get(name))
    yield from _endpoint_option_changes(f"{place}/protocoloptions", old, new)


def _object(value: Any) -> Tree:
    return value if isinstance(value, dict) else {}


def _list_changes(place: str, noun: str, old: Any, new: Any) -> Iterator[CatalogChange]:
    before, after = (_items(None if one is NOTHING else one) for one in (old, new))
    for item in before:
        if item not in after:
            yield CatalogChange(place, "removed", BOTH, f"the {noun} {item} is not there any more.")
    for item in after:
        if item not in before:
            yield CatalogChange(place, "added", "compatible", f"the {noun} {item} is new.")


def _items(value: Any) -> list[Any]:
    listed = value if isinstance(value, list) else [] if value is None else [value]
    return [as_xid(_address(item)) for item in listed]


def _address(item: Any) -> Any:
    """An address as people write it, whatever object it is in (C-35)."""
    servers = item.get("bootstrap.servers", item.get("uri", item)) if isinstance(item, dict) else item
    return ", ".join(map(str, servers)) if isinstance(servers, list) else servers


def _endpoint_option_changes(place: str, old: Tree, new: Tree) -> Iterator[CatalogChange]:
    written, now_written = (_object(one.get("protocoloptions")) for one in (old, new))
    options, now_options = {**default_options(old), **written}, {**default_options(new), **now_written}
    for name in {**written, **now_written}:
        before, after = options.get(name, NOTHING), now_options.get(name, NOTHING)
        if before == after:
            continue
        if name == "endpoints":
            yield from _list_changes(f"{place}/{name}", "address", before, after)
            continue
        impact, reason = _OPTION_IMPACT.get(name, (BOTH, f"clients have to use another {name}."))
        if name == "deployed" and after is False:
            impact, reason = BOTH, "the endpoint is not there any more."
        yield CatalogChange(place + pointer((name,)), action(before, after), impact, reason)


def _payload_changes(
    place: str, before: tuple[ComparedCatalog, Tree], after: tuple[ComparedCatalog, Tree], is_strict: bool
) -> Iterator[CatalogChange]:
    """Changes of what the payloads of a message are; those of a schema itself are reported there."""
    (old, was), (new, now) = before, after
    one, other = old.payload(was), new.payload(now)
    if one is None or other is None:
        if one is not other:
            impact: Impact = PRODUCERS if one is None else CONSUMERS
            reason = "payloads follow a schema now." if one is None else "payloads follow no schema any more."
            yield CatalogChange(
                place + _member(was if other is None else now),
                "added" if one is None else "removed",
                impact,
                reason,
            )
        return
    at = place + _member(now)
    if one.place and one.place == other.place:
        if one.fragment != other.fragment:
            reason = f"payloads are of the type {other.fragment or 'of the document'}, not {one.fragment or 'that'}."
            yield CatalogChange(at, "changed", BOTH, reason)
        return
    written, read = old.written(one), new.written(other)
    if written is None or read is None:
        if as_xid(one.reference) != as_xid(other.reference):
            yield CatalogChange(
                at, "changed", BOTH, "the schema is elsewhere and cannot be compared with the one before."
            )
        return
    yield from _document_changes(at, written, read, is_strict)


def _member(message: Tree) -> str:
    names = ("dataschema", "dataschemaxid", "dataschemauri")
    return "/" + next((name for name in names if message.get(name) is not None), names[-1])


def _document_changes(place: str, old: WrittenSchema, new: WrittenSchema, is_strict: bool) -> Iterator[CatalogChange]:
    """What becomes of producers and of consumers when one schema takes the place of another."""
    if old[:2] == new[:2] or (old[1] == new[1] and _family(old[0]) == _family(new[0])):
        return
    breaks: list[tuple[Impact, str]] = []
    for impact, writer, reader in ((PRODUCERS, old, new), (CONSUMERS, new, old)):
        try:
            verdict = readable_documents(writer, reader, is_strict=is_strict)
        except PostroomError as error:
            breaks.append((impact, f"nobody can say: {error.sentence}"))
            continue
        if verdict.answer != "compatible":
            shown = f" For example: {verdict.shown}" if verdict.shown else ""
            breaks.append((impact, (verdict.reason or "the schemas cannot be compared.") + shown))
    if not breaks:
        yield CatalogChange(place, "changed", "compatible", "payloads of either schema can be read with the other.")
    for impact, reason in breaks:
        yield CatalogChange(place, "changed", impact, reason)


def _family(name: str) -> object:
    known = format_named(name)
    return name if known is None else (known.family, known.version)
