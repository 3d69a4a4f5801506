"""Shapes of messages, so that lint need not be repeated for every message of a kind.

Most messages differ only in what they, their types, topics and schemas are called, and rules do not mind what a thing
is called. Where they find nothing in a message that has other names in the same places, they find nothing in this one.
"""

from __future__ import annotations

import re
from typing import Any

from postroom.documents.lint.rule_table import COMPARED
from postroom.messages.definitions.catalog_tree import Tree
from postroom.protocols.protocol_table import wire_named

SHAPED = "/messagegroups/g/messages/m"
_SCHEMA = "/schemagroups/g/schemas/s"
_OWN_NAMES = frozenset({"type", "source", "subject"})
_TYPES = (None, "string", "uritemplate")
_WORDS = re.compile(r"[A-Za-z0-9_./:~-]+\Z")
_TEMPLATE = re.compile(r"[A-Za-z0-9_./:~-]*(?:\{[A-Za-z0-9_]+\}(?:[A-Za-z0-9_./:~-]+|\Z))+\Z")
# Of a schema that is referred to, rules look at the format.
_OF_NO_INTEREST = frozenset({"schemaids", "createdat", "modifiedat"})


def message_shape(tree: Tree, xid: str) -> Tree | None:
    """A message with its group and its schema under names that all share; None where names may matter to rules."""
    _, owners, group_id, _, *message_id = (*xid.split("/"), "", "")[:5]
    if owners != "messagegroups" or not message_id[0] or not tree.keys() <= {"messagegroups", "schemagroups"}:
        return None
    groups = tree["messagegroups"]
    messages = groups.get(group_id, {}).get("messages", {})
    message = messages.get(message_id[0])
    if message is None or len(groups) > 1 or len(messages) > 1 or _has_compared(message):
        return None
    shaped = dict(message)
    if "envelopemetadata" in message:
        shaped["envelopemetadata"] = {
            name: _property(value, name in _OWN_NAMES) if isinstance(value, dict) else value
            for name, value in message["envelopemetadata"].items()
        }
    if "protocoloptions" in message:
        protocol = message.get("protocol") or groups[group_id].get("protocol")
        wire = wire_named(protocol if isinstance(protocol, str) else "")
        named = {option.name for option in wire.options if option.type == "uritemplate" and option.shape == "value"}
        shaped["protocoloptions"] = {
            name: _option(value, name in named) for name, value in message["protocoloptions"].items()
        }
    found: Tree = {"messagegroups": {"g": {**groups[group_id], "messages": {"m": shaped}}}}
    return found | _schema(tree.get("schemagroups", {}), shaped)


def _has_compared(message: Tree) -> bool:
    """Whether it has anything that rules compare, by name or by value, with something else."""
    inner = (message.get("envelopemetadata", {}), message.get("protocoloptions", {}))
    if not all(isinstance(one, dict) for one in inner) or "xref" in message["meta"] or "deprecated" in message["meta"]:
        return True
    return not all(COMPARED.isdisjoint(one) for one in (message, *inner))


def _property(value: Tree, is_named: bool) -> Tree:
    shaped = dict(value)
    if isinstance(shaped.get("description"), str) and shaped["description"]:
        shaped["description"] = "x"
    if is_named and "value" in shaped and shaped.get("type") in _TYPES:
        shaped["value"] = _value(shaped["value"])
    return shaped


def _option(value: Any, is_named: bool) -> Any:
    if isinstance(value, dict):
        return _property(value, is_named)
    return _value(value) if is_named else value


def _value(value: Any) -> Any:
    """A value that is a word or a template like any other; one that is not, as it is."""
    if not isinstance(value, str) or value == "None":
        return value
    if _WORDS.match(value):
        return "x"
    return "x{a}" if _TEMPLATE.match(value) else value


def _schema(groups: Tree, message: Tree) -> Tree:
    """The one schema that a message refers to; others as they are. The message gets the reference that goes with it."""
    if len(groups) == 1:
        ((group_id, group),) = groups.items()
        schemas = group.get("schemas", {})
        xid = f"/schemagroups/{group_id}/schemas/" + next(iter(schemas), "")
        stated = [name for name in ("dataschemauri", "dataschemaxid") if name in message]
        if len(schemas) == 1 and all(message[name] == xid for name in stated):
            message.update(dict.fromkeys(stated, _SCHEMA))
            (schema,) = schemas.values()
            kept = {name: value for name, value in schema.items() if name not in _OF_NO_INTEREST}
            return {"schemagroups": {"g": {**group, "schemas": {"s": kept}}}}
    return {"schemagroups": groups} if groups else {}
