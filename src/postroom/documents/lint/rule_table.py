"""The lint rules: a row each, with the code and severity that users rely on and the rows of FEATURES it enforces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

from postroom.documents.lint.findings import Diagnostic, Severity
from postroom.documents.lint.rules import (
    base_messages,
    cloudevents,
    definitions,
    deprecation,
    document,
    endpoints,
    messages,
    model,
    properties,
    protocol_options,
    schema_documents,
    schemas,
    v0_5,
)
from postroom.messages.definitions.inheritance import BASE_NAMES
from postroom.protocols.protocol import Option
from postroom.protocols.protocol_table import PROTOCOLS

# What a rule is called with: the document, each message, schema or endpoint of it, its schema documents, or each older
# document as it is written.
Subject = Literal["document", "message", "schema", "endpoint", "documents", "written"]


class LintRule(NamedTuple):
    """A rule: its stable code, its severity, the rows of FEATURES it enforces, what it looks at, and the function.

    Where there are `needs`, it finds nothing in a message that has none of these names anywhere.
    """

    code: str
    severity: Severity
    features: tuple[str, ...]
    subject: Subject
    find: Callable[[Any], Iterator[Diagnostic]]
    needs: frozenset[str]


def _rule(
    code: str, severity: Severity, features: str, subject: Subject, find: Callable[[Any], Iterator[Diagnostic]]
) -> LintRule:
    return LintRule(code, severity, tuple(features.split()), subject, find, _NEEDS.get(code, frozenset()))


def _spellings(is_wanted: Callable[[Option], bool]) -> frozenset[str]:
    options = (one for wire in PROTOCOLS for one in wire.options if is_wanted(one))
    return frozenset(name for one in options for name in (one.name, *one.aliases))


_BASE = frozenset(BASE_NAMES)
_LISTED = _spellings(lambda option: option.shape != "value")
_CONTENT_TYPES = _LISTED | {"datacontenttype", "content-type", "content_type"}
# Constraints of one value come from two spellings, from what has names in it, or from a base.
_TWO = _LISTED | _BASE | _spellings(lambda option: bool(option.aliases))
COMPARED = _TWO | {"dataschema", "deprecated"}
"""Names of what rules compare with something else in a message, or elsewhere."""
# What rules on messages are about, so that most of them need not be asked about most messages.
_NEEDS: dict[str, frozenset[str]] = {
    **dict.fromkeys(("base_name_variant", "base_conflict", "base_malformed", "base_circle"), _BASE),
    **dict.fromkeys(("base_dangling", "base_outside", "base_of_other_kind"), _BASE),
    **dict.fromkeys(("option_shape", "header_name"), _LISTED),
    **dict.fromkeys(("contenttype_malformed", "contenttypes_differ", "contenttype_of_other_format"), _CONTENT_TYPES),
    **dict.fromkeys(("definition_impossible", "templates_never_alike", "option_twice"), _TWO),
    **dict.fromkeys(("schema_twice", "inline_schema_refused", "dataschema_differs"), frozenset({"dataschema"})),
    **dict.fromkeys(
        ("dataschemaformat_malformed", "dataschemaformat_unknown", "formats_differ"), frozenset({"dataschemaformat"})
    ),
    **dict.fromkeys(("type_unknown", "type_variant", "option_type"), frozenset({"type"})),
    **dict.fromkeys(("required_of_value", "required_attribute_optional"), frozenset({"required"})),
    "attributes_in_options": frozenset({"envelopeoptions"}),
    "attributes_nested": frozenset({"attributes"}),
    "dataschemaformat_missing": frozenset({"dataschema", "dataschemauri"}),
    "description_empty": frozenset({"description"}),
    "event_format_unknown": frozenset({"format"}),
    "id_fixed": frozenset({"id"}),
    "message_id_fixed": frozenset({"message-id"}),
    "option_out_of_range": _spellings(lambda option: option.name in (*protocol_options.RANGES, "status", "method")),
    "options_exclusive": frozenset(name for pair in protocol_options.EXCLUSIVE for name in pair),
    "schema_reference_malformed": frozenset({"dataschemauri", "dataschemaxid"}),
    "schema_references_differ": frozenset({"dataschemaxid"}),
    "specversion_other": frozenset({"specversion"}),
    "time_fixed": frozenset({"time"}),
}


RULES: tuple[LintRule, ...] = (
    # The document
    _rule("not_an_object", "error", "MSG-001 MSG-002 MSG-003 MSG-023", "document", document.not_an_object),
    _rule("id_mismatch", "error", "MSG-003", "document", document.id_other_than_key),
    _rule("id_malformed", "error", "MSG-003", "document", document.id_malformed),
    _rule("ids_collide", "error", "MSG-003", "document", document.ids_collide),
    _rule("member_misspelt", "warning", "MSG-021 EP-013", "document", document.member_misspelt),
    _rule("default_version_misplaced", "info", "", "document", document.default_version_misplaced),
    _rule(
        "attribute_invalid",
        "error",
        "MSG-024 MSG-035 MSG-036 MSG-037 MSG-038 MSG-065 MSG-066 MSG-068 MSG-070 MSG-071 MSG-084 MSG-085 MSG-086 "
        "MSG-088 MSG-089 MSG-092 MSG-093 MSG-094 MSG-095 MSG-096 EP-007 EP-009 EP-012",
        "document",
        model.value_refused,
    ),
    _rule("registry_attribute_invalid", "warning", "", "document", model.registry_value_refused),
    # Selectors and members of a message
    _rule("selector_missing", "error", "D5M-002 D5M-004", "written", v0_5.selector_missing),
    _rule("selector_empty", "error", "MSG-004 MSG-005", "message", messages.selector_empty),
    _rule("selector_malformed", "error", "MSG-004 MSG-005 MSG-007", "message", messages.selector_malformed),
    _rule("selector_misspelt", "warning", "MSG-007 EP-010", "message", messages.selector_misspelt),
    _rule("group_selector_empty", "error", "MSG-004 MSG-005", "document", messages.group_selector),
    _rule("protocol_none", "warning", "MSG-005", "message", messages.protocol_none),
    _rule("protocol_version_missing", "warning", "MSG-006", "message", messages.protocol_version_missing),
    _rule("group_mismatch", "error", "MSG-008 MSG-009 EP-008 EP-011", "message", messages.group_mismatch),
    _rule("selector_inherited", "info", "MSG-008 MSG-009", "message", messages.selector_inherited),
    _rule("metadata_missing", "error", "MSG-022 MSG-025", "message", messages.metadata_missing),
    _rule("envelope_missing", "warning", "MSG-022", "message", messages.envelope_missing),
    _rule("attributes_in_options", "warning", "MSG-023 MSG-024", "message", messages.attributes_in_options),
    _rule("attributes_nested", "info", "MSG-023", "message", messages.attributes_nested),
    _rule("xref_dangling", "warning", "MSG-015", "document", messages.reference_dangling),
    _rule("xref_mismatch", "error", "MSG-008 MSG-009 EP-008 EP-011", "document", messages.reference_mismatch),
    _rule("definition_refused", "error", "MSG-046", "message", messages.definition_refused),
    # Properties
    _rule("property_bare", "warning", "MSG-023", "message", properties.property_bare),
    _rule("property_member_misspelt", "warning", "MSG-036 MSG-037", "message", properties.member_misspelt),
    _rule("description_empty", "error", "MSG-036", "message", properties.description_empty),
    _rule("type_unknown", "error", "MSG-039", "message", properties.type_unknown),
    _rule("type_variant", "warning", "MSG-039", "message", properties.type_variant),
    _rule(
        "value_invalid",
        "error",
        "MSG-040 MSG-041 MSG-042 MSG-043 MSG-044 MSG-102 MSG-103 MSG-104 MSG-105 MSG-106 MSG-109 MSG-111 MSG-114 "
        "MSG-118 MSG-120",
        "message",
        properties.value_invalid,
    ),
    _rule("required_of_value", "warning", "MSG-037 MSG-045", "message", properties.required_of_value),
    _rule("value_none", "warning", "MSG-044", "message", properties.value_none),
    _rule("template_invalid", "error", "MSG-046 MSG-080 MSG-110 MSG-115", "message", properties.template_broken),
    _rule("braces_literal", "info", "MSG-046", "message", properties.braces_literal),
    _rule("placeholder_in_type", "warning", "MSG-051", "message", properties.placeholder_in_type),
    _rule("placeholders_similar", "info", "MSG-049", "message", definitions.placeholder_once),
    _rule("timestamp_template", "warning", "MSG-043 MSG-051", "message", properties.timestamp_template),
    _rule("now_variant", "info", "MSG-053 MSG-054", "message", properties.now_variant),
    # CloudEvents
    _rule("attribute_name", "error", "MSG-055", "message", cloudevents.attribute_name),
    _rule("attribute_misspelt", "warning", "MSG-063", "message", cloudevents.attribute_misspelt),
    _rule("specversion_other", "error", "MSG-057 MSG-065", "message", cloudevents.specversion_other),
    _rule("required_attribute_optional", "error", "MSG-058", "message", cloudevents.always_required),
    _rule("id_fixed", "warning", "MSG-059", "message", cloudevents.id_fixed),
    _rule("time_fixed", "warning", "MSG-060", "message", cloudevents.time_fixed),
    _rule("dataschema_differs", "error", "MSG-062", "message", cloudevents.dataschema_differs),
    _rule("event_format_unknown", "warning", "MSG-024", "message", cloudevents.event_format_unknown),
    _rule("type_open", "warning", "MSG-010", "document", cloudevents.type_open),
    _rule("type_id_mismatch", "info", "MSG-010", "message", cloudevents.type_other_than_id),
    # Protocol options
    _rule("option_unknown", "warning", "MSG-083 MSG-117 MSG-121 MSG-124", "message", protocol_options.option_unknown),
    _rule(
        "option_of_mqtt5",
        "error",
        "MSG-107 MSG-108 MSG-109 MSG-110 MSG-111 MSG-112 MSG-116",
        "message",
        protocol_options.option_of_mqtt5,
    ),
    _rule("option_variant", "info", "MSG-108 MSG-125", "message", protocol_options.option_variant),
    _rule("option_not_read", "warning", "D5M-012", "written", v0_5.timestamp_not_read),
    _rule("option_twice", "error", "MSG-125", "message", protocol_options.option_twice),
    _rule("options_exclusive", "error", "MSG-082 MSG-122", "message", protocol_options.options_exclusive),
    _rule(
        "option_out_of_range",
        "error",
        "MSG-081 MSG-082 MSG-108 MSG-113",
        "message",
        protocol_options.option_out_of_range,
    ),
    _rule(
        "option_type",
        "error",
        "MSG-102 MSG-103 MSG-104 MSG-105 MSG-106 MSG-108 MSG-109 MSG-111 MSG-113 MSG-114 MSG-118 MSG-120",
        "message",
        protocol_options.option_type,
    ),
    _rule("option_shape", "error", "MSG-078 MSG-083 MSG-116 MSG-123 MSG-126", "message", protocol_options.shape_wrong),
    _rule("option_as_map", "info", "MSG-079", "message", protocol_options.query_as_map),
    _rule("header_name", "error", "MSG-078 MSG-098 MSG-099 MSG-100 MSG-101", "message", protocol_options.header_name),
    _rule("names_collide", "error", "MSG-098", "message", protocol_options.names_collide),
    _rule("message_id_fixed", "warning", "MSG-097", "message", protocol_options.message_id_fixed),
    # Base messages
    _rule("base_name_variant", "info", "MSG-021", "message", base_messages.base_name_variant),
    _rule("base_conflict", "error", "MSG-021", "message", base_messages.base_conflict),
    _rule("base_malformed", "error", "MSG-013", "message", base_messages.base_malformed),
    _rule("base_circle", "error", "MSG-016", "message", base_messages.base_circle),
    _rule("base_dangling", "warning", "MSG-015", "message", base_messages.base_dangling),
    _rule("base_outside", "info", "MSG-014", "message", base_messages.base_outside),
    _rule("base_of_other_kind", "info", "MSG-020", "message", base_messages.base_of_other_kind),
    # Payload schemas, as messages refer to them
    _rule("schema_twice", "error", "MSG-027 MSG-028", "message", messages.schema_twice),
    _rule("schema_references_differ", "error", "MSG-031", "message", messages.schema_references_differ),
    _rule("dataschemaformat_missing", "error", "MSG-027 MSG-028", "message", messages.schema_format_unsaid),
    _rule("dataschemaformat_malformed", "error", "MSG-026", "message", messages.format_version_missing),
    _rule("dataschemaformat_unknown", "warning", "MSG-026", "message", messages.format_unknown),
    _rule("contenttype_malformed", "error", "MSG-032", "message", messages.contenttype_malformed),
    _rule("contenttypes_differ", "error", "MSG-033 MSG-034", "message", messages.contenttypes_differ),
    _rule("contenttype_of_other_format", "warning", "MSG-061", "message", messages.contenttype_of_other_format),
    _rule("schema_reference_malformed", "error", "MSG-028 MSG-030", "message", schemas.reference_malformed),
    _rule("schema_dangling", "error", "MSG-028 MSG-030", "document", schemas.reference_dangling),
    _rule("schema_outside", "info", "MSG-028", "message", schemas.reference_outside),
    _rule(
        "schema_type_missing", "error", "MSG-029 SCH-019 SCH-021 SCH-022", "documents", schema_documents.type_missing
    ),
    _rule("schema_type_after_colon", "info", "SCH-021 SCH-022", "message", schemas.type_after_colon),
    _rule("formats_differ", "warning", "MSG-026", "message", schemas.formats_differ),
    _rule("inline_schema_refused", "error", "MSG-027 MSG-131", "message", schemas.inline_refused),
    # Payload schemas themselves
    _rule("schema_format_missing", "error", "SCH-005", "schema", schemas.format_missing),
    _rule("schema_format_malformed", "warning", "SCH-012 SCH-014", "schema", schemas.format_version_missing),
    _rule("schema_format_unknown", "warning", "SCH-018", "schema", schemas.format_unknown),
    _rule("schema_format_variant", "info", "SCH-017", "schema", schemas.format_variant),
    _rule("schema_formats_differ", "error", "SCH-005", "schema", schemas.formats_of_versions_differ),
    _rule("schema_id_twice", "error", "", "schema", schemas.ids_twice),
    _rule("schema_group_format", "error", "SCH-003", "document", schemas.group_format_differs),
    _rule("schema_document_missing", "warning", "SCH-001", "schema", schemas.document_missing),
    _rule("schema_document_elsewhere", "info", "SCH-001", "schema", schemas.document_elsewhere),
    _rule("schema_document_within", "error", "D5R-037", "written", v0_5.schema_within),
    _rule("schema_url_variant", "info", "SCH-001", "schema", schemas.url_name_variant),
    _rule("schema_refused", "error", "SCH-024", "documents", schema_documents.document_refused),
    _rule("schema_reference_missing", "error", "", "documents", schema_documents.document_reference_missing),
    _rule("schema_incompatible", "error", "SCH-009 SCH-025 SCH-028", "documents", schema_documents.incompatible),
    _rule("schema_undecided", "info", "SCH-025", "documents", schema_documents.undecided),
    _rule("schema_unused", "info", "", "document", schemas.unused),
    # Definitions as filters
    _rule("definition_impossible", "error", "MSG-045 MSG-128", "message", definitions.impossible),
    _rule("templates_never_alike", "error", "MSG-047 MSG-049", "message", definitions.never_alike),
    _rule("definition_shadowed", "warning", "MSG-128", "document", definitions.shadowed),
    _rule("always_ambiguous", "warning", "MSG-128 MSG-129", "document", definitions.always_ambiguous),
    _rule("decided_by_schema", "info", "MSG-129", "document", definitions.decided_by_schema),
    _rule("type_shared", "info", "MSG-010", "document", definitions.type_shared),
    # Endpoints
    _rule("usage_missing", "error", "EP-002", "endpoint", endpoints.usage_missing),
    _rule("usage_as_word", "info", "EP-002", "endpoint", endpoints.usage_as_word),
    _rule(
        "endpoint_rule",
        "warning",
        "EP-003 EP-004 EP-005 EP-007 EP-008 EP-009 EP-016 EP-019 EP-020 EP-023 EP-024 EP-029 EP-030 EP-033 "
        "EP-045 EP-046 EP-053 EP-056 EP-058 EP-066 EP-067 EP-068 EP-069",
        "endpoint",
        endpoints.rule_broken,
    ),
    _rule("consumergroup_missing", "warning", "EP-066", "endpoint", endpoints.consumergroup_missing),
    _rule("endpoint_credential", "error", "EP-017 EP-032", "endpoint", endpoints.credential_stored),
    _rule("endpoint_option_unknown", "warning", "EP-010", "endpoint", endpoints.option_unknown),
    _rule("endpoint_option_variant", "warning", "EP-010", "endpoint", endpoints.option_variant),
    _rule("endpoint_options_nested", "info", "EP-016", "endpoint", endpoints.options_nested),
    _rule("endpoint_member_misplaced", "warning", "EP-016 EP-021", "endpoint", endpoints.member_misplaced),
    _rule("messagegroup_dangling", "error", "EP-012", "document", endpoints.group_dangling),
    _rule("messagegroup_outside", "info", "EP-012", "document", endpoints.group_outside),
    _rule("messagegroup_of_other_kind", "error", "EP-008 EP-011", "document", endpoints.group_of_other_kind),
    _rule("message_ids_collide", "warning", "EP-014", "document", endpoints.message_ids_collide),
    _rule("willmessage_dangling", "error", "EP-050", "document", endpoints.will_dangling),
    # Deprecation
    _rule("deprecated_without_alternative", "info", "MSG-011", "document", deprecation.without_alternative),
    _rule("alternative_dangling", "warning", "MSG-011", "document", deprecation.alternative_dangling),
    _rule("alternative_deprecated", "warning", "MSG-011", "document", deprecation.alternative_deprecated),
    _rule("removal_too_early", "error", "MSG-011", "document", deprecation.removal_too_early),
    _rule("deprecation_docs", "info", "EP-015", "document", deprecation.docs_variant),
)

# Found while the files of a source are put together, before any rule looks at them.
FILE_PROBLEMS: dict[str, Severity] = {
    "group_twice": "error",
    "file_outside": "error",
    "file_missing": "error",
    "file_circle": "error",
    "file_not_fetched": "warning",
    "member_twice": "warning",
    "member_conflict": "error",
}

# Rules on older documents as they are written; all others see them in the names of 1.0.
OLDER_DOCUMENT_RULES: dict[str, Callable[[Any], Iterator[Diagnostic]]] = {
    "member_misspelt": v0_5.misspelt,
    "group_mismatch": v0_5.format_of_other_kind,
    "metadata_missing": v0_5.metadata_missing,
    "type_variant": v0_5.type_datetime,
    **{rule.code: rule.find for rule in RULES if rule.subject == "written"},
}
SEVERITY_OF: dict[str, Severity] = {**FILE_PROBLEMS, **{rule.code: rule.severity for rule in RULES}}
