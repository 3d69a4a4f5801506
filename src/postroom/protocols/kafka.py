"""Apache Kafka."""

from postroom.protocols.protocol import Option, Wire

KAFKA = Wire(
    name="KAFKA",
    spellings=("KAFKA", "KAFKA/0.11"),
    options=(
        Option("topic", "uritemplate", channel=True),
        Option("partition", "integer"),
        Option("key", "uritemplate"),
        Option("key_base64", "binary"),
        Option("headers", shape="named"),
    ),
    headers="headers",
    prefixes=("ce_",),
    contenttype=("headers", "content-type"),
    contentencoding=("headers", "content-encoding"),
    channel=("topic",),
    key=("key",),
    sent=("timestamp",),
    headers_ignore_case=True,
    headers_as_map=True,
)
