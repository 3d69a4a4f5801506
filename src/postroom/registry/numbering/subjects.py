"""Names of subjects and contexts, as schema registries have them, and the ids of Groups and schemas that they mean.

A subject is anything; an id has few characters, and no other one differs from it by case only. So other characters
are escaped as `~` and two hexadecimal digits for each byte, and a name that is too long, or taken in another case, gets
a hash; then its Versions keep the exact name.
"""

from __future__ import annotations

import hashlib
import re
from urllib.parse import unquote

import msgspec

from postroom.model.names import is_entity_id
from postroom.registry.entities import Entity
from postroom.registry.numbering.numbered_writes import GROUPS, SCHEMAS
from postroom.registry.numbering.version_numbers import kept_versions
from postroom.registry.transaction_interface import Transaction

DEFAULT = "."
"""The context of subjects that name none."""
GLOBAL = ".__GLOBAL"
"""What is set for this context holds for all."""
EXACT_NAME = "schemasubject"
_LONGEST_ID = 128
_READABLE = 80
_HASHED = "~~"
_ESCAPED = re.compile(r"~([0-9A-F]{2})")
_PLAIN = re.compile(r"[A-Za-z0-9_.:@-]")


class Subject(msgspec.Struct, frozen=True):
    """A subject: its context, `.` or `.name`, and its name in it, which is empty for the context itself."""

    context: str
    name: str

    def __str__(self) -> str:
        return self.name if self.context == DEFAULT else f":{self.context}:{self.name}"


def parse_subject(text: str, context: str = DEFAULT) -> Subject:
    """A subject as it is written: `name`, in the context that is given, or `:.context:name`."""
    if text.startswith(":.") and ":" in text[2:]:
        named, _, name = text[1:].partition(":")
        return Subject(named, name)
    return Subject(context, text)


def parse_context(text: str) -> str:
    """A context as it is written in a path: `.name`, `:.name:` or `name`."""
    name = text.removeprefix(":").removesuffix(":")
    return name if name.startswith(".") else f".{name}"


class Contexts:
    """Which Group is which context: the setting names that of the default context, the others have their own names."""

    def __init__(self, default_group: str) -> None:
        self._default_group = default_group

    def group(self, context: str) -> str:
        """The id of the Group of a context."""
        return self._default_group if context == DEFAULT else escaped_id(context.removeprefix("."))

    def context(self, group: str) -> str:
        """The context that a Group is."""
        return DEFAULT if group == self._default_group else f".{_unescaped(group)}"

    def normal(self, subject: Subject) -> Subject:
        """A subject in the one spelling of its context."""
        context = subject.context
        return subject if context == GLOBAL else Subject(self.context(self.group(context)), subject.name)

    def group_xid(self, context: str) -> str:
        """The xid of the Group of a context."""
        return f"/{GROUPS}/{self.group(context)}"


def find_resource(tx: Transaction, group_xid: str, name: str) -> str:
    """The xid of the schema of a subject; where there is none, the one that a new one would get."""
    collection = f"{group_xid}/{SCHEMAS}"
    for entity_id in dict.fromkeys((escaped_id(name), _hashed_id(name), name)):
        xid = f"{collection}/{entity_id}"
        if is_entity_id(entity_id) and subject_name(tx, xid) == name:
            return xid
    plain = escaped_id(name)
    taken = tx.sibling(collection, plain)
    return f"{collection}/{plain if taken in (None, plain) else _hashed_id(name)}"


def subject_name(tx: Transaction, xid: str) -> str:
    """The name of the subject that a schema is; empty where there is neither the schema nor a deleted Version of it."""
    entity_id = xid.rpartition("/")[2]
    resource = tx.entity(xid)
    if _HASHED not in entity_id:
        return _unescaped(entity_id) if resource is not None or kept_versions(tx, xid) else ""
    if resource is not None:
        default = tx.entity(f"{xid}/versions/{resource.attributes.get('defaultversionid')}")
        return _exact(default) or _unescaped(entity_id)
    return next((_exact(one.entity) for one in kept_versions(tx, xid)), "")


def needs_exact_name(xid: str) -> bool:
    """Whether an id does not tell the name that it stands for."""
    return _HASHED in xid.rpartition("/")[2]


def escaped_id(name: str) -> str:
    """The id of a Group or a schema for a name, with a hash where the name is too long."""
    escaped = "".join(one if _PLAIN.match(one) else _hex(one) for one in name)
    if escaped and not is_entity_id(escaped[0]):
        # An id does not begin with an escape; the underscore before it is one that no name has there.
        escaped = "_" + (escaped if escaped[0] == "~" else _hex(escaped[0]) + escaped[1:])
    elif escaped.startswith("_~"):
        escaped = "_" + _hex("_") + escaped[1:]
    return escaped if 0 < len(escaped) <= _LONGEST_ID else _hashed_id(name)


def _hashed_id(name: str) -> str:
    readable = re.sub(r"[^A-Za-z0-9_.-]", "_", name)[:_READABLE]
    start = readable if readable and is_entity_id(readable[0]) else f"_{readable}"
    return f"{start}{_HASHED}{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


def _unescaped(entity_id: str) -> str:
    escaped = entity_id[1:] if entity_id.startswith("_~") else entity_id
    try:
        name = unquote(_ESCAPED.sub(r"%\1", escaped.replace("%", "%25")), errors="strict")
    except UnicodeDecodeError:
        return entity_id
    return name if escaped_id(name) == entity_id else entity_id


def _exact(version: Entity | None) -> str:
    name = version.attributes.get(EXACT_NAME) if version is not None else None
    return name if isinstance(name, str) else ""


def _hex(character: str) -> str:
    return "".join(f"~{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))
