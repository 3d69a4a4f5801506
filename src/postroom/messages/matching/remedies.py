"""Remedies: what would make a message fit, one sentence per reason code."""

from __future__ import annotations

import re

from postroom.messages.definitions.definition import Constraint
from postroom.messages.definitions.templates import has_placeholder
from postroom.messages.matching.outcome import Reason

EXAMPLES = {
    "any": "any value",
    "binary": "base64, like cG9zdA==",
    "boolean": "true or false",
    "duration": "an ISO 8601 duration, like PT5M",
    "integer": "a whole number of 32 bits, like 42",
    "number": "a number, like 4.2",
    "string": "text",
    "ulong": "a whole number from 0 to 2^64 - 1, like 42",
    "uuid": "a UUID, like 5f0c1b1e-6d3c-4b9a-9d3b-2f6f6f6f6f6f",
    "symbol": "letters, digits and underscores only",
    "timestamp": "RFC 3339, like 2026-05-04T10:00:00Z",
    "uri": "an absolute URI, like https://example.com/x",
    "urireference": "a URI or a path, like /ovens/7",
    "uritemplate": "text",
}

REMEDIES = {
    "constant_mismatch": "Set {name} to {expected!r}.",
    "event_rule": "Set {name} to {expected}.",
    "attribute_name": "Rename the attribute, or leave it out.",
    "variable_conflict": "A placeholder has one value in the whole message: make all its places say the same.",
    "protocol_mismatch": "Send it over {expected}, or define the message for {found}.",
    "envelope_missing": "Send it as a CloudEvent: with specversion, id, source and type.",
    "envelope_mismatch": "Send it with that envelope, or define the message for {found}.",
    "null_not_allowed": "Leave it out or write a value; with `nulls` set to absent, null counts as left out.",
    "payload_required": "Add the member, or make it optional in the schema.",
    "payload_additional_properties": "Leave it out, or add it to the schema.",
    "payload_not_json": "Send JSON, or state the true content type.",
    "payload_not_protobuf": "Send Protobuf of this message type, or state the true content type.",
    "payload_not_xml": "Send XML, or state the true content type.",
    "payload_not_text": "Send UTF-8, or declare a content type that is not text.",
    "content_encoding_unknown": (
        "Send it without that encoding, or packed with gzip; zstd and br need `postroom[spark]` to be installed."
    ),
    "content_encoding_broken": "Pack the payload as the content encoding says, or leave the content encoding out.",
    "payload_too_large": "Send less, or raise the setting max_record_mb.",
    "check_failed": "This is a defect of Postroom or of a library that it uses: report it with the record.",
    "payload_resolution": "Make the versions of the schema compatible: `postroom schema compat` tells what is missing.",
    "schema_id_unknown": (
        "Add the id to the attribute `schemaids` of the version that it was written with, or add that version."
    ),
    "schema_unusable": "Correct that version of the schema.",
    "column_mismatch": "Send a smaller value, or give the member a wider type in the schema.",
    "column_misfit": "Make the schema say what the table can hold.",
    "fits_as_well": "Make the definitions differ: in type, protocol or a constant value, or derive one from the other.",
    "no_definition": "Add a definition to the catalog, or look whether the right catalog is used.",
    "record_too_large": "Send less, or raise the setting max_record_mb.",
    "record_broken": 'A record is {{"protocol": …, "metadata": {{…}}, "payload": …}} or a CloudEvent, on one line.',
    "event_broken": "Send a JSON object with specversion, id, source and type.",
    "event_format_unknown": "Send it in JSON ({expected}), or in binary mode.",
    "header_broken": "Percent-encode the UTF-8 bytes of the value, like %C3%B8 for ø.",
    "batch_broken": "Send a JSON array of CloudEvents.",
    "empty_batch": "Send at least one event.",
    "specversion_unknown": "Set specversion to 1.0.",
}


def remedy(reason: Reason, constraint: Constraint | None = None) -> str:
    """The remedy for a reason; empty where there is none."""
    name = pointer_in_words(reason.at, constraint)
    if reason.code == "type_mismatch":
        return f"Set {name} to {EXAMPLES.get(reason.expected, reason.expected)}."
    if reason.code == "required_missing":
        return f"Add {name}: {_expected(reason, constraint)}."
    if reason.code == "template_mismatch":
        return f"Write {name} like {_example(reason.expected)!r}{_crossing(reason)}."
    if reason.code == "constant_mismatch" and reason.at == "/envelopemetadata/type":
        return f"If this definition is meant, set type to {reason.expected!r}."
    if reason.code == "null_not_allowed" and not is_member(reason.at):
        return "Write a value, or allow null in the schema."
    if reason.code == "no_definition" and is_of_endpoint(reason):
        return "Add the definition to a message group of the endpoint, or look whether it is the right endpoint."
    known = REMEDIES.get(reason.code)
    if known is None:
        return "Change the value, or the schema." if reason.at.startswith("/data") else ""
    return known.format(name=name, expected=reason.expected, found=reason.found)


def is_of_endpoint(reason: Reason) -> bool:
    """Whether a reason is about the definitions of one endpoint only."""
    return " of the endpoint /" in reason.expected


def is_member(at: str) -> bool:
    """Whether a pointer leads to a member of the payload, which may be left out, not to an array item or the whole."""
    _, *steps = at.split("/")
    return len(steps) > 1 and not steps[-1].isdecimal()


def pointer_in_words(at: str, constraint: Constraint | None = None) -> str:
    """A JSON pointer in words: an attribute, a header, an option, a member of the payload."""
    steps = [step.replace("~1", "/").replace("~0", "~") for step in at.split("/")[1:]]
    if not any(steps) or steps == ["protocoloptions"]:
        return "it"
    if steps == ["datacontenttype"]:
        return "the content type"
    if steps[0] == "envelopemetadata":
        return f"the attribute {steps[-1]}"
    if steps[0] != "protocoloptions":
        return at
    path = constraint.path if constraint is not None else tuple(steps[1:])
    if len(path) == 1:
        return path[0]
    noun = {"headers": "header", "user_properties": "user property", "query": "query parameter"}.get(path[0])
    return f"the {noun} {path[-1]}" if noun else f"{path[-1]} in {path[0]}"


def _expected(reason: Reason, constraint: Constraint | None) -> str:
    if has_placeholder(reason.expected):
        return f"something like {_example(reason.expected)!r}"
    if constraint is not None and constraint.value is None:
        return EXAMPLES.get(constraint.type, constraint.type)
    return repr(reason.expected) if constraint is not None else reason.expected


def _example(template: str) -> str:
    """A string that fits a template: placeholders in capitals."""
    return re.sub(r"\{([A-Za-z0-9_]+)\}", lambda found: found[1].upper(), template)


def _crossing(reason: Reason) -> str:
    """A hint where only `/`, `?` or `#` in a value keep it from fitting."""
    pieces = re.split(r"\{[A-Za-z0-9_]+\}", reason.expected)
    if not any(character in reason.found for character in "/?#"):
        return ""
    position = 0
    for piece in pieces:
        found = reason.found.find(piece, position)
        if found < 0:
            return ""
        position = found + len(piece)
    return "; in the value of a placeholder, / ? and # are percent-encoded (%2F %3F %23)"
