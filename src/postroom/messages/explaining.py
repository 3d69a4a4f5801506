"""Explaining in words why a message is where it is."""

from __future__ import annotations

from collections.abc import Mapping

from postroom.messages.outcome import Match, Reason

SENTENCES = {
    "required_missing": "{at} is missing; it must be {expected}",
    "constant_mismatch": "{at} must be {expected!r} but is {found!r}",
    "template_mismatch": "{at} must look like {expected!r} but is {found!r}",
    "variable_conflict": "{at} says {found!r}, but the message already said {expected}",
    "type_mismatch": "{at} must be of type {expected} but is {found!r}",
    "protocol_mismatch": "it is defined for {expected} and came over {found}",
    "envelope_missing": "it must be a {expected} message and has no envelope",
    "null_not_allowed": "{at} is null; it must be {expected}, or left out",
    "payload_required": "{at} must have the member {expected!r}",
    "payload_additional_properties": "{at} must not have {expected}",
    "payload_not_json": "the payload is not JSON: {found}",
    "payload_not_protobuf": "the payload is not Protobuf: {found}",
    "payload_not_xml": "the payload is not XML: {found}",
    "column_mismatch": "{at} must be {expected} to fit its column but is {found!r}",
    "fits_as_well": "it fits as well, and nothing decides",
    "no_definition": "nothing in the catalog describes it ({at} is {found!r})",
    "record_too_large": "it has {found}; records may have {expected}",
    "record_broken": "{found}",
    "event_broken": "it is not a CloudEvent: {found}",
    "event_format_unknown": "events are read in JSON ({expected}) and it is one in {found}",
    "header_broken": "{at} must be {expected} but is {found!r}",
    "batch_broken": "it is not a batch of CloudEvents: {found}",
    "empty_batch": "it is a batch without events",
    "column_misfit": "its table cannot hold it: {found}",
    "payload_not_text": "{at} is not UTF-8 text",
    "specversion_unknown": "specversion must be {expected!r} but is {found!r}",
}


def explain_reason(reason: Reason) -> str:
    """One reason as a sentence without its end."""
    sentence = SENTENCES.get(reason.code, "{at} must be {expected} but is {found}")
    return sentence.format(at=reason.at or "it", expected=reason.expected, found=reason.found)


def explain_match(match: Match, origins: Mapping[tuple[str, str], str] | None = None) -> str:
    """What became of a message, in a line or a few; `origins` tells which base declares a rule of a definition."""
    if match.outcome == "landed":
        bound = "".join(f" {name}={value}" for name, value in match.variables.items())
        return f"landed     {match.message}{' with' if bound else ''}{bound}"
    head = f"{match.outcome:<10} {match.message or 'no definition'}"
    lines = (
        f"           - {_subject(reason, match)}{explain_reason(reason)}{_origin(reason, origins)}"
        for reason in match.reasons
    )
    return "\n".join([head, *lines])


def _subject(reason: Reason, match: Match) -> str:
    return f"{reason.message}: " if reason.message and reason.message != match.message else ""


def _origin(reason: Reason, origins: Mapping[tuple[str, str], str] | None) -> str:
    origin = (origins or {}).get((reason.message, reason.at))
    return f" (so says its base {origin})" if origin else ""
