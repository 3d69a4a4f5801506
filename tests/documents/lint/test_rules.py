"""Every rule of lint: what it finds and where, and what it leaves alone."""

from __future__ import annotations

from typing import Any

import pytest

from postroom.catalog.catalog import Catalog
from postroom.documents.lint.rule_table import RULES
from tests.documents.lint.catalogs import (
    CLEAN,
    ENDPOINT,
    GROUP,
    MOVED,
    POSITION,
    SCHEMA,
    Tree,
    lint,
    merged,
    spoilt,
    with_attribute,
    with_endpoint,
    with_message,
    with_options,
    with_schema,
    with_second,
    with_versions,
)

STOPPED = f"{GROUP}/messages/vehicle.stopped"
ATTRIBUTES = f"{MOVED}/envelopemetadata"
OPTIONS = f"{MOVED}/protocoloptions"
EVENT: Tree = {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "vehicle.stopped"}}}
TWIN: Tree = CLEAN["messagegroups"]["fleet"]["messages"]["vehicle.moved"]
BORROWED: Tree = {"meta": {"xref": MOVED}}
SHARED_SCHEMA = "/schemagroups/shared/schemas/position"
BORROWED_SCHEMA: Tree = spoilt({"schemagroups": {"shared": {"schemas": {"position": {"meta": {"xref": SCHEMA}}}}}})
OTHER: Tree = {"type": "object", "required": ["speed"]}

FOUND: list[tuple[str, Tree, str]] = [
    # The document
    ("not_an_object", spoilt({"messagegroups": {"fleet": {"messages": []}}}), f"{GROUP}/messages"),
    ("not_an_object", {"messagegroups": 3}, "/messagegroups"),
    ("not_an_object", with_message({"protocoloptions": "none"}), OPTIONS),
    ("not_an_object", with_schema({"versions": []}), f"{SCHEMA}/versions"),
    ("id_mismatch", with_message({"messageid": "vehicle.parked"}), f"{MOVED}/messageid"),
    ("id_mismatch", spoilt({"messagegroups": {"fleet": {"messagegroupid": "x"}}}), f"{GROUP}/messagegroupid"),
    ("id_malformed", with_second(EVENT, "../../evil"), f"{GROUP}/messages/..~1..~1evil"),
    ("id_malformed", with_second(EVENT, "a\0b"), f"{GROUP}/messages/a\0b"),
    ("id_malformed", with_second(EVENT, "a" * 129), f"{GROUP}/messages/{'a' * 129}"),
    ("id_malformed", spoilt({"messagegroups": {"..": {"messages": {}}}}), "/messagegroups/.."),
    ("id_malformed", spoilt({"endpoints": {"": {"usage": ["producer"]}}}), "/endpoints/"),
    (
        "id_malformed",
        with_schema({"versions": {"1 ": {"format": "JsonSchema/draft-07", "schema": {}}}}),
        f"{SCHEMA}/versions/1 ",
    ),
    ("id_malformed", with_message({"versionid": "v/1"}), f"{MOVED}/versionid"),
    ("ids_collide", with_second(EVENT, "Vehicle.Moved"), f"{GROUP}/messages/Vehicle.Moved"),
    ("member_misspelt", with_message({"dataschemauri": None, "dataschemaurl": SCHEMA}), f"{MOVED}/dataschemaurl"),
    ("member_misspelt", with_message({"protocolopions": {}, "protocoloptions": None}), f"{MOVED}/protocolopions"),
    ("member_misspelt", spoilt({"messagegroups": {"fleet": {"format": "MQTT/5.0"}}}), f"{GROUP}/format"),
    ("member_misspelt", spoilt({"definitionGroups": {}}), "/definitionGroups"),
    ("registry_attribute_invalid", spoilt({"documentation": {"url": "README.md"}}), "/documentation"),
    ("registry_attribute_invalid", spoilt({"createdat": "2024-04-31T00:00:00Z"}), "/createdat"),
    ("default_version_misplaced", with_schema({"defaultversionid": "1"}), f"{SCHEMA}/defaultversionid"),
    ("attribute_invalid", with_message({"createdat": "2024-04-31T00:00:00Z"}), f"{MOVED}/createdat"),
    ("attribute_invalid", with_message({"labels": ["a"]}), f"{MOVED}/labels"),
    ("attribute_invalid", with_attribute("time", {"type": "string", "value": None}), f"{ATTRIBUTES}/time/type"),
    ("attribute_invalid", with_attribute("subject", {"required": "yes"}), f"{ATTRIBUTES}/subject/required"),
    ("attribute_invalid", with_attribute("subject", {"description": 3}), f"{ATTRIBUTES}/subject/description"),
    ("attribute_invalid", with_attribute("subject", {"specurl": "a b"}), f"{ATTRIBUTES}/subject/specurl"),
    ("attribute_invalid", with_message({"envelopeoptions": {"mode": "raw"}}), f"{MOVED}/envelopeoptions/mode"),
    (
        "attribute_invalid",
        with_options("AMQP/1.0", {"properties": {"group-sequence": {"type": "string"}}}),
        f"{OPTIONS}/properties/group-sequence/type",
    ),
    ("attribute_invalid", with_schema({"meta": {"compatibility": "sideways"}}), f"{SCHEMA}/meta/compatibility"),
    ("attribute_invalid", with_endpoint({"channel": 3}), f"{ENDPOINT}/channel"),
    ("attribute_invalid", with_endpoint({"protocoloptions": {"qos": 7}}), f"{ENDPOINT}/protocoloptions/qos"),
    # Selectors and members of a message
    ("selector_empty", with_message({"protocol": ""}), f"{MOVED}/protocol"),
    ("selector_malformed", with_message({"envelope": "CloudEvents"}), f"{MOVED}/envelope"),
    ("selector_malformed", with_message({"protocol": "/5.0"}), f"{MOVED}/protocol"),
    ("selector_misspelt", with_message({"protocol": "MQQT/5.0"}), f"{MOVED}/protocol"),
    ("selector_misspelt", with_message({"envelope": "CloudEvent/1.0"}), f"{MOVED}/envelope"),
    ("group_selector_empty", spoilt({"messagegroups": {"fleet": {"protocol": ""}}}), f"{GROUP}/protocol"),
    ("protocol_none", with_options("None", {}), f"{MOVED}/protocol"),
    ("protocol_version_missing", with_message({"protocol": "MQTT"}), f"{MOVED}/protocol"),
    (
        "selector_inherited",
        spoilt({"messagegroups": {"fleet": {"envelope": "CloudEvents/1.0", "messages": {"quiet": {}}}}}),
        f"{GROUP}/messages/quiet",
    ),
    ("group_mismatch", spoilt({"messagegroups": {"fleet": {"protocol": "NATS"}}}), f"{MOVED}/protocol"),
    (
        "group_mismatch",
        with_endpoint({"messages": {"vehicle.parked": {"protocol": "NATS", "protocoloptions": {"subject": "p"}}}}),
        f"{ENDPOINT}/messages/vehicle.parked/protocol",
    ),
    ("metadata_missing", with_message({"envelopemetadata": None}), f"{MOVED}/envelope"),
    ("metadata_missing", with_message({"protocoloptions": None}), f"{MOVED}/protocol"),
    ("envelope_missing", with_second({"envelopemetadata": {"type": {"value": "t"}}}), f"{STOPPED}/envelopemetadata"),
    (
        "attributes_in_options",
        with_second({"envelope": "CloudEvents/1.0", "envelopeoptions": {"type": {"value": "vehicle.stopped"}}}),
        f"{STOPPED}/envelopeoptions",
    ),
    (
        "attributes_nested",
        with_second({"envelope": "CloudEvents/1.0", "envelopemetadata": {"attributes": {"type": {"value": "a"}}}}),
        f"{STOPPED}/envelopemetadata/attributes",
    ),
    ("xref_dangling", with_message({"meta": {"xref": f"{GROUP}/messages/gone"}}), f"{MOVED}/meta/xref"),
    (
        "xref_mismatch",
        spoilt({"messagegroups": {"shared": {"protocol": "KAFKA", "messages": {"vehicle.moved": BORROWED}}}}),
        "/messagegroups/shared/messages/vehicle.moved/meta/xref",
    ),
    (
        "xref_mismatch",
        with_endpoint({"envelope": "Other/1.0", "messagegroups": None, "messages": {"moved": BORROWED}}),
        f"{ENDPOINT}/messages/moved/meta/xref",
    ),
    (
        "definition_refused",
        with_attribute("source", {"value": "/{a}{b}"}),
        f"{ATTRIBUTES}/source",
    ),
    # Properties
    ("property_bare", with_attribute("subject", "vehicle"), f"{ATTRIBUTES}/subject"),
    ("property_member_misspelt", with_attribute("subject", {"requird": True}), f"{ATTRIBUTES}/subject/requird"),
    ("description_empty", with_attribute("subject", {"description": ""}), f"{ATTRIBUTES}/subject/description"),
    ("type_unknown", with_attribute("subject", {"type": "strin"}), f"{ATTRIBUTES}/subject/type"),
    ("type_variant", with_attribute("time", {"type": "datetime"}), f"{ATTRIBUTES}/time/type"),
    ("type_variant", with_attribute("subject", {"type": "String"}), f"{ATTRIBUTES}/subject/type"),
    ("value_invalid", with_attribute("color", {"type": "symbol", "value": "a-b"}), f"{ATTRIBUTES}/color/value"),
    ("value_invalid", with_attribute("color", {"type": "binary", "value": "%"}), f"{ATTRIBUTES}/color/value"),
    ("value_invalid", with_attribute("color", {"type": "integer", "value": 2**31}), f"{ATTRIBUTES}/color/value"),
    ("value_invalid", with_attribute("color", {"type": "number", "value": "one"}), f"{ATTRIBUTES}/color/value"),
    ("value_invalid", with_attribute("color", {"type": "duration", "value": "5m"}), f"{ATTRIBUTES}/color/value"),
    ("value_invalid", with_attribute("color", {"type": "uri", "value": "a b"}), f"{ATTRIBUTES}/color/value"),
    ("value_invalid", with_attribute("color", {"type": "boolean", "value": "ja"}), f"{ATTRIBUTES}/color/value"),
    ("value_invalid", with_attribute("color", {"value": ["red"]}), f"{ATTRIBUTES}/color/value"),
    ("value_invalid", with_attribute("time", {"value": "2024-04-31T00:00:00Z"}), f"{ATTRIBUTES}/time/value"),
    ("value_invalid", with_message({"protocoloptions": {"retain": "sometimes"}}), f"{OPTIONS}/retain"),
    ("value_invalid", with_message({"protocoloptions": {"correlation_data": "%"}}), f"{OPTIONS}/correlation_data"),
    ("value_invalid", with_options("KAFKA", {"partition": "one"}), f"{OPTIONS}/partition"),
    ("value_invalid", with_options("KAFKA", {"key_base64": "%"}), f"{OPTIONS}/key_base64"),
    ("value_invalid", with_options("AMQP/1.0", {"header": {"ttl": {"value": "x"}}}), f"{OPTIONS}/header/ttl/value"),
    (
        "required_of_value",
        with_attribute("subject", {"type": "string", "value": "x", "required": False}),
        f"{ATTRIBUTES}/subject/required",
    ),
    ("value_none", with_attribute("color", {"value": "None"}), f"{ATTRIBUTES}/color/value"),
    ("template_invalid", with_attribute("source", {"value": "/v/{+vin}"}), f"{ATTRIBUTES}/source/value"),
    ("template_invalid", with_message({"protocoloptions": {"topic_name": "v/{vin"}}), f"{OPTIONS}/topic_name"),
    ("braces_literal", with_attribute("color", {"value": "{a-b}"}), f"{ATTRIBUTES}/color/value"),
    ("placeholder_in_type", with_attribute("color", {"type": "uri", "value": "x:{a}"}), f"{ATTRIBUTES}/color/value"),
    ("placeholders_similar", with_attribute("subject", {"value": "{Vin}"}), MOVED),
    ("timestamp_template", with_attribute("time", {"value": "{when}"}), f"{ATTRIBUTES}/time/value"),
    ("now_variant", with_attribute("time", {"value": "01-01-0000T00:00:00Z"}), f"{ATTRIBUTES}/time/value"),
    # CloudEvents
    ("attribute_name", with_attribute("partitionKey", {}), f"{ATTRIBUTES}/partitionKey"),
    ("attribute_misspelt", with_attribute("datacontentype", {}), f"{ATTRIBUTES}/datacontentype"),
    ("specversion_other", with_attribute("specversion", {"value": "0.3"}), f"{ATTRIBUTES}/specversion/value"),
    ("specversion_other", with_attribute("specversion", {"type": "uri"}), f"{ATTRIBUTES}/specversion/type"),
    ("required_attribute_optional", with_attribute("id", {"required": False}), f"{ATTRIBUTES}/id/required"),
    ("id_fixed", with_attribute("id", {"value": "1"}), f"{ATTRIBUTES}/id/value"),
    ("time_fixed", with_attribute("time", {"value": "2024-04-30T00:00:00Z"}), f"{ATTRIBUTES}/time/value"),
    ("dataschema_differs", with_attribute("dataschema", {"value": "/other"}), f"{ATTRIBUTES}/dataschema/value"),
    (
        "event_format_unknown",
        with_message({"envelopeoptions": {"mode": "structured", "format": "application/cloudevents+avro"}}),
        f"{MOVED}/envelopeoptions/format",
    ),
    ("type_open", with_second({"envelope": "CloudEvents/1.0", "envelopemetadata": {"subject": {}}}), STOPPED),
    ("type_id_mismatch", with_attribute("type", {"value": "car.moved"}), f"{ATTRIBUTES}/type/value"),
    # Protocol options
    ("option_unknown", with_message({"protocoloptions": {"topc_name": "x"}}), f"{OPTIONS}/topc_name"),
    ("option_unknown", with_options("AMQP/1.0", {"properties": {"suject": {}}}), f"{OPTIONS}/properties/suject"),
    ("option_of_mqtt5", with_options("MQTT/3.1.1", {"content_type": "text/plain"}), f"{OPTIONS}/content_type"),
    ("option_of_mqtt5", with_options("MQTT/3.1.1", {"user-properties": []}), f"{OPTIONS}/user-properties"),
    (
        "option_variant",
        with_message({"protocoloptions": {"payload_format_indicator": 1}}),
        f"{OPTIONS}/payload_format_indicator",
    ),
    ("option_variant", with_options("NATS", {"reply": "x"}), f"{OPTIONS}/reply"),
    ("option_twice", with_options("NATS", {"reply": "x", "reply-to": "x"}), f"{OPTIONS}/reply-to"),
    ("options_exclusive", with_options("HTTP", {"method": "GET", "status": "200"}), f"{OPTIONS}/status"),
    ("options_exclusive", with_options("KAFKA", {"key": "a", "key_base64": "YQ=="}), f"{OPTIONS}/key_base64"),
    ("option_out_of_range", with_message({"protocoloptions": {"qos": 3}}), f"{OPTIONS}/qos"),
    ("option_out_of_range", with_message({"protocoloptions": {"payload_format": 2}}), f"{OPTIONS}/payload_format"),
    ("option_out_of_range", with_options("HTTP/2", {"status": "2xx"}), f"{OPTIONS}/status"),
    ("option_out_of_range", with_options("HTTP", {"method": "GET /"}), f"{OPTIONS}/method"),
    (
        "option_type",
        with_options("AMQP/1.0", {"header": {"durable": {"type": "string"}}}),
        f"{OPTIONS}/header/durable/type",
    ),
    ("option_type", with_options("KAFKA", {"partition": {"type": "uri"}}), f"{OPTIONS}/partition/type"),
    ("option_type", with_message({"protocoloptions": {"qos": {"type": "string"}}}), f"{OPTIONS}/qos/type"),
    ("option_shape", with_options("HTTP", {"headers": [{"value": "x"}]}), f"{OPTIONS}/headers/0"),
    ("option_shape", with_options("HTTP", {"headers": "x"}), f"{OPTIONS}/headers"),
    ("option_shape", with_options("AMQP/1.0", {"properties": []}), f"{OPTIONS}/properties"),
    ("option_as_map", with_options("HTTP", {"query": {"page": "1"}}), f"{OPTIONS}/query"),
    ("header_name", with_options("HTTP", {"headers": [{"name": "a b", "value": "x"}]}), f"{OPTIONS}/headers/0"),
    (
        "header_name",
        with_options("AMQP/1.0", {"application-properties": {"größe": {}}}),
        f"{OPTIONS}/application-properties/größe",
    ),
    (
        "names_collide",
        with_options("AMQP/1.0", {"footer": {"Sum": {"value": "a"}, "sum": {"value": "a"}}}),
        f"{OPTIONS}/footer/sum",
    ),
    (
        "message_id_fixed",
        with_options("AMQP/1.0", {"properties": {"message-id": {"type": "string", "value": "1"}}}),
        f"{OPTIONS}/properties/message-id/value",
    ),
    # Base messages
    ("base_name_variant", with_second({"basemessageuri": MOVED, **EVENT}), f"{STOPPED}/basemessageuri"),
    (
        "base_conflict",
        with_second({"basemessage": MOVED, "basemessageurl": "/a", **EVENT}),
        f"{STOPPED}/basemessageurl",
    ),
    ("base_malformed", with_second({"basemessage": GROUP, **EVENT}), f"{STOPPED}/basemessage"),
    ("base_circle", with_second({"basemessage": STOPPED, **EVENT}), f"{STOPPED}/basemessage"),
    ("base_dangling", with_second({"basemessage": f"{GROUP}/messages/gone", **EVENT}), f"{STOPPED}/basemessage"),
    ("base_outside", with_second({"basemessage": "https://elsewhere.example/m", **EVENT}), f"{STOPPED}/basemessage"),
    (
        "base_of_other_kind",
        with_second({"basemessage": MOVED, "protocol": "NATS", "protocoloptions": {"subject": "x"}, **EVENT}),
        f"{STOPPED}/basemessage",
    ),
    # Payload schemas, as messages refer to them
    *(
        ("schema_reference_malformed", with_message({"dataschemauri": None, name: xid}), f"{MOVED}/{name}")
        for name, xid in (
            ("dataschemaxid", MOVED),
            ("dataschemaxid", "/schemagroups/fleet.schemas"),
            ("dataschemaxid", "/other/schemas/position"),
            ("dataschemauri", MOVED),
            ("dataschemauri", f"#{ENDPOINT}"),
        )
    ),
    ("schema_twice", with_message({"dataschema": POSITION}), f"{MOVED}/dataschemauri"),
    ("schema_references_differ", with_message({"dataschemaxid": f"{SCHEMA}/versions/2"}), f"{MOVED}/dataschemauri"),
    ("dataschemaformat_missing", with_message({"dataschemaformat": None}), f"{MOVED}/dataschemauri"),
    ("dataschemaformat_malformed", with_message({"dataschemaformat": "JsonSchema"}), f"{MOVED}/dataschemaformat"),
    ("dataschemaformat_unknown", with_message({"dataschemaformat": "Cobol/85"}), f"{MOVED}/dataschemaformat"),
    ("contenttype_malformed", with_message({"datacontenttype": "json"}), f"{MOVED}/datacontenttype"),
    (
        "contenttypes_differ",
        with_attribute("datacontenttype", {"value": "text/json"}),
        f"{ATTRIBUTES}/datacontenttype/value",
    ),
    (
        "contenttypes_differ",
        with_message({"protocoloptions": {"content_type": "text/json"}}),
        f"{OPTIONS}/content_type",
    ),
    ("contenttype_of_other_format", with_message({"datacontenttype": "application/xml"}), f"{MOVED}/datacontenttype"),
    ("schema_dangling", with_message({"dataschemauri": f"{SCHEMA}s"}), f"{MOVED}/dataschemauri"),
    ("schema_dangling", with_message({"dataschemauri": f"#{SCHEMA}/versions/7"}), f"{MOVED}/dataschemauri"),
    ("schema_dangling", with_message({"dataschemauri": None, "dataschemaxid": f"{SCHEMA}s"}), f"{MOVED}/dataschemaxid"),
    ("schema_outside", with_message({"dataschemauri": "https://schemas.example/p"}), f"{MOVED}/dataschemauri"),
    ("schema_type_missing", with_message({"dataschemauri": f"{SCHEMA}#/definitions/gone"}), f"{MOVED}/dataschemauri"),
    ("schema_type_after_colon", with_message({"dataschemauri": f"{SCHEMA}:lat"}), f"{MOVED}/dataschemauri"),
    (
        "formats_differ",
        merged(BORROWED_SCHEMA, with_message({"dataschemauri": SHARED_SCHEMA, "dataschemaformat": "Avro/1.12"})),
        f"{MOVED}/dataschemaformat",
    ),
    ("formats_differ", with_message({"dataschemaformat": "JsonSchema/draft-04"}), f"{MOVED}/dataschemaformat"),
    (
        "inline_schema_refused",
        with_message({"dataschemauri": None, "dataschema": {"type": 3}}),
        f"{MOVED}/dataschema/type",
    ),
    # Payload schemas themselves
    (
        "schema_format_missing",
        with_schema({"format": None, "versions": {"1": {"format": None}}}),
        f"{SCHEMA}/versions/1",
    ),
    ("schema_format_malformed", with_schema({"format": "JsonSchema"}), f"{SCHEMA}/format"),
    ("schema_format_unknown", with_schema({"format": "Cobol/85"}), f"{SCHEMA}/format"),
    ("schema_format_variant", with_schema({"format": "JSON-Schema/draft-07"}), f"{SCHEMA}/format"),
    (
        "schema_formats_differ",
        with_schema({"versions": {"2": {"format": "Avro/1.11", "schema": "string"}}}),
        f"{SCHEMA}/versions/2/format",
    ),
    (
        "schema_id_twice",
        with_schema({"versions": {"1": {"schemaids": [7]}, "2": {"schemaids": [8, 7]}}}),
        f"{SCHEMA}/versions/2/schemaids/1",
    ),
    (
        "schema_group_format",
        spoilt({"schemagroups": {"fleet.schemas": {"format": "Avro/1.11"}}}),
        f"{SCHEMA}/versions/1/format",
    ),
    ("schema_document_missing", with_schema({"versions": {"1": {"schema": None}}}), f"{SCHEMA}/versions/1"),
    (
        "schema_document_elsewhere",
        with_schema({"versions": {"1": {"schema": None, "schemaurl": "https://schemas.example/p"}}}),
        f"{SCHEMA}/versions/1",
    ),
    (
        "schema_url_variant",
        with_schema({"versions": {"1": {"schema": None, "schemauri": "https://schemas.example/p"}}}),
        f"{SCHEMA}/versions/1/schemauri",
    ),
    ("schema_refused", with_schema({"versions": {"1": {"schema": {"type": 3}}}}), f"{SCHEMA}/versions/1/schema/type"),
    (
        "schema_unused",
        spoilt({"schemagroups": {"fleet.schemas": {"schemas": {"old": {"format": "Avro/1.11", "schema": "int"}}}}}),
        "/schemagroups/fleet.schemas/schemas/old",
    ),
    # Definitions as filters
    (
        "definition_impossible",
        with_message(
            {
                "envelopeoptions": {"mode": "binary"},
                "protocoloptions": {"user_properties": [{"name": "type", "value": "vehicle.parked"}]},
            }
        ),
        f"{OPTIONS}/user_properties/0",
    ),
    (
        "definition_impossible",
        with_message(
            {
                "envelopeoptions": {"mode": "binary"},
                "protocoloptions": {"user_properties": [{"name": "type", "value": "y/{b}"}]},
            }
        ),
        f"{OPTIONS}/user_properties/0",
    ),
    (
        "templates_never_alike",
        with_message(
            {
                "envelopeoptions": {"mode": "binary"},
                "envelopemetadata": {"type": {"value": "vehicle.moved"}, "subject": {"value": "x/{b}"}},
                "protocoloptions": {"user_properties": [{"name": "subject", "value": "y/{b}"}]},
            }
        ),
        f"{OPTIONS}/user_properties/0",
    ),
    ("definition_shadowed", with_second({"basemessage": MOVED, "description": "The same."}), MOVED),
    ("always_ambiguous", with_second(TWIN), STOPPED),
    ("decided_by_schema", with_second({**TWIN, "dataschemauri": None, "dataschema": OTHER}), STOPPED),
    (
        "type_shared",
        with_second({**TWIN, "protocoloptions": {"topic_name": "vehicles/{vin}/stopped"}}),
        STOPPED,
    ),
    # Endpoints
    ("usage_missing", with_endpoint({"usage": None}), ENDPOINT),
    ("usage_missing", with_endpoint({"usage": []}), ENDPOINT),
    (
        "consumergroup_missing",
        with_endpoint({"usage": ["consumer"], "protocol": "KAFKA", "protocoloptions": {"topic": "fleet"}}),
        f"{ENDPOINT}/protocoloptions",
    ),
    (
        "endpoint_credential",
        with_endpoint({"protocoloptions": {"endpoints": [{"uri": "mqtt://fleet:secret@broker.example"}]}}),
        f"{ENDPOINT}/protocoloptions/endpoints/0/uri",
    ),
    ("usage_as_word", with_endpoint({"usage": "producer"}), f"{ENDPOINT}/usage"),
    ("endpoint_rule", with_endpoint({"usage": ["producer", "consumer"]}), f"{ENDPOINT}/usage"),
    (
        "endpoint_rule",
        with_endpoint({"protocoloptions": {"endpoints": [{"uri": "http://x"}]}}),
        f"{ENDPOINT}/protocoloptions/endpoints/0/uri",
    ),
    (
        "endpoint_rule",
        with_endpoint({"protocoloptions": {"endpoints": [{}]}}),
        f"{ENDPOINT}/protocoloptions/endpoints/0",
    ),
    (
        "endpoint_options_nested",
        with_endpoint({"protocoloptions": {"options": {"topic": "fleet"}}}),
        f"{ENDPOINT}/protocoloptions/options",
    ),
    (
        "endpoint_option_unknown",
        with_endpoint({"protocoloptions": {"will-tropic": "gone"}}),
        f"{ENDPOINT}/protocoloptions/will-tropic",
    ),
    (
        "endpoint_option_variant",
        with_endpoint({"protocoloptions": {"will-topic": "gone"}}),
        f"{ENDPOINT}/protocoloptions/will-topic",
    ),
    (
        "endpoint_option_variant",
        with_endpoint({"protocoloptions": {"willTopic": "gone", "willtopic": "gone"}}),
        f"{ENDPOINT}/protocoloptions/willTopic",
    ),
    *(
        (
            "endpoint_option_variant",
            with_endpoint({"protocol": "KAFKA", "messagegroups": None, "protocoloptions": options}),
            f"{ENDPOINT}/protocoloptions/{place}",
        )
        for options, place in (
            ({"endpoints": None, "bootstrapServers": "a:1,b:2"}, "bootstrapServers"),
            ({"bootstrapServers": "a:1"}, "bootstrapServers"),
            ({"endpoints": [{"bootstrapServers": ["a:1"]}]}, "endpoints/0/bootstrapServers"),
        )
    ),
    ("endpoint_member_misplaced", with_endpoint({"deployed": False}), f"{ENDPOINT}/deployed"),
    ("messagegroup_dangling", with_endpoint({"messagegroups": ["/messagegroups/no"]}), f"{ENDPOINT}/messagegroups/0"),
    ("messagegroup_outside", with_endpoint({"messagegroups": ["https://a.example/g"]}), f"{ENDPOINT}/messagegroups/0"),
    (
        "messagegroup_of_other_kind",
        with_endpoint({"protocol": "NATS", "protocoloptions": {"endpoints": [{"uri": "nats://x:4222"}]}}),
        f"{ENDPOINT}/messagegroups/0",
    ),
    (
        "messagegroup_of_other_kind",
        spoilt(
            {
                "messagegroups": {"shared": {"messages": {"vehicle.moved": BORROWED}}},
                "endpoints": {"fleet.mqtt": {"envelope": "Other/1.0", "messagegroups": ["/messagegroups/shared"]}},
            }
        ),
        f"{ENDPOINT}/messagegroups/0",
    ),
    (
        "message_ids_collide",
        with_endpoint({"messages": {"vehicle.moved": {"description": "Mine."}}}),
        f"{ENDPOINT}/messagegroups/0",
    ),
    (
        "willmessage_dangling",
        with_endpoint({"protocoloptions": {"willmessage": f"{GROUP}/messages/gone"}}),
        f"{ENDPOINT}/protocoloptions/willmessage",
    ),
    # Deprecation
    ("deprecated_without_alternative", with_endpoint({"deprecated": {}}), f"{ENDPOINT}/deprecated"),
    (
        "alternative_dangling",
        with_endpoint({"deprecated": {"alternative": "/endpoints/gone"}}),
        f"{ENDPOINT}/deprecated/alternative",
    ),
    (
        "alternative_deprecated",
        with_message({"meta": {"deprecated": {"alternative": MOVED}}}),
        f"{MOVED}/meta/deprecated/alternative",
    ),
    (
        "removal_too_early",
        with_endpoint({"deprecated": {"effective": "2026-02-01T00:00:00Z", "removal": "2026-01-01T00:00:00Z"}}),
        f"{ENDPOINT}/deprecated/removal",
    ),
    ("deprecation_docs", with_endpoint({"deprecated": {"docs": "https://a.example"}}), f"{ENDPOINT}/deprecated/docs"),
]

# The rules whose documents need more than a row have their own tests below.
APART = {"schema_reference_missing", "schema_incompatible", "schema_undecided"}

LEFT_ALONE: list[tuple[str, Tree]] = [
    ("schema_dangling", with_message({"dataschemauri": None, "dataschemaxid": MOVED})),
    *(
        ("schema_reference_malformed", with_message({"dataschemauri": None, **reference}))
        for reference in (
            {"dataschemaxid": SCHEMA},
            {"dataschemaxid": f"{SCHEMA}s"},
            {"dataschemaxid": f"{SCHEMA}/versions/1"},
            {"dataschemaxid": f"{SCHEMA}#/properties/lat"},
            {"dataschemauri": f"{SCHEMA}/schema/properties/lat"},
            {"dataschemauri": "https://schemas.example/messagegroups/x"},
            {"dataschemauri": "/other/schemas/position"},
        )
    ),
    ("attribute_invalid", with_endpoint({"protocoloptions": {"willTopic": "gone"}})),
    ("schema_format_missing", BORROWED_SCHEMA),
    ("schema_dangling", merged(BORROWED_SCHEMA, with_message({"dataschemauri": SHARED_SCHEMA}))),
    ("formats_differ", merged(BORROWED_SCHEMA, with_message({"dataschemauri": SHARED_SCHEMA}))),
    ("schema_document_missing", BORROWED_SCHEMA),
    ("registry_attribute_invalid", spoilt({"$schema": "x", "specversion": "0.9", "registryid": "a", "colour": {}})),
    ("group_mismatch", spoilt({"messagegroups": {"fleet": {"protocol": "mqtt/5.0"}}})),
    (
        "xref_mismatch",
        spoilt({"messagegroups": {"shared": {"protocol": "mqtt/5.0", "messages": {"vehicle.moved": BORROWED}}}}),
    ),
    ("xref_mismatch", with_endpoint({"messagegroups": None, "messages": {"moved": BORROWED}})),
    ("member_misspelt", with_message({"colour": "red", "name": "Moved", "basemessageuri": "https://a.example"})),
    ("selector_misspelt", with_message({"protocol": "carrier-pigeon"})),
    ("metadata_missing", with_options("None", {})),
    (
        "metadata_missing",
        spoilt(
            {
                "messagegroups": {
                    "fleet": {"protocol": "MQTT/5.0", "messages": {"vehicle.moved": {"protocoloptions": None}}}
                }
            }
        ),
    ),
    ("member_misspelt", with_message({"format": "JsonSchema/draft-07", "contenttype": "application/json"})),
    ("option_type", with_message({"protocoloptions": {"topic_name": {"type": "string", "value": "a"}}})),
    ("metadata_missing", with_second({"basemessage": MOVED, "envelope": "CloudEvents/1.0"})),
    ("option_unknown", with_options("AMQP/1.0", {"application-properties": {"colour": {}}})),
    ("option_unknown", with_options("carrier-pigeon", {"cage": "3"})),
    ("template_invalid", with_attribute("source", {"value": "/v/{vin}"})),
    ("value_invalid", with_attribute("time", {"value": "{when}"})),
    ("value_invalid", with_attribute("color", {"type": "any", "value": [1]})),
    ("value_invalid", with_message({"protocoloptions": {"qos": "1"}})),
    ("contenttype_of_other_format", with_message({"datacontenttype": "application/geo+json; charset=utf-8"})),
    (
        "contenttypes_differ",
        with_message(
            {
                "envelopeoptions": {"mode": "structured"},
                "protocoloptions": {"content_type": "application/cloudevents+json"},
            }
        ),
    ),
    ("formats_differ", with_message({"dataschemaformat": "JSONSCHEMA/Draft-07"})),
    ("type_open", with_second({"basemessage": MOVED, "envelope": "CloudEvents/1.0"})),
    (
        "type_open",
        spoilt(
            {
                "messagegroups": {
                    "fleet": {
                        "messages": {
                            "base": {"envelope": "CloudEvents/1.0", "envelopemetadata": {"subject": {}}},
                            "vehicle.moved": {"basemessage": f"{GROUP}/messages/base"},
                        }
                    }
                }
            }
        ),
    ),
    ("definition_shadowed", with_second({"basemessage": MOVED, "envelopemetadata": {"color": {"value": "red"}}})),
    (
        "definition_shadowed",
        with_second({"basemessage": MOVED, "protocol": "NATS", "protocoloptions": {"subject": "x"}}),
    ),
    ("always_ambiguous", with_second({"basemessage": MOVED})),
    ("schema_type_after_colon", with_message({"dataschemauri": f"#{SCHEMA}:lat"})),
    ("attribute_misspelt", with_attribute("sources", {"value": "a"})),
    ("property_member_misspelt", with_attribute("subject", {"example": "a", "format": "b"})),
    ("schema_unused", {"schemagroups": CLEAN["schemagroups"]}),
    ("base_dangling", with_second({"basemessage": "https://a.example/m"})),
    ("base_circle", with_second({"basemessage": MOVED})),
    ("definition_impossible", with_message({"protocoloptions": {"user_properties": [{"name": "a"}, {"name": "a"}]}})),
    (
        "definition_impossible",
        with_message(
            {"protocoloptions": {"user_properties": [{"name": "a", "value": "1"}, {"name": "a", "value": "2"}]}}
        ),
    ),
    ("schema_incompatible", with_versions("none", POSITION, OTHER)),
    (
        "schema_refused",
        with_schema({"versions": {"1": {"schema": None, "schemaurl": "https://schemas.example/p"}}}),
    ),
    ("member_misspelt", with_schema({"schemauri": "https://schemas.example/p"})),
    ("alternative_dangling", with_endpoint({"deprecated": {"alternative": "https://a.example"}})),
]


def codes(tree: Tree) -> set[tuple[str, str]]:
    return {(finding.code, finding.pointer) for finding in lint(tree)}


def test_the_clean_catalog_is_clean() -> None:
    assert lint(CLEAN) == []


@pytest.mark.feature("MSG-004", "MSG-005", "MSG-006", "MSG-007", "MSG-008", "MSG-009", "MSG-010", "MSG-011", "MSG-013")
@pytest.mark.feature("MSG-014", "MSG-015", "MSG-016", "MSG-021", "MSG-022", "MSG-023", "MSG-024", "MSG-025", "MSG-026")
@pytest.mark.feature("MSG-027", "MSG-028", "MSG-029", "MSG-030", "MSG-031", "MSG-032", "MSG-033", "MSG-036", "MSG-037")
@pytest.mark.feature("MSG-038", "MSG-039", "MSG-040", "MSG-041", "MSG-042", "MSG-043", "MSG-044", "MSG-046", "MSG-051")
@pytest.mark.feature("MSG-054", "MSG-055", "MSG-057", "MSG-058", "MSG-059", "MSG-060", "MSG-062", "MSG-065", "MSG-070")
@pytest.mark.feature(
    "MSG-078", "MSG-079", "MSG-081", "MSG-082", "MSG-083", "MSG-095", "MSG-097", "MSG-098", "MSG-102", "MSG-104"
)
@pytest.mark.feature("MSG-107", "MSG-108", "MSG-111", "MSG-112", "MSG-113", "MSG-114", "MSG-115", "MSG-116", "MSG-118")
@pytest.mark.feature(
    "MSG-120", "MSG-122", "MSG-125", "EP-002", "EP-003", "EP-004", "EP-007", "EP-008", "EP-011", "EP-012"
)
@pytest.mark.feature("SCH-003", "SCH-005", "SCH-017", "SCH-018", "SCH-024")
@pytest.mark.feature("EP-014", "EP-015", "EP-016", "EP-045", "EP-047", "EP-050")
@pytest.mark.parametrize(("code", "tree", "pointer"), FOUND, ids=[f"{row[0]}-{row[2]}" for row in FOUND])
def test_it_is_found_at_its_place(code: str, tree: Tree, pointer: str) -> None:
    assert (code, pointer) in codes(tree)


@pytest.mark.parametrize(("code", "tree"), LEFT_ALONE, ids=[f"{row[0]}-{n}" for n, row in enumerate(LEFT_ALONE)])
def test_it_is_left_alone(code: str, tree: Tree) -> None:
    assert code not in {found for found, _ in codes(tree)}


@pytest.mark.audit("messages-D19")
@pytest.mark.parametrize(
    "message",
    [
        {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "t"}}},
        {"basemessage": MOVED, "envelopemetadata": {"subject": {}}},
        {"envelopemetadata": {}},
    ],
)
def test_attributes_of_an_envelope_that_is_named_somewhere_are_left_alone(message: Tree) -> None:
    assert "envelope_missing" not in {code for code, _ in codes(with_second(message))}


@pytest.mark.audit("messages-D20")
def test_an_ancestor_is_read_and_names_of_older_texts_are_called_so() -> None:
    older = with_message({"ancestor": "1", "dataschemauri": None, "dataschemaurl": SCHEMA})
    found = [one for one in lint(older) if one.code == "member_misspelt"]
    assert [(one.pointer, "not read" in one.sentence) for one in found] == [(f"{MOVED}/dataschemaurl", False)]


@pytest.mark.audit("messages-D20")
@pytest.mark.parametrize(
    ("name", "is_symbol"),
    [("my prop", False), ("a;b", False), ("", False), ("x-opt-key", True), ("cloudEvents:id", True)],
)
def test_names_in_amqp_are_symbols(name: str, is_symbol: bool) -> None:
    tree = with_options("AMQP/1.0", {"application-properties": {name: {"value": "x"}}})
    assert ("header_name" not in {code for code, _ in codes(tree)}) == is_symbol


@pytest.mark.audit("messages-D20")
def test_what_lint_says_is_not_looked_at_asks_nothing_of_a_message() -> None:
    tree = with_options("AMQP/1.0", {"properties": {"to": {"value": "ovens"}, "message_id": {"required": True}}})
    assert ("option_unknown", f"{OPTIONS}/properties/message_id") in codes(tree)
    moved = tree["messagegroups"]["fleet"]["messages"]["vehicle.moved"]
    moved["envelope"] = moved["envelopemetadata"] = None
    record = {"protocol": "AMQP/1.0", "metadata": {"properties": {"to": "ovens"}}, "payload": '{"lat": 1}'}
    assert Catalog(tree).match(record).outcome == "landed"


def test_every_rule_has_a_row() -> None:
    # Rules on older documents as they are written have their tests in test_own_places.py and test_half_messages.py.
    judged = {rule.code for rule in RULES if rule.subject != "written"}
    assert {row[0] for row in FOUND} | APART == judged


def test_codes_are_unique_and_every_finding_is_a_sentence() -> None:
    assert len({rule.code for rule in RULES}) == len(RULES)
    for _, tree, _ in FOUND:
        for finding in lint(tree):
            assert finding.sentence.rstrip('"').endswith((".", "?")) or ": " in finding.sentence
            assert finding.severity == {rule.code: rule.severity for rule in RULES}[finding.code]


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.features], ids=lambda rule: rule.code)
def test_features_are_written_as_ids(rule: Any) -> None:
    assert all(
        feature.startswith(("MSG-", "EP-", "SCH-", "D5M-", "D5R-")) and feature[-3:].isdigit()
        for feature in rule.features
    )


def test_what_is_inherited_is_reported_where_it_is_written() -> None:
    tree = with_second({"basemessage": MOVED, "envelopemetadata": {"color": {"value": "red"}}})
    tree["messagegroups"]["fleet"]["messages"]["vehicle.moved"]["envelopemetadata"]["id"] = {"value": "1"}
    assert [finding.pointer for finding in lint(tree) if finding.code == "id_fixed"] == [f"{ATTRIBUTES}/id/value"]


def test_pointers_lead_into_the_version_that_says_it() -> None:
    message = {**TWIN, "envelopemetadata": {"type": {"value": "vehicle.moved"}, "id": {"value": "1"}}}
    tree = spoilt({})
    tree["messagegroups"]["fleet"]["messages"]["vehicle.moved"] = {"name": "Moved", "versions": {"7": message}}
    assert ("id_fixed", f"{MOVED}/versions/7/envelopemetadata/id/value") in codes(tree)


def test_a_borrowed_message_is_judged_where_it_is() -> None:
    tree = with_second({"meta": {"xref": MOVED}})
    assert lint(tree) == []


@pytest.mark.audit("messages-D15")
@pytest.mark.feature("MSG-031")
def test_the_address_of_a_schema_is_what_its_xid_names() -> None:
    xid = "/schemagroups/s/schemas/order"
    schema = {"versions": {"1": {"format": "JsonSchema/draft-07", "schema": {"type": "object"}}}}
    message: dict[str, Any] = {
        "envelope": "CloudEvents/1.0",
        "envelopemetadata": {"type": {"value": "t"}},
        "dataschemaformat": "JsonSchema/draft-07",
        "dataschemaxid": xid,
        "dataschemauri": f"https://registry.example{xid}$details",
    }
    tree = {
        "self": "https://registry.example/",
        "messagegroups": {"g": {"messages": {"t": message}}},
        "schemagroups": {"s": {"schemas": {"order": schema}}},
    }
    assert {one.code for one in lint(tree)}.isdisjoint(
        {"schema_references_differ", "schema_dangling", "schema_outside"}
    )
    message["envelopemetadata"]["dataschema"] = {"value": f"https://registry.example{xid}"}
    assert "dataschema_differs" not in {one.code for one in lint(tree)}
    message["envelopemetadata"]["dataschema"] = {"value": "https://registry.example/other"}
    assert "dataschema_differs" in {one.code for one in lint(tree)}


def test_a_base_outside_is_said_to_be_fetched_by_others_than_lint() -> None:
    catalog = with_second({"basemessage": "https://elsewhere.example/m", **EVENT})
    (finding,) = [one for one in lint(catalog) if one.code == "base_outside"]
    assert finding.sentence == "the base https://elsewhere.example/m lies outside; lint does not fetch it."
    assert finding.remedy == "`match`, `make` and `sort` do, where allow_fetch names its host."
