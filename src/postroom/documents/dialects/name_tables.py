"""Names of all dialects, as data: theirs on the left, those of 1.0-rc4 on the right (VERSIONS.md, part A)."""

from __future__ import annotations

GROUP_TYPES = ("endpoints", "messagegroups", "schemagroups")
RESOURCES = {"endpoints": "messages", "messagegroups": "messages", "schemagroups": "schemas"}
GROUP_IDS = {"endpoints": "endpointid", "messagegroups": "messagegroupid", "schemagroups": "schemagroupid"}
RESOURCE_IDS = {"messages": "messageid", "schemas": "schemaid"}

SERVICE_SCHEMA = "https://cloudevents.io/schemas/registry"
"""The `$schema` of `.cereg` files."""
SERVICE_COLLECTIONS = {
    "definitionGroups": "messagegroups",
    "schemaGroups": "schemagroups",
    "definitions": "messages",
}
CATALOG_COLLECTIONS = {"messagecatalog": "messagegroups", "messagedefinitions": "messages"}

# Attributes of every entity that the 0.5 service calls differently.
SERVICE_ATTRIBUTES = {
    "createdOn": "createdat",
    "modifiedOn": "modifiedat",
    "tags": "labels",
    "docs": "documentation",
}
CATALOG_ATTRIBUTES = {"createdtimeutc": "createdat", "updatedtimeutc": "modifiedat"}

# Members with one name per age of the specification; any of them may stand in a document that mixes ages (C-31).
BASE_NAMES = ("basemessage", "basemessageuri", "basemessageurl")
MESSAGE_ATTRIBUTES = {
    "basemessageurl": "basemessage",
    "basemessageuri": "basemessage",
    "schemaformat": "dataschemaformat",
    "schema": "dataschema",
    "schemaobject": "dataschema",
    "schemaurl": "dataschemauri",
    "schemauri": "dataschemauri",
    "dataschemaurl": "dataschemauri",
    "ancestor": "ancestorid",
}
OLD_MESSAGE_ATTRIBUTES = {
    "dataschemaformat": "schemaformat",
    "dataschema": "schema",
    "dataschemauri": "schemaurl",
    "basemessage": "basemessageurl",
}

# The document of a schema as bytes in 0.5.
SCHEMA_ATTRIBUTES = {"schemaBase64": "schemabase64"}
# What a schema says of itself and not of its Versions, or of its default Version alone.
NOT_INHERITED = frozenset(
    ("schemaid", "versionid", "meta", "versions", "versionscount", "versionsurl", "xid", "self", "shortself", "epoch")
) | frozenset(
    ("createdat", "modifiedat", "isdefault", "ancestorid", "schema", "schemabase64", "schemaurl", "contenttype")
)

# Informational members of 0.5 files that say what an entity is.
TYPE_MARKERS = frozenset(
    ("definitionGroup", "definitiongroup", "schemagroup", "schemaGroup", "schema", "schemaversion", "definition")
) | frozenset(("endpoint", "message", "messagegroup"))

PROPERTY_TYPES = {"var": "any", "datetime": "timestamp"}
OLD_PROPERTY_TYPES = {"any": "var"}

NOW, OLD_NOW = "0000-01-01T00:00:00Z", "01-01-0000T00:00:00Z"

# What the release candidates before 1.0-rc4 call differently: in a Version, an address, an authorization.
RELEASE_ATTRIBUTES = {"ancestor": "ancestorid"}
ADDRESS_MEMBERS = {"url": "uri"}
AUTHORIZATION_MEMBERS = {"resourceurl": "resourceuri", "authorityurl": "authorityuri"}
# Attributes of `meta` that went with 1.0-rc2; the first stands in every Resource type, the other in schemas.
RC2_META = ("compatibilityauthority", "validation")

# Options of endpoints: AMQP kept its hyphens, the others lost them.
ENDPOINT_OPTIONS = {
    "clean-session": "cleansession",
    "will-topic": "willtopic",
    "will-message": "willmessage",
    "consumer-group": "consumergroup",
}

# What only 1.0-rc4 has among the options of endpoints.
RC4_ENDPOINT_OPTIONS = frozenset(
    (
        "cleanstart",
        "sessionexpiryinterval",
        "sharedsubscriptiongroup",
        "nolocal",
        "retainaspublished",
        "retainhandling",
        "topicfilter",
        "subjectfilter",
        "queuegroup",
        "autooffsetreset",
        "enableautocommit",
        "connection-capabilities",
        "node-capabilities",
        "source-filters",
        "dynamic",
        "terminus-durability",
        "expiry-policy",
        "timeout",
        "sender-settle-mode",
        "receiver-settle-mode",
        "apikeyname",
        "apikeyin",
        "plainscheme",
        "plainusernamefield",
        "plainpasswordfield",
    )
)
CORE_CHECKS = (
    "contenttype",
    "formatvalidated",
    "formatvalidatedreason",
    "compatibilityvalidated",
    "compatibilityvalidatedreason",
)

AMQP_CATALOG_SECTIONS = {
    "header": "header",
    "deliveryannotations": "delivery-annotations",
    "messageannotations": "message-annotations",
    "properties": "properties",
    "applicationproperties": "application-properties",
    "footer": "footer",
}
AMQP_CATALOG_PROPERTIES = {
    "messageid": "message-id",
    "userid": "user-id",
    "to": "to",
    "subject": "subject",
    "replyto": "reply-to",
    "correlationid": "correlation-id",
    "contenttype": "content-type",
    "contentencoding": "content-encoding",
    "absoluteexpirytime": "absolute-expiry-time",
    "creationtime": "creation-time",
    "groupid": "group-id",
    "groupsequence": "group-sequence",
    "replytogroupid": "reply-to-group-id",
}
MQTT_CATALOG_PUBLISH = {
    "qos": "qos",
    "retain": "retain",
    "topicname": "topic_name",
    "payloadformat": "payload_format",
    "expiryinterval": "message_expiry_interval",
    "responsetopic": "response_topic",
    "correlationdata": "correlation_data",
    "contenttype": "content_type",
}
NATS_CATALOG = {"subject": "subject", "replyto": "reply-to", "headers": "headers"}
