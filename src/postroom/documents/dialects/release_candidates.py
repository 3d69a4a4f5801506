"""The release candidates of 1.0 and the two drafts between them: one form, a few names that changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from postroom.documents.dialects.dialect import Dialect, ReadNote, Tree, reasons
from postroom.documents.dialects.document_reader import DocumentReader
from postroom.documents.dialects.flatten_inheritance import flatten_inheritance, with_whole_objects
from postroom.documents.dialects.name_tables import (
    ADDRESS_MEMBERS,
    AUTHORIZATION_MEMBERS,
    CORE_CHECKS,
    RC2_META,
    RC4_ENDPOINT_OPTIONS,
    RELEASE_ATTRIBUTES,
    RESOURCES,
)
from postroom.documents.dialects.references import as_pointer, is_local
from postroom.documents.dialects.walk_tree import map_objects, rename_members
from postroom.model.core_attributes import SPECVERSION

_TO_RELEASE = {ours: theirs for theirs, ours in RELEASE_ATTRIBUTES.items()}
_TO_ADDRESS = {ours: theirs for theirs, ours in ADDRESS_MEMBERS.items()}


class ReleaseDifferences(msgspec.Struct, frozen=True):
    """How an older release differs from 1.0-rc4."""

    specversion: str
    one_usage: bool = False
    pointers_to_bases: bool = False
    base_is_xid: bool = False
    checks: bool = True
    docs: bool = False


def _read(document: Tree) -> tuple[Tree, list[ReadNote]]:
    reader = DocumentReader(v0_5=False)
    return reader.registry(document), reader.notes


def _read_older(document: Tree) -> tuple[Tree, list[ReadNote]]:
    tree, notes = _read(document)
    return _each(tree, _read_group, _read_resource), notes


def _each(tree: Tree, group_change: Callable[[str, Tree], Tree], resource_change: Callable[[str, Tree], Tree]) -> Tree:
    """The tree with all groups and resources changed."""
    made = dict(tree)
    for group_type, collection in RESOURCES.items():
        if not isinstance(tree.get(group_type), dict):
            continue

        def change(group: Tree, _: str, group_type: str = group_type, collection: str = collection) -> Tree:
            new = group_change(group_type, group)
            if isinstance(new.get(collection), dict):
                new = {
                    **new,
                    collection: map_objects(new[collection], "", lambda one, _: resource_change(collection, one)),
                }
            return new

        made[group_type] = map_objects(tree[group_type], "", change)
    return made


def _read_group(group_type: str, group: Tree) -> Tree:
    options = group.get("protocoloptions")
    if group_type != "endpoints" or not isinstance(options, dict):
        return group
    return {**group, "protocoloptions": read_endpoint_options(options)}


def read_endpoint_options(options: Tree) -> Tree:
    """The `protocoloptions` of an endpoint in the names of 1.0-rc4."""
    read = {"deployed": False, **options}  # until rc3, absent means that it is not there
    read |= _listed(options, "endpoints", ADDRESS_MEMBERS)
    read |= _listed(options, "authorization", AUTHORIZATION_MEMBERS)
    return read


def write_endpoint_options(options: Tree) -> Tree:
    """The `protocoloptions` of an endpoint in the names of the release candidates before 1.0-rc4."""
    written = dict(options)
    written.setdefault("deployed", True)  # rc4: absent means that it is there
    written |= _listed(written, "endpoints", _TO_ADDRESS)
    return written


def _listed(options: Tree, name: str, names: dict[str, str]) -> Tree:
    found = options.get(name)
    if not isinstance(found, list):
        return {}
    return {name: [rename_members(one, names) if isinstance(one, dict) else one for one in found]}


def _read_resource(collection: str, resource: Tree) -> Tree:
    read = rename_members(resource, RELEASE_ATTRIBUTES)
    meta = read.get("meta")
    if isinstance(meta, dict):
        kept = {name: value for name, value in meta.items() if name not in RC2_META}
        if kept.get("compatibility") == "none":  # C-51
            del kept["compatibility"]
        read["meta"] = kept
    if isinstance(read.get("versions"), dict):
        read["versions"] = map_objects(read["versions"], "", lambda one, _: rename_members(one, RELEASE_ATTRIBUTES))
    return read


def _writer(differences: ReleaseDifferences) -> Callable[[Tree], Tree]:
    def write(tree: Tree) -> Tree:
        if differences.base_is_xid:
            tree = flatten_inheritance(tree, lambda reference: not is_local(reference))
        if differences.pointers_to_bases:
            tree = with_whole_objects(tree)
        written = _each(
            tree,
            lambda group_type, group: _write_group(differences, group_type, group),
            lambda collection, one: _write_resource(differences, collection, one),
        )
        return {"specversion": differences.specversion, **{k: v for k, v in written.items() if k != "specversion"}}

    return write


def _write_group(differences: ReleaseDifferences, group_type: str, group: Tree) -> Tree:
    if group_type != "endpoints":
        return group
    written = dict(group)
    usage, options, deprecated = (group.get(name) for name in ("usage", "protocoloptions", "deprecated"))
    if differences.one_usage and isinstance(usage, list) and usage:
        written["usage"] = usage[0]
    if differences.docs and isinstance(deprecated, dict):
        written["deprecated"] = rename_members(deprecated, {"documentation": "docs"})
    if isinstance(options, dict):
        known = {name: value for name, value in options.items() if name not in RC4_ENDPOINT_OPTIONS}
        known = write_endpoint_options(known)
        if isinstance(known.get("authorization"), list):
            known["authorization"] = [_without(one, ("mechanism",)) for one in known["authorization"]]
        written["protocoloptions"] = known
    return written


def _write_resource(differences: ReleaseDifferences, collection: str, resource: Tree) -> Tree:
    written = _write_version(differences, collection, resource)
    if isinstance(written.get("versions"), dict):
        written["versions"] = map_objects(
            written["versions"], "", lambda one, _: _write_version(differences, collection, one)
        )
    return written


def _write_version(differences: ReleaseDifferences, collection: str, version: Tree) -> Tree:
    written = rename_members(version, _TO_RELEASE)
    if not differences.checks:
        written = _without(written, CORE_CHECKS)
    if collection != "messages":
        return written
    if differences.pointers_to_bases and "basemessage" in written:
        written["basemessageurl"] = as_pointer(written.pop("basemessage"))
        if "dataschemaxid" in written:  # the tag demands both
            written.setdefault("dataschemauri", written["dataschemaxid"])
    return written


def _without(entity: Any, names: tuple[str, ...]) -> Any:
    return {name: value for name, value in entity.items() if name not in names} if isinstance(entity, dict) else entity


def _write_rc4(tree: Tree) -> Tree:
    return {"specversion": SPECVERSION, **tree} if "specversion" in tree else tree


_ENDPOINTS = (
    (r"/mechanism$", "it came with 1.0-rc4"),
    (r"^/endpoints/[^/]+/protocoloptions/(" + "|".join(RC4_ENDPOINT_OPTIONS) + r")\b", "it came with 1.0-rc4"),
)
_RC2 = (
    (r"/(" + "|".join(CORE_CHECKS) + r")$", "checks are recorded since 1.0-rc3"),
    (r"/usage$", "until 1.0-rc2 an endpoint has one usage"),
)

RC4 = Dialect(name="1.0-rc4", title="xRegistry 1.0-rc4 (2026-08)", to_rc4=_read, from_rc4=_write_rc4)


def _release(name: str, title: str, differences: ReleaseDifferences, *losses: tuple[str, str]) -> Dialect:
    return Dialect(
        name=name,
        title=title,
        to_rc4=_read_older,
        from_rc4=_writer(differences),
        reasons=reasons(*losses, *_ENDPOINTS),
    )


RC3 = _release("1.0-rc3", "xRegistry 1.0-rc3 (2026-06)", ReleaseDifferences("1.0-rc3"))
MAY_2026 = _release("2026-05", "the text of May 2026, titled 1.0-rc2", ReleaseDifferences("1.0-rc2"))
SEPTEMBER_2025 = _release(
    "2025-09",
    "the text of September 2025, titled 1.0-rc2",
    ReleaseDifferences("1.0-rc2", one_usage=True, base_is_xid=True, checks=False),
    (r"/basemessage$", "in 2025-09 a base is an xid: what is inherited is written out"),
    *_RC2,
)
RC2 = _release(
    "1.0-rc2",
    "xRegistry 1.0-rc2 (2025-06)",
    ReleaseDifferences("1.0-rc2", one_usage=True, pointers_to_bases=True, checks=False, docs=True),
    *_RC2,
)
