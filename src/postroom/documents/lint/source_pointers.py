"""Places of the 1.0-rc4 tree in the words of the document it was read from, so that a finding can be found there.

Rules look at older documents in the names of 1.0-rc4. What a step is called in the document is tried name by name; the
way that leads deepest is the place, and where the document says nothing, what would have to say it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from postroom.documents.dialects.detect import dialect_of
from postroom.documents.dialects.name_tables import (
    AMQP_CATALOG_PROPERTIES,
    AMQP_CATALOG_SECTIONS,
    CATALOG_ATTRIBUTES,
    CATALOG_COLLECTIONS,
    ENDPOINT_OPTIONS,
    MESSAGE_ATTRIBUTES,
    MQTT_CATALOG_PUBLISH,
    NATS_CATALOG,
    OLD_MESSAGE_ATTRIBUTES,
    SERVICE_ATTRIBUTES,
    SERVICE_COLLECTIONS,
)
from postroom.messages.definitions.catalog_tree import Tree
from postroom.model.json_pointers import pointer

Way = tuple[str, ...]

# Members whose content stands elsewhere or deeper in older documents.
_ELSEWHERE: dict[str, tuple[Way, ...]] = {
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
    SERVICE_COLLECTIONS,
    SERVICE_ATTRIBUTES,
    CATALOG_COLLECTIONS,
    CATALOG_ATTRIBUTES,
    MESSAGE_ATTRIBUTES,
    ENDPOINT_OPTIONS,
    AMQP_CATALOG_SECTIONS,
    AMQP_CATALOG_PROPERTIES,
    MQTT_CATALOG_PUBLISH,
    NATS_CATALOG,
)


# How 0.5 calls what sentences of rules name.
_WORDS = {**OLD_MESSAGE_ATTRIBUTES, "envelopemetadata": "metadata"}
_WORD = re.compile(rf"\b({'|'.join(_WORDS)})\b")


def own_words(sentence: str) -> str:
    """A sentence of a rule with the names of members that 0.5 has."""
    return _WORD.sub(lambda found: _WORDS[found[1]], sentence)


def own_place(document: Tree, place: str) -> str:
    """The pointer into a document of an older dialect that a pointer into its tree means."""
    steps = tuple(step.replace("~1", "/").replace("~0", "~") for step in place.split("/")[1:])
    if dialect_of(document) == "catalog" and "messagecatalog" not in document:  # a group, or one version, on its own
        steps = steps[2:] if "messagedefinitions" in document else steps[4:]
    return pointer(_deepest(document, steps)[1])


def _deepest(value: Any, steps: Way) -> tuple[int, Way]:
    """How many steps can be gone from a value, and the way they take."""
    if not steps:
        return 0, ()
    best: tuple[int, Way] = (0, ())
    for way, below in _candidates(value, steps[0]):
        found, further = _deepest(below, steps[1:])
        if found + 1 > best[0]:
            best = found + 1, way + further
    return best


def _candidates(value: Any, step: str) -> Iterator[tuple[Way, Any]]:
    """What a step may mean in a document, likeliest first."""
    if isinstance(value, list):
        yield from _item(value, step)
        return
    if not isinstance(value, dict):
        return
    for way in _ways(step):
        below: Any = value
        for name in way:
            below = below.get(name) if isinstance(below, dict) else None
        if below is not None:
            yield way, below
    versions = value.get("versions")  # what a definition of a message catalog says is in its versions
    if isinstance(versions, dict) and step not in versions:
        for name, version in versions.items():
            yield from ((("versions", name, *way), below) for way, below in _candidates(version, step))


def _ways(step: str) -> Iterator[Way]:
    yield (step,)
    if step in _IDS:
        yield ("id",)
    for names in _RENAMED:
        yield from ((theirs,) for theirs, ours in names.items() if ours == step)
    if "_" in step:
        yield (step.replace("_", "-"),)
    if "-" in step:
        yield (step.replace("-", "_"),)
    yield from _ELSEWHERE.get(step, ())


def _item(value: list[Any], step: str) -> Iterator[tuple[Way, Any]]:
    """An item by its number, also one that is an object with a single name; or the definition with that id."""
    if step.isdecimal() and int(step) < len(value):
        item = value[int(step)]
        if isinstance(item, dict) and len(item) == 1:
            ((name, inner),) = item.items()
            if isinstance(inner, dict):
                yield (step, name), inner
        yield (step,), item
    for position, item in enumerate(value):
        if isinstance(item, dict) and item.get("id") == step:
            yield (str(position),), item
