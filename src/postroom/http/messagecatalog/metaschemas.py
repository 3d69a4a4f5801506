"""The metaschemas of the message catalog (its section 3) as data: the sections of each format and what is in them."""

from __future__ import annotations

from typing import Literal

import msgspec

from postroom.documents.dialects.name_tables import (
    AMQP_CATALOG_PROPERTIES,
    AMQP_CATALOG_SECTIONS,
    MQTT_CATALOG_PUBLISH,
    NATS_CATALOG,
)

Kind = Literal[
    "any",
    "attribute",
    "binary",
    "boolean",
    "integer",
    "mediatype",
    "string",
    "timestamp",
    "topic",
    "uri",
    "urireference",
]
Naming = Literal["", "cloudevents", "symbol", "text", "token"]


class FieldRule(msgspec.Struct, frozen=True, kw_only=True):
    """What a literal value has to be; a template or an empty text may stand for any of them."""

    kind: Kind = "string"
    least: int = 0
    most: int = 2**63 - 1
    allowed: tuple[str, ...] = ()
    fixed: bool = False
    """Whether it has to be there, as a literal: it tells one definition from another."""


class SectionRule(msgspec.Struct, frozen=True, kw_only=True):
    """An object of the document: fields that are known, and a rule for the names of others, if there can be any."""

    fields: dict[str, FieldRule] = {}
    others: Naming = ""


_TEXT = FieldRule()
_UINT32 = FieldRule(kind="integer", most=2**32 - 1)
_SCHEMA = FieldRule(kind="urireference")
_NAMED_BY_SYMBOLS = SectionRule(others="symbol")

_AMQP_KINDS: dict[str, FieldRule] = {
    "userid": FieldRule(kind="binary"),
    "absoluteexpirytime": FieldRule(kind="timestamp"),
    "creationtime": FieldRule(kind="timestamp"),
    "groupsequence": FieldRule(kind="any"),  # a text here, a number in AMQP: both are taken
}
_MQTT_KINDS: dict[str, FieldRule] = {
    "mqttversion": FieldRule(allowed=("3.1.1", "5.0")),
    "qos": FieldRule(kind="integer", most=2),
    "retain": FieldRule(kind="boolean"),
    "topicname": FieldRule(kind="topic"),
    "payloadformat": FieldRule(kind="integer", most=1),
    "expiryinterval": _UINT32,
    "responsetopic": FieldRule(kind="topic"),
    "correlationdata": FieldRule(kind="binary"),
}
MQTT_5_ONLY = ("payloadformat", "expiryinterval", "responsetopic", "correlationdata", "contenttype")

_AMQP_CLOSED: dict[str, SectionRule] = {
    "header": SectionRule(
        fields={"durable": FieldRule(kind="boolean"), "priority": FieldRule(kind="integer", most=255), "ttl": _UINT32}
    ),
    "properties": SectionRule(fields={name: _AMQP_KINDS.get(name, _TEXT) for name in AMQP_CATALOG_PROPERTIES}),
}

SECTIONS: dict[str, dict[str, SectionRule]] = {
    "CloudEvents": {
        "attributes": SectionRule(
            fields={
                "specversion": FieldRule(allowed=("1.0",)),
                "type": FieldRule(fixed=True),
                "source": FieldRule(kind="urireference"),
                "dataschema": FieldRule(kind="uri"),
                "datacontenttype": FieldRule(kind="mediatype"),
                "time": FieldRule(kind="timestamp"),
                "id": _TEXT,
                "subject": _TEXT,
            },
            others="cloudevents",
        )
    },
    "AMQP": {
        **{name: _AMQP_CLOSED.get(name, _NAMED_BY_SYMBOLS) for name in AMQP_CATALOG_SECTIONS},
        "applicationdata": SectionRule(
            fields={"dataschema": _SCHEMA, "amqpencoding": FieldRule(allowed=("Data", "Value", "Sequence"))}
        ),
    },
    "MQTT": {
        "publish": SectionRule(
            fields={name: _MQTT_KINDS.get(name, _TEXT) for name in ("mqttversion", *MQTT_CATALOG_PUBLISH)}
        ),
        "userproperty": SectionRule(others="text"),
        "payload": SectionRule(fields={"dataschema": _SCHEMA}),
    },
    "NATS": {"headers": SectionRule(others="token"), "payload": SectionRule(fields={"dataschema": _SCHEMA})},  # C-74
}
"""By format; formats that are not here are defined elsewhere, and their documents are taken as they are."""

LOOSE: dict[str, dict[str, FieldRule]] = {
    "NATS": {name: _TEXT for name in NATS_CATALOG if name != "headers"},
}
"""Fields that are in no section."""

COMMON: dict[str, FieldRule] = {
    "id": _TEXT,
    "description": _TEXT,
    "format": _TEXT,
    "version": FieldRule(kind="integer"),
}
"""What a document of any format may repeat about itself."""
