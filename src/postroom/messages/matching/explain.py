"""Explanations of match outcomes, in sentences."""

from __future__ import annotations

from collections.abc import Mapping

from postroom.messages.definitions.definition import Constraint
from postroom.messages.matching.outcome import Match, Reason
from postroom.messages.matching.remedies import is_member, is_of_endpoint, remedy

# The constraints of definitions, by xid and JSON pointer.
Constraints = Mapping[tuple[str, str], Constraint]

SENTENCES = {
    "required_missing": "{at} is missing; it must be {expected}",
    "constant_mismatch": "{at} must be {expected!r} but is {found!r}",
    "template_mismatch": "{at} must look like {expected!r} but is {found!r}",
    "variable_conflict": "{at} says {found!r}, but the message already said {expected}",
    "event_rule": "{at} must be {expected} in every CloudEvent but is {found!r}",
    "attribute_name": "CloudEvents has no attribute {found!r}: names are {expected} only",
    "type_mismatch": "{at} must be of type {expected} but is {found!r}",
    "protocol_mismatch": "it is defined for {expected} and came over {found}",
    "envelope_missing": "it must be a {expected} message and has no envelope",
    "envelope_mismatch": "it must be a {expected} message and is a {found} one",
    "null_not_allowed": "{at} is null; it must be {expected}, or left out",
    "payload_required": "{at} must have the member {expected!r}",
    "payload_additional_properties": "{at} must not have {expected}",
    "payload_not_json": "the payload is not JSON: {found}",
    "payload_not_protobuf": "the payload is not Protobuf: {found}",
    "payload_not_xml": "the payload is not XML: {found}",
    "payload_resolution": "{at} was written as {found}, and the definition's schema reads {expected}",
    "content_encoding_unknown": "the payload has the content encoding {found!r}; it must be {expected}",
    "content_encoding_broken": "the payload is not {expected}, as its content encoding says: {found}",
    "payload_too_large": "the payload has {found} when it is unpacked; payloads may have {expected}",
    "schema_id_unknown": "it was written with {found}, and no version of its schema is known by that: {expected}",
    "schema_unusable": "the schema that it was written with cannot be used: {found}",
    "column_mismatch": "{at} must be {expected} to fit its column but is {found!r}",
    "fits_as_well": "it fits as well, and nothing decides",
    "no_definition": "nothing in the catalog describes it: {found!r} is not {expected}",
    "record_too_large": "it has {found}; records may have {expected}",
    "record_broken": "{found}",
    "event_broken": "it is not a CloudEvent: {found}",
    "event_format_unknown": "events are read in JSON ({expected}) and it is one in {found}",
    "header_broken": "{at} must be {expected} but is {found!r}",
    "batch_broken": "it is not a batch of CloudEvents: {found}",
    "empty_batch": "it is a batch without events",
    "column_misfit": "its table cannot hold it: {found}",
    "check_failed": "the payload could not be checked: {found}",
    "payload_not_text": "{at} is not UTF-8 text",
    "specversion_unknown": "specversion must be {expected!r} but is {found!r}",
}


def explain_reason(reason: Reason) -> str:
    """Explain one reason, as a sentence without its full stop."""
    sentence = SENTENCES.get(reason.code, "{at} must be {expected} but is {found}")
    if reason.code == "null_not_allowed" and not is_member(reason.at):
        sentence = "{at} is null; it must be {expected}"
    if reason.code == "no_definition" and is_of_endpoint(reason):
        sentence = "nothing that the endpoint has describes it: {found!r} is not {expected}"
    return sentence.format(at=reason.at or "it", expected=reason.expected, found=reason.found)


def explain_match(match: Match, constraints: Constraints | None = None) -> str:
    """Explain the outcome of a message in one or more lines, with remedies."""
    if match.outcome == "landed":
        bound = "".join(f" {name}={value}" for name, value in match.variables.items())
        landed = f"landed     {match.message}{' with' if bound else ''}{bound}"
        return f"{landed}\n           - the payload was not checked: {match.unchecked}" if match.unchecked else landed
    lines = [f"{match.outcome:<10} {match.message or 'no definition'}"]
    found = [(constraints or {}).get((reason.message, reason.at)) for reason in match.reasons]
    advice = [*map(remedy, match.reasons, found), ""]
    for index, (reason, constraint) in enumerate(zip(match.reasons, found, strict=True)):
        lines.append(f"           - {_subject(reason, match)}{explain_reason(reason)}{_origin(constraint)}")
        if advice[index] and advice[index] != advice[index + 1]:  # one remedy for several reasons is given once
            lines.append(f"             {advice[index]}")
    return "\n".join(lines)


def _subject(reason: Reason, match: Match) -> str:
    return f"{reason.message}: " if reason.message and reason.message != match.message else ""


def _origin(constraint: Constraint | None) -> str:
    return f" (so says its base {constraint.origin})" if constraint is not None and constraint.origin else ""
