"""Rules on a message as a whole: selectors, required and exclusive members, content types."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence

import msgspec

from postroom.documents.lint.findings import Diagnostic
from postroom.documents.lint.members import section, text
from postroom.documents.lint.subjects import LintedDocument, LintedMessage
from postroom.formats.format_table import FAMILIES, format_named
from postroom.messages.definitions.catalog_tree import CatalogMessage, Tree, find_message, local_path, members
from postroom.messages.definitions.registry_rules import check_message, messagegroup_advice
from postroom.model.json_pointers import leads, pointer
from postroom.protocols.cloudevents import ENVELOPE, media_type
from postroom.protocols.protocol_table import PROTOCOLS, canonical_protocol, wire_named

SELECTORS = ("envelope", "protocol")
# Placeholders side by side, the one thing for which a definition is refused whose bases are in order.
_NEIGHBOURS = b"}{"
METADATA = {"envelope": "envelopemetadata", "protocol": "protocoloptions"}

_PROTOCOLS = tuple(spelling for wire in PROTOCOLS for spelling in wire.spellings)
_MEDIA_TYPE = re.compile(r"\A[A-Za-z0-9!#$&^_.+\-]+/[A-Za-z0-9!#$&^_.+*\-]+( *;.*)?\Z", re.DOTALL)
_CONTENT_TYPE_OPTIONS = frozenset({"content-type", "content_type"})


def selector_empty(message: LintedMessage) -> Iterator[Diagnostic]:
    """A selector that is there must say something."""
    for name in SELECTORS:
        if name in message.own and message.own[name] in ("", None):
            yield Diagnostic(message.at(name), f"{name} is empty.", f"Name the {name}, or leave it out.")


def selector_malformed(message: LintedMessage) -> Iterator[Diagnostic]:
    """Envelopes are NAME/VERSION, protocols NAME or NAME/VERSION."""
    envelope, protocol = text(message.own, "envelope"), text(message.own, "protocol")
    if envelope and not _is_name(envelope, versioned=True):
        yield Diagnostic(message.at("envelope"), f"{envelope!r} is not NAME/VERSION.", "Write it like CloudEvents/1.0.")
    if protocol and not _is_name(protocol):
        remedy = "Write it like KAFKA or MQTT/5.0."
        yield Diagnostic(message.at("protocol"), f"{protocol!r} is neither NAME nor NAME/VERSION.", remedy)


def selector_misspelt(message: LintedMessage) -> Iterator[Diagnostic]:
    """A name that nobody knows and that looks like one that everybody knows; it is compared literally."""
    envelope, protocol = text(message.own, "envelope"), text(message.own, "protocol")
    if envelope and envelope.lower() != ENVELOPE.lower():
        yield from _near(message.at("envelope"), envelope, (ENVELOPE,))
    if canonical_protocol(protocol) and not wire_named(protocol).options:
        yield from _near(message.at("protocol"), protocol, _PROTOCOLS)


def _near(place: str, given: str, known: Sequence[str]) -> Iterator[Diagnostic]:
    close = difflib.get_close_matches(given.lower(), [one.lower() for one in known], n=1, cutoff=0.8)
    if close:
        meant = next(one for one in known if one.lower() == close[0])
        yield Diagnostic(place, f"{given!r} is not known and compared literally.", f"Did you mean {meant}?")


def group_selector(document: LintedDocument) -> Iterator[Diagnostic]:
    """A selector of a group that is there says something."""
    for name, group in members(document.tree, "messagegroups").items():
        for violation in messagegroup_advice(group):
            place = pointer(("messagegroups", name, *violation.path))
            yield Diagnostic(place, f"{violation.path[-1]} {violation.detail}.", "Name it, or leave it out.")


def protocol_none(message: LintedMessage) -> Iterator[Diagnostic]:
    """The word None is no protocol."""
    if text(message.own, "protocol").lower() == "none":
        sentence = "the protocol is the word 'None', which is read as no protocol at all."
        yield Diagnostic(message.at("protocol"), sentence, "Leave protocol out.")


def protocol_version_missing(message: LintedMessage) -> Iterator[Diagnostic]:
    """MQTT has incompatible versions, so its name needs one."""
    if text(message.own, "protocol").upper() == "MQTT":
        sentence = "MQTT has incompatible versions and the protocol names none; it is read as MQTT/5.0."
        yield Diagnostic(message.at("protocol"), sentence, "Write MQTT/5.0 or MQTT/3.1.1.")


def group_mismatch(message: LintedMessage) -> Iterator[Diagnostic]:
    """A message has the envelope and protocol of its group or endpoint."""
    is_endpoint = message.entry.owner_type == "endpoints"
    remedy = "Make both the same." if is_endpoint else "Make both the same, or leave the group's out."
    for name, sentence in _differing_selectors(message.entry, message.own):
        yield Diagnostic(message.at(name), sentence, remedy)


def _differing_selectors(entry: CatalogMessage, message: Tree) -> Iterator[tuple[str, str]]:
    """Selectors of a message that are not those of what `entry` belongs to, each with a sentence."""
    if entry.owner_type == "endpoints":
        for violation in check_message(entry.owner, message):
            yield str(violation.path[0]), f"{violation.detail}."
        return
    for name in SELECTORS:
        wanted, given = text(entry.owner, name), text(message, name)
        if wanted and given and canonical_protocol(wanted) != canonical_protocol(given):
            yield name, f"{name} is {given}, that of the group is {wanted}."


def selector_inherited(message: LintedMessage) -> Iterator[Diagnostic]:
    """A message says itself which envelope and protocol its group has: it may be borrowed by other groups."""
    for name in SELECTORS:
        wanted = text(message.entry.owner, name)
        if message.entry.owner_type == "messagegroups" and canonical_protocol(wanted) and name not in message.own:
            sentence = f"{name} is {wanted} by the group; registries that do not inherit it refuse {METADATA[name]}."
            yield Diagnostic(message.at(), sentence, f"Write {name}: {wanted} here too.")


def metadata_missing(message: LintedMessage) -> Iterator[Diagnostic]:
    """A message with an envelope has envelopemetadata, one with a protocol has protocoloptions."""
    for selector, member in METADATA.items():
        named = text(message.own, selector)
        # A group's selector is that of its messages; a registry writes it into them.
        inherited = canonical_protocol(named) == canonical_protocol(text(message.entry.owner, selector))
        if canonical_protocol(named) and message.effective and member not in message.effective:
            if inherited or member in message.own:  # the latter is no object, which is another finding
                continue
            remedy = f"Add {member}, or leave {selector} out."
            yield Diagnostic(message.at(selector), f"{selector} is {named}, and {member} is missing.", remedy)


def envelope_missing(message: LintedMessage) -> Iterator[Diagnostic]:
    """Attributes belong to an envelope, be it the group's or a base's; without one they are read as CloudEvents'."""
    stated = canonical_protocol(text(message.effective, "envelope"))
    if section(message.own, "envelopemetadata") and message.effective and not stated:
        sentence = f"there are envelopemetadata and no envelope; they are read as those of {ENVELOPE}."
        yield Diagnostic(message.at("envelopemetadata"), sentence, f"Add envelope: {ENVELOPE}.")


def attributes_in_options(message: LintedMessage) -> Iterator[Diagnostic]:
    """The attributes of an envelope stand in envelopemetadata."""
    options = section(message.own, "envelopeoptions")
    if options and not section(message.own, "envelopemetadata") and all(isinstance(v, dict) for v in options.values()):
        sentence = "the attributes of the envelope stand in envelopeoptions."
        yield Diagnostic(message.at("envelopeoptions"), sentence, "Move them to envelopemetadata.")


def attributes_nested(message: LintedMessage) -> Iterator[Diagnostic]:
    """The attributes of an envelope stand directly in envelopemetadata."""
    metadata = section(message.own, "envelopemetadata")
    inner = metadata.get("attributes")
    if (
        set(metadata) == {"attributes"}
        and isinstance(inner, dict)
        and inner
        and all(isinstance(value, dict) for value in inner.values())
    ):
        sentence = "the attributes of the envelope are nested under `attributes`."
        yield Diagnostic(message.at("envelopemetadata", "attributes"), sentence, "Move them one level up.")


def schema_twice(message: LintedMessage) -> Iterator[Diagnostic]:
    """A schema is written in place or referred to, not both."""
    if message.own.get("dataschema") is None:
        return
    for other in ("dataschemauri", "dataschemaxid"):
        if message.own.get(other) is not None:
            yield Diagnostic(message.at(other), f"dataschema and {other} exclude each other.", "Keep one of them.")


def schema_references_differ(message: LintedMessage) -> Iterator[Diagnostic]:
    """With both, dataschemauri is the address of what dataschemaxid names."""
    uri, xid = text(message.own, "dataschemauri"), text(message.own, "dataschemaxid")
    path = local_path(uri, message.tree) if uri and xid else None
    if path is not None and path.partition("#")[0] != xid.partition("#")[0]:
        sentence = f"dataschemauri leads to {path}, dataschemaxid to {xid}."
        yield Diagnostic(message.at("dataschemauri"), sentence, "Keep one of them.")


def schema_format_unsaid(message: LintedMessage) -> Iterator[Diagnostic]:
    """A payload schema comes with dataschemaformat."""
    for name in ("dataschema", "dataschemauri"):
        if message.own.get(name) is not None and not message.effective.get("dataschemaformat"):
            known = message.schema.format if message.schema else ""
            remedy = f"Add dataschemaformat{f': {known}' if known else ''}."
            yield Diagnostic(message.at(name), f"{name} is there without dataschemaformat.", remedy)


def format_version_missing(message: LintedMessage) -> Iterator[Diagnostic]:
    """Formats are NAME/VERSION."""
    stated = message.own.get("dataschemaformat")
    if isinstance(stated, str) and "dataschemaformat" in message.own:
        yield from malformed_format(message.at("dataschemaformat"), stated)


def malformed_format(place: str, stated: str) -> Iterator[Diagnostic]:
    """What is wrong with how a format is written."""
    if not stated or not all(stated.split("/", 1)) or "/" not in stated:
        yield Diagnostic(place, f"the format {stated!r} is not NAME/VERSION.", "Write it like Avro/1.11.")


def format_unknown(message: LintedMessage) -> Iterator[Diagnostic]:
    """Payloads in a format that nobody here reads land unchecked."""
    stated = text(message.own, "dataschemaformat")
    if stated and format_named(stated) is None:
        yield unknown_format(message.at("dataschemaformat"), stated)


def unknown_format(place: str, stated: str) -> Diagnostic:
    """The diagnostic of a format that is not read here."""
    known = ", ".join(family.name for family in FAMILIES)
    return Diagnostic(place, f"the format {stated!r} is not read here; payloads stay unchecked.", f"We read {known}.")


def contenttype_malformed(message: LintedMessage) -> Iterator[Diagnostic]:
    """datacontenttype is a media type."""
    for place, value in _content_types(message):
        if not _MEDIA_TYPE.match(value):
            yield Diagnostic(place, f"{value!r} is not a media type.", "Write it like application/json.")


def contenttypes_differ(message: LintedMessage) -> Iterator[Diagnostic]:
    """All places that state the content type agree."""
    # C-22: in structured mode the protocol carries the envelope's type and the attribute the payload's.
    if text(section(message.effective, "envelopeoptions"), "mode").lower() == "structured":
        return
    stated = list(_content_types(message))
    for place, value in stated[1:]:
        if media_type(value) != media_type(stated[0][1]) and not value.startswith("application/cloudevents"):
            sentence = f"the content type is {value} here and {stated[0][1]} at {stated[0][0]}."
            yield Diagnostic(place, sentence, "Make them the same.")


def contenttype_of_other_format(message: LintedMessage) -> Iterator[Diagnostic]:
    """The content type is one that the format's payloads have."""
    known = format_named(message.schema.format) if message.schema else None
    for place, value in _content_types(message):
        media = media_type(value)
        fits = known is None or media in known.family.media_types or media.startswith("application/cloudevents")
        suffixes = {"JsonSchema": "+json", "JsonStructure": "+json", "XSD": "+xml"}
        if known is None or fits or media.endswith(suffixes.get(known.family.name, "\0")):
            continue
        sentence = f"payloads of {known} are not {media}."
        yield Diagnostic(place, sentence, f"Use one of {', '.join(known.family.media_types)}.")


def _content_types(message: LintedMessage) -> Iterator[tuple[str, str]]:
    if text(message.own, "datacontenttype"):
        yield message.at("datacontenttype"), text(message.own, "datacontenttype")
    for one in message.envelope_properties if message.is_event else ():
        if one.name == "datacontenttype" and isinstance(one.value, str) and "{" not in one.value:
            yield one.value_pointer, one.value
    for one in message.option_properties:
        if one.name.lower() in _CONTENT_TYPE_OPTIONS and isinstance(one.value, str) and "{" not in one.value:
            yield one.value_pointer, one.value


def definition_refused(message: LintedMessage) -> Iterator[Diagnostic]:
    """A definition that cannot be used at all."""
    if message.refusal is None and _NEIGHBOURS not in msgspec.json.encode(message.effective):
        return
    if message.definition is None and message.refusal is not None and not is_circle(message):
        inside = message.refusal.place.removeprefix(message.xid).strip("/")
        # The constraint may be inherited; then the message itself is the place.
        steps = [step.replace("~1", "/").replace("~0", "~") for step in inside.split("/")] if inside else []
        place = message.at(*steps) if leads(message.own, steps) else message.at()
        yield Diagnostic(place, message.refusal.sentence, message.refusal.remedy)


def is_circle(message: LintedMessage) -> bool:
    """Whether it was refused because its base messages form a circle."""
    return message.refusal is not None and not message.effective


def reference_dangling(document: LintedDocument) -> Iterator[Diagnostic]:
    """A message that stands for another one (xref) which is not there."""
    for message in document.messages:
        path = local_path(str(message.meta["xref"]), message.tree) if message.borrowed else None
        if path is not None and find_message(message.tree, path) is None:
            yield Diagnostic(
                message.at("meta", "xref"), f"the catalog has no message {path}.", "Correct or remove xref."
            )


def reference_mismatch(document: LintedDocument) -> Iterator[Diagnostic]:
    """A message that stands for another one (xref) has the envelope and protocol of the group that it is in, too."""
    for message in document.messages:
        target = document.target_of(message) if message.borrowed else None
        for _, sentence in _differing_selectors(message.entry, target.effective) if target is not None else ():
            yield Diagnostic(
                message.at("meta", "xref"), f"of the message it stands for {sentence}", "Borrow another one."
            )


def _is_name(value: str, *, versioned: bool = False) -> bool:
    name, slash, version = value.partition("/")
    return bool(name.strip()) and (bool(version.strip()) if slash else not versioned)
