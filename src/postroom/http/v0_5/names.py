"""Names that 0.5 has for the types of the model, and paths of 0.5 for xids."""

from __future__ import annotations

from urllib.parse import unquote

from postroom.documents.dialects.name_tables import SERVICE_COLLECTIONS
from postroom.model.types import GroupType, Model, ResourceType
from postroom.registry.paths import EntityPath, resolve
from postroom.registry.problems import RegistryProblem

_THEIRS = {ours: theirs for theirs, ours in SERVICE_COLLECTIONS.items()}
# C-70: an example writes `definitiongroups`.
_OURS = {spelling: ours for theirs, ours in SERVICE_COLLECTIONS.items() for spelling in (theirs, theirs.lower())}
_VERSIONS = 4
NAME = "v0.5"
"""Under which name the service is mounted."""


def plural(entity_type: GroupType | ResourceType) -> str:
    """The name of a collection."""
    return _THEIRS.get(entity_type.plural, entity_type.plural)


def singular(entity_type: GroupType | ResourceType) -> str:
    """The name of a type."""
    return _THEIRS[entity_type.plural].removesuffix("s") if entity_type.plural in _THEIRS else entity_type.singular


def uri_name(resource_type: ResourceType) -> str:
    """`RESOURCEURI`: the attribute of a Resource that is stored elsewhere."""
    return singular(resource_type) + "URI"


def root_of(base: str) -> str:
    """The base URL of the registry, from that of its 0.5 mount."""
    return base.removesuffix(f"/{NAME}").removesuffix("/-")


def resolve_path(model: Model, path: str) -> EntityPath:
    """Resolve a path of 0.5; names of 1.0 that 0.5 does not have lead nowhere."""
    entity_path = resolve(model, _native(path))
    if entity_path.details or entity_path.kind == "meta":
        raise RegistryProblem("not_found", path)
    return entity_path


def v0_5_path(xid: str) -> str:
    """The path of 0.5 for an xid, or for anything that begins like one."""
    parts = xid.split("/")
    for position in (1, 3):
        if len(parts) > position:
            parts[position] = _THEIRS.get(parts[position], parts[position])
    return "/".join(parts)


def corrected_version_path(path: str) -> str:
    """The right path for `…/version/3`, which an example of the text has (C-67); empty for any other."""
    parts = path.split("/")
    if len(parts) > _VERSIONS + 2 and parts[_VERSIONS + 1] == "version":
        return "/".join([*parts[: _VERSIONS + 1], "versions", *parts[_VERSIONS + 2 :]])
    return ""


def _native(path: str) -> str:
    parts = path.split("/")
    for position in (1, 3):
        if len(parts) > position and parts[position]:
            name = unquote(parts[position])
            if name in _THEIRS:
                raise RegistryProblem("not_found", path, detail=f"0.5 calls them {_THEIRS[name]}.")
            parts[position] = _OURS.get(name, parts[position])
    return "/".join(parts)
