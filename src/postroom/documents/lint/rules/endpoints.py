"""Rules on endpoints: their own options, and the groups whose messages they use."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from postroom.documents.dialects.endpoints import BROKERS, present_member, present_spelling, read_old_spellings
from postroom.documents.lint.findings import Diagnostic
from postroom.documents.lint.members import section, text
from postroom.documents.lint.rules.protocol_options import meant_option
from postroom.documents.lint.subjects import LintedDocument, LintedEndpoint
from postroom.messages.definitions.catalog_tree import Tree, find_message, local_path, member, members
from postroom.messages.definitions.endpoint_option_rules import credentials
from postroom.messages.definitions.registry_rules import check_message, endpoint_advice, read_endpoint
from postroom.model.messaging_options import ENDPOINT_OPTIONS
from postroom.model.shipped_models import load_model
from postroom.model.types import GroupType
from postroom.protocols.protocol_table import canonical_protocol

MISPLACED = ("deployed", "endpoints", "authorization")  # C-37
NESTED = "options"


@cache
def _kind() -> GroupType:
    return load_model("messaging").groups["endpoints"]


def _as_read(endpoint: LintedEndpoint) -> Tree:
    options = read_old_spellings(endpoint.raw.get("protocol"), section(endpoint.raw, "protocoloptions"))
    written = {**endpoint.raw, "protocoloptions": options} if options else endpoint.raw
    return read_endpoint(_kind(), written)[0]


def usage_missing(endpoint: LintedEndpoint) -> Iterator[Diagnostic]:
    """An endpoint says what clients do there."""
    if endpoint.raw.get("usage") in (None, []):
        remedy = "Add usage with producer, consumer or subscriber."
        yield Diagnostic(endpoint.at(), "the endpoint has no usage.", remedy)


def rule_broken(endpoint: LintedEndpoint) -> Iterator[Diagnostic]:
    """The rules that every client of an endpoint holds it to, and no registry has to."""
    for violation in endpoint_advice(_as_read(endpoint)):
        name = str(violation.path[-1])
        # What is missing has no place of its own.
        path = violation.path[:-1] if violation.type == "missing" else violation.path
        yield Diagnostic(endpoint.at(*path), f"{name} {violation.detail}.", "Correct the endpoint.")


def consumergroup_missing(endpoint: LintedEndpoint) -> Iterator[Diagnostic]:
    """A consumer of Kafka states its group; 0.5 had left it open."""
    read = _as_read(endpoint)
    options = read.get("protocoloptions")
    is_kafka = canonical_protocol(text(read, "protocol")) == "KAFKA"
    is_consumer = isinstance(read.get("usage"), list) and "consumer" in read["usage"]
    if is_kafka and is_consumer and isinstance(options, dict) and options.get("consumergroup") is None:
        sentence = "consumergroup must be there for a consumer."
        yield Diagnostic(endpoint.at("protocoloptions"), sentence, "Add the consumer group.")


def credential_stored(endpoint: LintedEndpoint) -> Iterator[Diagnostic]:
    """Credentials are not for a catalog."""
    for violation in credentials(_as_read(endpoint)):
        sentence = f"{violation.path[-1]} {violation.detail}."
        yield Diagnostic(endpoint.at(*violation.path), sentence, "Leave it out, or write a {placeholder}.")


def option_unknown(endpoint: LintedEndpoint) -> Iterator[Diagnostic]:
    """Options of a protocol we know that nobody will look at."""
    protocol = text(endpoint.raw, "protocol")
    known = _known_options(protocol)
    for name, value in section(endpoint.raw, "protocoloptions").items() if known else ():
        if present_spelling(protocol, name) not in known and not (name == NESTED and isinstance(value, dict)):
            sentence = f"{text(endpoint.raw, 'protocol')} endpoints have no option {name!r}."
            yield Diagnostic(endpoint.at("protocoloptions", name), sentence, meant_option(name, value, known))


def option_variant(endpoint: LintedEndpoint) -> Iterator[Diagnostic]:
    """Other spellings of an option are read in files; a registry has them as extensions."""
    protocol = text(endpoint.raw, "protocol")
    options = section(endpoint.raw, "protocoloptions")
    for name in options:
        present = present_spelling(protocol, name)
        meant = present if present != "endpoints" else f"{BROKERS} in an entry of endpoints"
        if present != name:
            yield _variant(endpoint.at("protocoloptions", name), name, meant, is_beside=present in options)
    listed = options.get("endpoints")
    for position, address in enumerate(listed if isinstance(listed, list) else ()):
        for name in address if isinstance(address, dict) else ():
            present = present_member(protocol, name)
            if present != name:
                place = endpoint.at("protocoloptions", "endpoints", position, name)
                yield _variant(place, name, present, is_beside=present in address)


def _variant(place: str, name: str, present: str, *, is_beside: bool) -> Diagnostic:
    if is_beside:
        sentence = f"{name} and {present} are the same option, and {name} is not read."
        return Diagnostic(place, sentence, "Keep one of them.")
    return Diagnostic(place, f"{name} is another spelling of {present}.", f"Write {present}.")


def options_nested(endpoint: LintedEndpoint) -> Iterator[Diagnostic]:
    """Options one level deeper than they belong, as older drafts had them."""
    if isinstance(section(endpoint.raw, "protocoloptions").get(NESTED), dict):
        sentence = "the options stand one level deeper than they belong, as in older drafts."
        yield Diagnostic(endpoint.at("protocoloptions", NESTED), sentence, "Move what is in it one level up.")


@cache
def _known_options(protocol: str) -> tuple[str, ...]:
    found = ENDPOINT_OPTIONS.get(canonical_protocol(protocol), {}).get("attributes", {})
    return tuple(name for name in found if name != "*")


def member_misplaced(endpoint: LintedEndpoint) -> Iterator[Diagnostic]:
    """Members that belong under protocoloptions."""
    for name in MISPLACED:
        if name in endpoint.raw:
            sentence = f"{name} stands on the endpoint itself, where no client looks for it."
            yield Diagnostic(endpoint.at(name), sentence, "Move it under protocoloptions.")


def usage_as_word(endpoint: LintedEndpoint) -> Iterator[Diagnostic]:
    """usage is a list of words; older texts had one word."""
    usage = endpoint.raw.get("usage")
    if isinstance(usage, str):
        yield Diagnostic(endpoint.at("usage"), "usage is one word instead of a list.", f'Write ["{usage}"].')


def group_dangling(document: LintedDocument) -> Iterator[Diagnostic]:
    """Message groups that are not in the catalog."""
    for endpoint, position, reference, path in _references(document):
        if path is not None and _group(document, path) is None:
            sentence = f"the catalog has no message group {reference}."
            yield Diagnostic(
                endpoint.at("messagegroups", position), sentence, "Correct the reference, or add the group."
            )


def group_outside(document: LintedDocument) -> Iterator[Diagnostic]:
    """Message groups of another registry are not looked at."""
    for endpoint, position, reference, path in _references(document):
        if path is None:
            sentence = f"the message group {reference} lies outside of this catalog."
            yield Diagnostic(endpoint.at("messagegroups", position), sentence)


def group_of_other_kind(document: LintedDocument) -> Iterator[Diagnostic]:
    """Messages of another protocol or envelope than the endpoint's."""
    for endpoint, position, reference, path in _references(document):
        group = _group(document, path) if path else None
        if group is None:
            continue
        wrong = []
        for name in members(group, "messages"):
            message = document.by_xid.get(f"{path}/messages/{name}")
            target = document.target_of(message) if message is not None else None
            effective = target.effective if target is not None else {}
            wrong += [(name, violation) for violation in check_message(endpoint.raw, effective)]
        if wrong:
            names = ", ".join(sorted({name for name, _ in wrong})[:3]) + (", …" if len(wrong) > 3 else "")
            sentence = f"in messages of {reference} ({names}) {wrong[0][1].detail}."
            yield Diagnostic(endpoint.at("messagegroups", position), sentence, "Use a group of the same protocol.")


def message_ids_collide(document: LintedDocument) -> Iterator[Diagnostic]:
    """Message ids are unique over all that an endpoint uses."""
    homes: dict[tuple[str, str], str] = {}
    for endpoint in document.endpoints:
        for name in members(endpoint.raw, "messages"):
            homes[endpoint.name, name] = f"/endpoints/{endpoint.name}"
    for endpoint, position, _, path in _references(document):
        for name in members(_group(document, path) if path else None, "messages"):
            first = homes.setdefault((endpoint.name, name), str(path))
            if first != path:
                sentence = f"the message id {name!r} is in {first} as well."
                yield Diagnostic(endpoint.at("messagegroups", position), sentence, "Rename one of them.")


def will_dangling(document: LintedDocument) -> Iterator[Diagnostic]:
    """The last will is a message of the catalog."""
    for endpoint in document.endpoints:
        target = text(section(endpoint.raw, "protocoloptions"), "willmessage")
        path = local_path(target, document.tree) if target else None
        if path is not None and find_message(document.tree, path) is None:
            sentence = f"the catalog has no message {path}."
            yield Diagnostic(endpoint.at("protocoloptions", "willmessage"), sentence, "Correct the reference.")


def _references(document: LintedDocument) -> Iterator[tuple[LintedEndpoint, int, str, str | None]]:
    for endpoint in document.endpoints:
        listed = endpoint.raw.get("messagegroups")
        for position, reference in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(reference, str):
                yield endpoint, position, reference, local_path(reference, document.tree)


def _group(document: LintedDocument, path: str | None) -> Tree | None:
    parts = path.strip("/").split("/") if path else []
    return member(document.tree, "messagegroups", parts[1]) if len(parts) == 2 else None
