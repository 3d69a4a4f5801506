"""AMQP 1.0."""

from postroom.protocols.protocol import Option, Wire

AMQP = Wire(
    name="AMQP/1.0",
    spellings=("AMQP/1.0", "AMQP"),
    options=(
        Option(
            "properties",
            shape="section",
            members={
                "message-id": "any",
                "user-id": "binary",
                "to": "uritemplate",
                "subject": "string",
                "reply-to": "uritemplate",
                "correlation-id": "any",
                # AMQP symbols are any ASCII text, wider than the specification's own `symbol` (C-10).
                "content-type": "string",
                "content-encoding": "string",
                "absolute-expiry-time": "timestamp",
                "creation-time": "timestamp",
                "group-id": "string",
                "group-sequence": "integer",
                "reply-to-group-id": "uritemplate",
            },
            aliases=("properties",),
        ),
        Option("application-properties", shape="section", aliases=("application_properties",)),
        Option("message-annotations", shape="section", aliases=("message_annotations",)),
        Option("delivery-annotations", shape="section", aliases=("delivery_annotations",)),
        Option(
            "header",
            shape="section",
            decides=False,
            members={
                "durable": "boolean",
                "priority": "integer",
                "ttl": "integer",
                "first-acquirer": "boolean",
                "delivery-count": "integer",
            },
        ),
        Option("footer", shape="section"),
    ),
    headers="application-properties",
    # The binding prefers the underscore: JMS clients cannot name a property with a colon.
    prefixes=("cloudEvents_", "cloudEvents:"),
    contenttype=("properties", "content-type"),
    contentencoding=("properties", "content-encoding"),
    channel=("properties", "to"),
    discriminator=("properties", "subject"),
    sent=("properties", "creation-time"),
    native_values=True,
)
