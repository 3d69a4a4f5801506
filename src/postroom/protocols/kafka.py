"""Apache Kafka."""

from postroom.protocols.protocol import Option, Wire

KAFKA = Wire(
    name="KAFKA",
    spellings=("KAFKA", "KAFKA/0.11"),
    options=(
        Option("topic", "uritemplate", channel=True),
        Option("partition", "integer"),
        # A key is bytes; records have it as text where it is UTF-8.
        Option("key", "uritemplate", text_of="key_base64"),
        Option("key_base64", "binary", base64_of="key"),
        Option("headers", shape="named"),
    ),
    headers="headers",
    prefixes=("ce_",),
    contenttype=("headers", "content-type"),
    contentencoding=("headers", "content-encoding"),
    schema_id="__value_schema_id",
    key_schema_id="__key_schema_id",
    channel=("topic",),
    key=("key",),
    sent=("timestamp",),
    headers_as_map=True,
)
