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


class Field(msgspec.Struct, frozen=True, kw_only=True):
    """What a literal value has to be; a template or an empty text may stand for any of them."""

    kind: Kind = "string"
    least: int = 0
    most: int = 2**63 - 1
    allowed: tuple[str, ...] = ()
    fixed: bool = False
    """Whether it has to be there, as a literal: it tells one definition from another."""


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """An object of the document: fields that are known, and a rule for the names of others, if there can be any."""

    fields: dict[str, Field] = {}
    others: Naming = ""


_TEXT = Field()
_UINT32 = Field(kind="integer", most=2**32 - 1)
_SCHEMA = Field(kind="urireference")
_NAMED_BY_SYMBOLS = Section(others="symbol")

_AMQP_KINDS: dict[str, Field] = {
    "userid": Field(kind="binary"),
    "absoluteexpirytime": Field(kind="timestamp"),
    "creationtime": Field(kind="timestamp"),
    "groupsequence": Field(kind="any"),  # a text here, a number in AMQP: both are taken
}
_MQTT_KINDS: dict[str, Field] = {
    "mqttversion": Field(allowed=("3.1.1", "5.0")),
    "qos": Field(kind="integer", most=2),
    "retain": Field(kind="boolean"),
    "topicname": Field(kind="topic"),
    "payloadformat": Field(kind="integer", most=1),
    "expiryinterval": _UINT32,
    "responsetopic": Field(kind="topic"),
    "correlationdata": Field(kind="binary"),
}
MQTT_5_ONLY = ("payloadformat", "expiryinterval", "responsetopic", "correlationdata", "contenttype")

_AMQP_CLOSED: dict[str, Section] = {
    "header": Section(
        fields={"durable": Field(kind="boolean"), "priority": Field(kind="integer", most=255), "ttl": _UINT32}
    ),
    "properties": Section(fields={name: _AMQP_KINDS.get(name, _TEXT) for name in AMQP_CATALOG_PROPERTIES}),
}

SECTIONS: dict[str, dict[str, Section]] = {
    "CloudEvents": {
        "attributes": Section(
            fields={
                "specversion": Field(allowed=("1.0",)),
                "type": Field(fixed=True),
                "source": Field(kind="urireference"),
                "dataschema": Field(kind="uri"),
                "datacontenttype": Field(kind="mediatype"),
                "time": Field(kind="timestamp"),
                "id": _TEXT,
                "subject": _TEXT,
            },
            others="cloudevents",
        )
    },
    "AMQP": {
        **{name: _AMQP_CLOSED.get(name, _NAMED_BY_SYMBOLS) for name in AMQP_CATALOG_SECTIONS},
        "applicationdata": Section(
            fields={"dataschema": _SCHEMA, "amqpencoding": Field(allowed=("Data", "Value", "Sequence"))}
        ),
    },
    "MQTT": {
        "publish": Section(
            fields={name: _MQTT_KINDS.get(name, _TEXT) for name in ("mqttversion", *MQTT_CATALOG_PUBLISH)}
        ),
        "userproperty": Section(others="text"),
        "payload": Section(fields={"dataschema": _SCHEMA}),
    },
    "NATS": {"headers": Section(others="token"), "payload": Section(fields={"dataschema": _SCHEMA})},  # C-74
}
"""By format; formats that are not here are defined elsewhere, and their documents are taken as they are."""

LOOSE: dict[str, dict[str, Field]] = {
    "NATS": {name: _TEXT for name in NATS_CATALOG if name != "headers"},
}
"""Fields that are in no section."""

COMMON: dict[str, Field] = {"id": _TEXT, "description": _TEXT, "format": _TEXT, "version": Field(kind="integer")}
"""What a document of any format may repeat about itself."""
