"""Pointers into the 1.0-rc4 tree as pointers into the document it was read from, where a finding is to be shown.

Rules look at older documents in the names of 1.0-rc4. Every name that a step may have in the document is tried; the
path that leads deepest counts, so that a member which the document lacks is reported where it would have to be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from postroom.documents.dialects import name_tables
from postroom.documents.dialects.detect import dialect_of
from postroom.documents.dialects.messagecatalog_ids import catalog_id_of
from postroom.messages.definitions.catalog_tree import Tree
from postroom.model.json_pointers import pointer

Path = tuple[str, ...]

# Members whose content stands elsewhere or deeper in older documents.
_ELSEWHERE: dict[str, tuple[Path, ...]] = {
    "envelope": (("format",),),
    "protocol": (("binding",), ("config", "protocol"), ("format",)),
    "envelopemetadata": (("metadata", "attributes"), ("metadata",), ("attributes",)),
    "protocoloptions": (("message",), ("metadata",), ("config", "options"), ("config",), ("publish",), ()),
    "deployed": (("strict",),),
    "meta": ((),),
    "xref": (("uri",),),
    "key_base64": (("key",),),
    "user_properties": (("user-properties",), ("userproperty",)),
    "dataschemauri": (("payload", "dataschema"), ("applicationdata", "dataschema"), ("attributes", "dataschema")),
    "versionid": (("version",), ("id",)),
    "value": ((),),
    "uri": ((),),
}
_IDS = ("registryid", "endpointid", "messagegroupid", "schemagroupid", "messageid", "schemaid")
_RENAMED = (
    name_tables.SERVICE_COLLECTIONS,
    name_tables.SERVICE_ATTRIBUTES,
    name_tables.CATALOG_COLLECTIONS,
    name_tables.CATALOG_ATTRIBUTES,
    name_tables.MESSAGE_ATTRIBUTES,
    name_tables.ENDPOINT_OPTIONS,
    name_tables.AMQP_CATALOG_SECTIONS,
    name_tables.AMQP_CATALOG_PROPERTIES,
    name_tables.MQTT_CATALOG_PUBLISH,
    name_tables.NATS_CATALOG,
)


# Names of 0.5 for members that the sentences of rules mention; the last ones are those of the service.
_V0_5_NAMES = {
    **name_tables.OLD_MESSAGE_ATTRIBUTES,
    **{ours: theirs for theirs, ours in name_tables.ENDPOINT_OPTIONS.items()},
    "cleanstart": "clean-session",
    "bootstrap.servers": "endpoints",
    "envelopemetadata": "metadata",
    "protocoloptions": "message",
    "envelope": "format",
    "protocol": "binding",
}
_SERVICE_NAMES = {
    **_V0_5_NAMES,
    **{ours: theirs for theirs, ours in name_tables.SERVICE_ATTRIBUTES.items()},
    "messagegroups": "definitionGroups",
    "schemagroups": "schemaGroups",
    "protocoloptions": "metadata",
    "protocol": "format",
    "dataschemaxid": "schemaurl",
}
# "envelope" and "protocol" are names of members only where something is said about what they are.
_WORDS = r"\b(?:envelope|protocol)(?= is\b| out\b)"
_NAME = re.compile(
    rf"\b(?:{'|'.join(re.escape(name) for name in _SERVICE_NAMES if name not in ('envelope', 'protocol'))})\b|{_WORDS}"
)


def with_v0_5_names(sentence: str, *, service: bool) -> str:
    """A sentence of a rule with the names of members that 0.5, or its service, has."""
    names = _SERVICE_NAMES if service else _V0_5_NAMES
    named = _NAME.sub(lambda found: names.get(found[0], found[0]), sentence)
    return named.replace("/messages/", "/definitions/") if service else named


def source_pointer(document: Tree, tree_pointer: str) -> str:
    """The pointer into a document of an older dialect that a pointer into its tree means."""
    steps = tuple(step.replace("~1", "/").replace("~0", "~") for step in tree_pointer.split("/")[1:])
    if dialect_of(document) == "catalog" and "messagecatalog" not in document:  # a group, or one version, on its own
        steps = steps[2:] if "messagedefinitions" in document else steps[4:]
    return pointer(_deepest(document, steps)[1])


def _deepest(value: Any, steps: Path) -> tuple[int, Path]:
    """How many steps can be gone from a value, and the path they take."""
    if not steps:
        return 0, ()
    best: tuple[int, Path] = (0, ())
    for path, below in _candidates(value, steps[0]):
        found, further = _deepest(below, steps[1:])
        if found + 1 > best[0]:
            best = found + 1, path + further
    return best


def _candidates(value: Any, step: str) -> Iterator[tuple[Path, Any]]:
    """What a step may mean in a document, likeliest first."""
    if isinstance(value, list):
        yield from _item(value, step)
        return
    if not isinstance(value, dict):
        return
    for path in _paths(step):
        below: Any = value
        for name in path:
            below = below.get(name) if isinstance(below, dict) else None
        if below is not None:
            yield path, below
    versions = value.get("versions")  # what a definition of a message catalog says is in its versions
    if isinstance(versions, dict) and step not in versions:
        for name, version in versions.items():
            yield from ((("versions", name, *path), below) for path, below in _candidates(version, step))


def _paths(step: str) -> Iterator[Path]:
    yield (step,)
    if ":" in step:
        yield (catalog_id_of(step),)  # the id that a message catalog has
    if step in _IDS:
        yield ("id",)
    for names in _RENAMED:
        yield from ((theirs,) for theirs, ours in names.items() if ours == step)
    if "_" in step:
        yield (step.replace("_", "-"),)
    if "-" in step:
        yield (step.replace("-", "_"),)
    yield from _ELSEWHERE.get(step, ())


def _item(value: list[Any], step: str) -> Iterator[tuple[Path, Any]]:
    """An item by its number, also one that is an object with a single name; or the definition with that id."""
    if step.isdecimal() and int(step) < len(value):
        item = value[int(step)]
        if isinstance(item, dict) and len(item) == 1:
            ((name, inner),) = item.items()
            if isinstance(inner, dict):
                yield (step, name), inner
        yield (step,), item
    for position, item in enumerate(value):
        if isinstance(item, dict) and item.get("id") in (step, catalog_id_of(step)):
            yield (str(position),), item
