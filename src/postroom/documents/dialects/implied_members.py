"""Members of a 1.0-rc4 tree that the 0.5 service neither has nor needs: others imply them."""

from __future__ import annotations

from functools import partial

from postroom.documents.dialects import name_tables
from postroom.documents.dialects.dialect import Tree
from postroom.documents.dialects.endpoints import default_options
from postroom.documents.dialects.walk_tree import map_objects, objects
from postroom.messages.definitions.catalog_tree import default_version, version_age

_IDENTITY = ("xid", *name_tables.RESOURCE_IDS.values())
_KEPT = frozenset(("schemaid", "messageid", "createdat", "modifiedat"))


def without_implied(tree: Tree) -> Tree:
    """A tree without what the 0.5 service neither has nor needs: xids, repeated ids, what a default Version mirrors."""
    plain = {name: value for name, value in tree.items() if name != "xid"}
    for group_type, inner in name_tables.RESOURCES.items():
        if isinstance(tree.get(group_type), dict):
            plain[group_type] = map_objects(tree[group_type], "", partial(_group, inner))
    plain |= {"endpoints": map_objects(plain["endpoints"], "", _without_new_defaults)} if "endpoints" in plain else {}
    return plain


def _without_new_defaults(endpoint: Tree, _: str) -> Tree:
    """An endpoint without options that 0.5 has no word for and that a registry fills in, where they are as it does."""
    options = endpoint.get("protocoloptions")
    if not isinstance(options, dict):
        return endpoint
    implied = default_options(endpoint)
    kept = {
        name: one
        for name, one in options.items()
        if name not in name_tables.RC4_ENDPOINT_OPTIONS or name not in implied or one != implied[name]
    }
    return {**endpoint, "protocoloptions": kept}


def _group(inner: str, group: Tree, _: str) -> Tree:
    plain = {name: value for name, value in group.items() if name != "xid"}
    if isinstance(group.get(inner), dict):
        plain[inner] = map_objects(group[inner], "", lambda resource, _: _without_mirrored(resource))
    return plain


def _without_mirrored(resource: Tree) -> Tree:
    plain = {name: value for name, value in resource.items() if name != "xid"}
    versions = objects(resource, "versions")
    if isinstance(resource.get("meta"), dict):
        newest = default_version({"versions": versions} if versions else resource).get("versionid")
        implied = {"readonly": False, "defaultversionsticky": False, "defaultversionid": newest}
        implied |= {name: resource.get(name) for name in ("createdat", "modifiedat")}
        plain["meta"] = {
            name: one
            for name, one in resource["meta"].items()
            if name not in _IDENTITY and (name not in implied or one != implied[name])
        }
        if not plain["meta"]:
            del plain["meta"]
    if not versions:
        if "ancestorid" in plain and plain["ancestorid"] == plain.get("versionid", "1"):
            del plain["ancestorid"]
        return plain
    default = default_version(resource).get("versionid")
    mirrored = {**versions.get(str(default), {}), "versionid": default}
    ancestors = _ancestors(versions)
    plain = {
        name: value for name, value in plain.items() if name in _KEPT or name not in mirrored or value != mirrored[name]
    }
    plain["versions"] = {
        name: {
            member: value
            for member, value in version.items()
            if member not in _IDENTITY and (member, value) != ("ancestorid", ancestors[name])
        }
        for name, version in versions.items()
    }
    return plain


def _ancestors(versions: Tree) -> dict[str, str]:
    """The ancestor that each Version has where nobody says otherwise: the one before it, the first one itself."""
    ordered = sorted(versions, key=lambda name: version_age(name, versions[name]))
    return {name: ordered[max(position - 1, 0)] for position, name in enumerate(ordered)}
