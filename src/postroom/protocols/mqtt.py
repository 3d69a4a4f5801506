"""MQTT 3.1.1 and 5.0."""

from postroom.protocols.protocol import Option, Wire

_BOTH = (
    # Brokers downgrade quality of service and clear the retain flag on delivery, so neither decides.
    Option("qos", "integer", decides=False),
    Option("retain", "boolean", decides=False),
    Option("topic_name", "uritemplate", channel=True, aliases=("topic-name",)),
)

MQTT_3_1_1 = Wire(name="MQTT/3.1.1", spellings=("MQTT/3.1.1", "MQTT/3.1"), options=_BOTH, channel=("topic_name",))

MQTT_5_0 = Wire(
    name="MQTT/5.0",
    spellings=("MQTT/5.0", "MQTT/5", "MQTT"),
    options=(
        *_BOTH,
        Option(
            "payload_format",
            "integer",
            aliases=("payload-format", "payload_format_indicator", "payload-format-indicator"),
        ),
        Option("message_expiry_interval", "integer", decides=False, aliases=("message-expiry-interval",)),
        Option("response_topic", "uritemplate", aliases=("response-topic",)),
        Option("correlation_data", "binary", aliases=("correlation-data",)),
        # The text types it `symbol`, yet its values are media types (C-10).
        Option("content_type", "string", aliases=("content-type",)),
        Option("user_properties", shape="named", aliases=("user-properties",)),
    ),
    headers="user_properties",
    # Names are unchanged; the CloudEvents SDK for Go writes a prefix all the same.
    prefixes=("", "ce-"),
    contenttype=("content_type",),
    # No property of the protocol's own; gateways write HTTP's name.
    contentencoding=("user_properties", "content-encoding"),
    channel=("topic_name",),
)
