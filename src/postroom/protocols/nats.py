"""NATS."""

from postroom.protocols.protocol import Option, Wire

NATS = Wire(
    name="NATS",
    spellings=("NATS",),
    options=(
        Option("subject", "uritemplate", channel=True),
        Option("reply-to", "uritemplate", aliases=("reply",)),
        Option("headers", shape="named"),
    ),
    headers="headers",
    prefixes=("ce-",),
    contenttype=("headers", "content-type"),
    contentencoding=("headers", "content-encoding"),
    channel=("subject",),
    percent_encoded=True,
    contenttype_attribute=True,
)
