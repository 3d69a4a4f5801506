"""Units of replication: a Group without its Resources, or a Resource with its meta and all its Versions.

Two units are equal when their digests are. A digest covers what an author wrote; it does not cover what a server
keeps by itself (epochs, times, URLs), so that equal content is never written again, whatever the clocks say.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from postroom.model.types import Model, ResourceType
from postroom.registry.changes.original_documents import Original
from postroom.registry.changes.provenance import AUTHORITY, VERSION_URI, accepts_provenance
from postroom.registry.read.document_content import encode_document

Tree = dict[str, Any]

TIMES = ("createdat", "modifiedat")
PROVENANCE = (AUTHORITY, VERSION_URI)
"""What an import adds to a Version (S002 2.2.4, 2.2.5), unless its home had it already."""
_DIGEST_BYTES = 16


class Stamp(msgspec.Struct, frozen=True, array_like=True, order=True):
    """How new a state is by the clock of its home, the only clock that counts.

    A home that went back in time starts a new generation with those who see it happen.
    """

    generation: int = 0
    time: str = ""


class UnitEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A unit in a listing: what has to be known of it to decide whether it is wanted."""

    digest: str
    stamp: Stamp = Stamp()
    home: str = ""
    """The id of the registry where the unit is written, which is not always the one that lists it."""
    authority: str = ""
    """Who is responsible for it (S002 2.2.1); empty: whoever lists it."""
    path: str = ""
    """Its xid at its home, where it is called otherwise there."""
    imported: bool = False
    """Whether the one who lists it has it from elsewhere."""
    link: str = ""
    """By which link it came."""
    taken: str = ""
    """The digest that it had at its source when it came, as long as nobody changed it here."""


class FormerState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A state that a message was in: one of the older versions that the message catalog shows of it."""

    versionid: str
    body: Tree
    """The attributes, with the times."""
    uri: str = ""
    """The absolute URI that it has in every catalog."""
    document: Original | None = None
    """The document it came with."""


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    """A unit with its content: attributes of a Group, or `meta` and `versions` of a Resource."""

    xid: str
    body: Tree
    entry: UnitEntry
    uris: dict[str, str] = {}
    """The absolute URIs of its Versions, by their ids; those that are absent follow from the path at the source."""
    history: tuple[FormerState, ...] | None = None
    """The states that a message was in before, oldest first; None when the one who has it does not know them."""
    documents: dict[str, Original] = {}
    """The documents that its Versions came with through the message catalog, by their ids."""

    @property
    def is_group(self) -> bool:
        """Whether this is a Group."""
        return is_group(self.xid)

    @property
    def is_whole(self) -> bool:
        """Whether it has the parts of a unit; what is in them is for a registry to judge."""
        if self.is_group:
            return True
        meta, versions = self.body.get("meta"), self.body.get("versions")
        is_reference = isinstance(meta, dict) and "xref" in meta and versions is None
        holds_versions = isinstance(versions, dict) and versions and all(isinstance(v, dict) for v in versions.values())
        return isinstance(meta, dict) and bool(is_reference or holds_versions)

    @property
    def versions(self) -> dict[str, Tree]:
        """The Versions of a Resource; a Group has none, whatever its attributes are called."""
        return {} if self.is_group else self.body.get("versions") or {}


class ResourceShape(msgspec.Struct, frozen=True):
    """What has to be known of a Resource type to read its JSON."""

    singular: str
    hasdocument: bool
    has_room: bool = True
    """Whether its Versions can say whose they are."""
    has_states: bool = False
    """Whether the states that one was in are the versions that the message catalog shows."""


class GroupShape(msgspec.Struct, frozen=True):
    """What has to be known of a Group type to read its JSON."""

    singular: str
    resources: dict[str, ResourceShape]


Shapes = Mapping[str, GroupShape]


def is_group(xid: str) -> bool:
    """Whether an xid is that of a Group."""
    return xid.count("/") == 2


def unit_xid(xid: str) -> str:
    """The unit that an entity belongs to; empty for the Registry and its configuration."""
    parts = xid.split("/")
    return "/".join(parts[:5]) if len(parts) > 4 else xid if len(parts) == 3 else ""


def group_xid(xid: str) -> str:
    """The Group that a unit is, or is in."""
    return "/".join(xid.split("/")[:3])


def shapes_of(model: Model) -> Shapes:
    """The shapes of a model."""
    return {
        plural: GroupShape(
            group_type.singular,
            {
                name: ResourceShape(one.singular, one.hasdocument, accepts_provenance(one), has_states(plural, one))
                for name, one in group_type.resources.items()
            },
        )
        for plural, group_type in model.groups.items()
    }


def has_states(groups: str, resource_type: ResourceType) -> bool:
    """Whether Resources of a type are message definitions that keep one Version, so that the others are history."""
    return (groups, resource_type.plural, resource_type.maxversions) == ("messagegroups", "messages", 1)


def digest_of(
    body: Tree,
    shape: ResourceShape | None,
    history: Sequence[FormerState] | None = None,
    documents: Mapping[str, Original] | None = None,
) -> str:
    """The digest of a unit; former states and documents count where there are any."""
    if shape is None:
        content: Any = _without(body, TIMES)
    elif "xref" in body["meta"]:
        content = {"xref": body["meta"]["xref"]}
    else:
        versions = {one: _plain(version, shape) for one, version in body["versions"].items()}
        content = {"meta": _without(body["meta"], TIMES), "versions": versions}
        if history:
            content["$history"] = [_state_digest(one.body, one.document) for one in history]
        if documents:
            content["$documents"] = {one: _document_digest(document) for one, document in documents.items()}
    return hashlib.blake2b(msgspec.json.encode(content, order="sorted"), digest_size=_DIGEST_BYTES).hexdigest()


def state_digests(unit: Unit) -> list[str]:
    """The digests of all states of a message, the present one last."""
    former = [_state_digest(one.body, one.document) for one in unit.history or ()]
    return former + [_state_digest(body, unit.documents.get(one)) for one, body in unit.versions.items()]


def digest_of_states(digests: Sequence[str]) -> str:
    """One digest of states in their order."""
    return hashlib.blake2b("".join(digests).encode(), digest_size=_DIGEST_BYTES).hexdigest()


def _state_digest(body: Tree, document: Original | None) -> str:
    """The digest of a state: its URI may be implied, so that it is not the same text everywhere."""
    content = [_without(body, (*TIMES, *PROVENANCE, "ancestorid")), _document_digest(document) if document else None]
    return hashlib.blake2b(msgspec.json.encode(content, order="sorted"), digest_size=_DIGEST_BYTES).hexdigest()


def _document_digest(document: Original) -> str:
    text = document.contenttype.encode() + b"\0" + document.content
    return hashlib.blake2b(text, digest_size=_DIGEST_BYTES).hexdigest()


def newest_time(body: Tree, shape: ResourceShape | None) -> str:
    """The latest `modifiedat` in a unit."""
    holders = [body] if shape is None else [body["meta"], *(body.get("versions") or {}).values()]
    return max((str(one["modifiedat"]) for one in holders if one.get("modifiedat")), default="")


def combined(entries: Mapping[str, str]) -> str:
    """One digest of many, by name; the order does not matter."""
    total = 0
    for name, digest in entries.items():
        total += int.from_bytes(hashlib.blake2b(f"{name}\0{digest}".encode(), digest_size=_DIGEST_BYTES).digest())
    return f"{total % 2 ** (8 * _DIGEST_BYTES):0{2 * _DIGEST_BYTES}x}"


def document_bytes(version: Tree, shape: ResourceShape) -> bytes | None:
    """The document of a Version as it is shown inside JSON; None when it has none there."""
    encoded = version.get(shape.singular + "base64")
    if isinstance(encoded, str):
        try:
            return base64.b64decode(encoded, validate=True)
        except (ValueError, binascii.Error):
            return encoded.encode()
    return encode_document(version[shape.singular]) if shape.singular in version else None


def _plain(version: Tree, shape: ResourceShape) -> Tree:
    plain = _without(version, TIMES)
    if not shape.hasdocument:
        return plain
    content = document_bytes(version, shape)
    for name in (shape.singular, shape.singular + "base64"):
        plain.pop(name, None)
    if content is not None:
        plain["$document"] = hashlib.blake2b(content, digest_size=_DIGEST_BYTES).hexdigest()
    return plain


def _without(body: Tree, names: tuple[str, ...]) -> Tree:
    return {name: value for name, value in body.items() if name not in names}
