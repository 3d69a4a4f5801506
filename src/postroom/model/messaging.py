"""The messaging model we ship: schema groups, message groups and endpoints.

It is the specification's model, amended where its text and its model files disagree (VERSIONS.md part D). Property
members carry no defaults (C-08): what an author wrote is what is stored; `messages` fills in when it resolves.
"""

from __future__ import annotations

from typing import Any

from postroom.model.core_attributes import SPECVERSION
from postroom.model.messaging_options import ENDPOINT_OPTIONS, ENVELOPE_OPTIONS, MESSAGE_OPTIONS, property_object

Definition = dict[str, Any]

_DOMAINS = "https://xregistry.io/xreg/domains"
_ANYTHING: Definition = {"*": {"type": "any"}}


def _versions(domain: str) -> Definition:
    return {"modelversion": SPECVERSION, "modelcompatiblewith": f"{_DOMAINS}/{domain}/specs/model.json"}


def _selected(options: dict[str, Definition], name: str) -> Definition:
    return {selector: {"siblingattributes": {name: definition}} for selector, definition in options.items()}


_CLOUDEVENTS: Definition = {
    "CloudEvents/1.0": {
        "siblingattributes": {
            "envelopemetadata": {
                "type": "object",
                "description": "Constraints on the context attributes of the event, one property each.",
                "attributes": {
                    "specversion": property_object("string"),
                    "id": property_object("string", "uritemplate"),
                    "type": property_object(),
                    "source": property_object("string", "uri", "urireference", "uritemplate"),
                    "subject": property_object(),
                    "time": property_object("timestamp"),
                    "dataschema": property_object("string", "uri", "urireference", "uritemplate"),
                    "datacontenttype": property_object(),
                    "*": property_object(),
                },
            },
            "envelopeoptions": ENVELOPE_OPTIONS,
        }
    }
}

_SCHEMAGROUPS: Definition = {
    "singular": "schemagroup",
    "description": "Payload schemas that belong together.",
    **_versions("schema"),
    "attributes": {
        "format": {"type": "string", "description": "Format that every schema of the group has, as NAME/VERSION."},
        **_ANYTHING,
    },
    "constraints": {"schemas.format": {"equals": "format"}},
    "resources": {
        "schemas": {
            "singular": "schema",
            "description": "A payload schema with its history.",
            **_versions("schema"),
            "validateformat": True,
            "validatecompatibility": True,
            "attributes": {
                "format": {
                    "type": "string",
                    "required": True,
                    "matchversions": True,
                    "description": "Language of the schema as NAME/VERSION, the same in all Versions.",
                },
                "schemaids": {
                    "type": "array",
                    "item": {"type": "uinteger"},
                    "description": "Ids that schema registries gave this Version, as payloads carry them in front.",
                },
                "schemaversion": {
                    "type": "uinteger",
                    "description": "Number of this Version for schema registries, where its id is another.",
                },
                "schemaguid": {
                    "type": "string",
                    "description": "GUID that another schema registry gave this Version.",
                },
                "schemametadata": {
                    "type": "string",
                    "description": "Metadata that came with this Version through the schema registry API, as JSON.",
                },
                "schemarules": {
                    "type": "string",
                    "description": "Rules that came with this Version through the schema registry API, as JSON.",
                },
                "references": {
                    "type": "array",
                    "item": {
                        "type": "object",
                        "attributes": {
                            "name": {"type": "string", "required": True, "description": "What the document calls it."},
                            "xid": {"type": "xid", "required": True, "target": "/schemagroups/schemas[/versions]"},
                        },
                    },
                    "description": "Other schemas that the document refers to by names of its own.",
                },
                **_ANYTHING,
            },
        }
    },
}

_MESSAGES: Definition = {
    "singular": "message",
    "description": "One message as it appears on a channel: envelope, protocol and payload.",
    **_versions("message"),
    "maxversions": 1,
    "hasdocument": False,
    "attributes": {
        # C-01: the text says `basemessage`; the two other spellings are read as this one.
        "basemessage": {
            "type": "uri",
            "target": "/messagegroups/messages[/versions]",
            "description": "Definition that this one completes.",
        },
        "envelope": {
            "type": "string",
            "description": "Metadata convention, as NAME/VERSION.",
            "ifvalues": _CLOUDEVENTS,
        },
        "protocol": {
            "type": "string",
            "description": "Protocol that carries the message, as NAME or NAME/VERSION.",
            "ifvalues": _selected(MESSAGE_OPTIONS, "protocoloptions"),
        },
        "dataschemaformat": {"type": "string", "description": "Language of the payload schema, as NAME/VERSION."},
        "dataschema": {"type": "any", "description": "Payload schema, written in place."},
        "dataschemauri": {"type": "uri", "description": "Where the payload schema is."},
        "dataschemaxid": {"type": "xid", "description": "Schema of this registry that the payload follows."},
        "datacontenttype": {"type": "string", "description": "Media type of the payload."},
        **_ANYTHING,  # C-16: other envelopes and protocols need a place for their metadata and options
    },
}

_MESSAGEGROUPS: Definition = {
    "singular": "messagegroup",
    "description": "Message definitions that belong together.",
    **_versions("message"),
    "attributes": {
        "envelope": {"type": "string", "description": "Envelope that every message of the group has."},
        "protocol": {"type": "string", "description": "Protocol that every message of the group has."},
        **_ANYTHING,
    },
    "constraints": {  # C-07
        "messages.envelope": {"equals": "envelope"},
        "messages.protocol": {"equals": "protocol"},
    },
    "resources": {"messages": _MESSAGES},
}

_ENDPOINTS: Definition = {
    "singular": "endpoint",
    "description": "A place where messages are produced, consumed or subscribed to.",
    **_versions("endpoint"),
    "attributes": {
        # C-32: as in the published model, the enum of an array is about its items.
        "usage": {
            "type": "array",
            "item": {"type": "string"},
            "enum": ["subscriber", "consumer", "producer"],
            "required": True,
            "description": "What clients do here: subscriber, consumer, producer.",
        },
        "channel": {"type": "string", "description": "Name that groups endpoints of one flow of messages."},
        "envelope": {
            "type": "string",
            "description": "Envelope of all messages here.",
            "ifvalues": {"CloudEvents/1.0": {"siblingattributes": {"envelopeoptions": ENVELOPE_OPTIONS}}},
        },
        "protocol": {
            "type": "string",
            "description": "Protocol spoken here.",
            "ifvalues": _selected(ENDPOINT_OPTIONS, "protocoloptions"),
        },
        "messagegroups": {
            "type": "array",
            "item": {"type": "uri", "target": "/messagegroups"},  # C-33
            "description": "Groups whose messages are used here.",
        },
        **_ANYTHING,
    },
    "ximportresources": ["/messagegroups/messages"],
}

MESSAGING: Definition = {
    "description": "Payload schemas, message definitions and the endpoints that use them.",
    "groups": {"schemagroups": _SCHEMAGROUPS, "messagegroups": _MESSAGEGROUPS, "endpoints": _ENDPOINTS},
}
