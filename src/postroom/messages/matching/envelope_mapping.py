"""Protocol-native messages as CloudEvents: where a definition has both aspects, the variables that the protocol binds
fill the envelope (message specification, "Context Attributes")."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import msgspec

from postroom.errors import MakeRefused
from postroom.messages.definitions.constraints import Check
from postroom.protocols.cloudevents import Message


def envelope_from(checks: Iterable[Check], variables: dict[str, str], message: Message) -> dict[str, Any] | None:
    """The attributes of the event that a message stands for; None when the variables leave a required one open."""
    attributes: dict[str, Any] = {}
    for check in checks:
        name = check.path[0]
        value = _value(check, variables)
        if name == "datacontenttype" and message.contenttype:
            if check.problem(message.contenttype, {}) is not None:
                return None
            value = message.contenttype
        if value is None and name == "id":
            value = _identity(message)
        if value is not None:
            attributes[name] = value
        elif check.constraint.required:
            return None
    return attributes


def _value(check: Check, variables: dict[str, str]) -> Any:
    if check.constant is not None:
        return check.constant if check.has_own_value else None
    if check.template is not None and check.template.is_filled_by(variables):
        try:
            return check.template.expand(variables)
        except MakeRefused:  # a text that would not say which value is which
            return None
    return None


def _identity(message: Message) -> str:
    # The same message gets the same id, whenever and wherever it is read.
    digest = hashlib.sha256(msgspec.json.encode([message.protocol, message.metadata], order="deterministic"))
    digest.update(message.body)
    return digest.hexdigest()[:32]
