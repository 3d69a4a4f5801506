"""Rules on definitions as filters: those that no message can fit, and those that another one always beats."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterator

from postroom.documents.lint.findings import Diagnostic
from postroom.documents.lint.subjects import LintedDocument, LintedMessage
from postroom.messages.definitions.constraints import Check
from postroom.messages.definitions.definition import Constraint, Definition
from postroom.messages.definitions.templates import Template
from postroom.messages.matching.definition_matcher import DefinitionMatcher

_PLACEHOLDER = re.compile(r"\{([A-Za-z0-9_]+)\}")
_LISTED = re.compile(r"/protocoloptions/[^/]+/[0-9]+(/|$)")


def impossible(message: LintedMessage) -> Iterator[Diagnostic]:
    """One value cannot be two constants at once."""
    for first, second in _pairs(message):
        if first.constant is not None and second.constant is not None and first.constant != second.constant:
            sentence = f"no message can have {first.constant!r} and {second.constant!r} in the same place."
            yield _contradiction(message, first, second, sentence)
        elif _excludes(first, second) or _excludes(second, first):
            sentence = f"{_shown(first)} and {_shown(second)} exclude each other in the same place."
            yield _contradiction(message, first, second, sentence)


def never_alike(message: LintedMessage) -> Iterator[Diagnostic]:
    """Two templates for one value, of which no text fits both."""
    for first, second in _pairs(message):
        if first.template and second.template and _literals_exclude(first.template, second.template):
            sentence = f"no text fits both {first.template.text!r} and {second.template.text!r}."
            yield _contradiction(message, first, second, sentence)


def _contradiction(message: LintedMessage, first: Check, second: Check, sentence: str) -> Diagnostic:
    remedy = f"The other one is {first.constraint.at}; keep one of them."
    return Diagnostic(message.at() + second.constraint.at, sentence, remedy)


def _pairs(message: LintedMessage) -> Iterator[tuple[Check, Check]]:
    """Constraints of one definition that look at the same value: headers of one name, attributes carried as headers."""
    definition = message.definition
    if definition is None:
        return
    seen: dict[Hashable, Constraint] = {}
    wire = message.wire
    constraints = (*definition.envelope_constraints, *definition.protocol_constraints)
    for constraint in constraints:
        if constraint.value is None or constraint.implied or not constraint.decides:
            continue
        place = _value_of(constraint, definition, message) if constraint.path else constraint.path
        if len(place) > 1 and wire.ignores_case(place[-1]):
            place = (place[0], place[1].lower())
        known = seen.setdefault(place, constraint)
        if known is not constraint and not (_is_listed(known) and _is_listed(constraint)):
            yield Check(known, definition.xid), Check(constraint, definition.xid)


def _is_listed(constraint: Constraint) -> bool:
    """Whether it is one of a list of headers or user properties, in which a name may stand more than once."""
    return _LISTED.match(constraint.at) is not None


def _value_of(constraint: Constraint, definition: Definition, message: LintedMessage) -> tuple[str, ...]:
    """In binary mode an attribute travels as a header, so both constrain one value."""
    wire = message.wire
    is_attribute = constraint.at.startswith("/envelopemetadata/")
    if definition.mode.lower() != "binary" or not message.is_event or not wire.headers:
        return (*constraint.path, "") if is_attribute else constraint.path
    if is_attribute and constraint.path[0] != "datacontenttype":
        return (wire.headers, (wire.prefixes[0] + constraint.path[0]).lower())
    if constraint.path[0] == wire.headers and len(constraint.path) > 1:
        return (wire.headers, constraint.path[1].lower())
    return (*constraint.path, "") if is_attribute else constraint.path


def _excludes(one: Check, other: Check) -> bool:
    """Whether a constant does not fit a template, also where the last placeholder takes `/`."""
    wide = Check(other.constraint, other.message, is_wide=True).template
    return one.constant is not None and wide is not None and wide.extract(one.constant) is None


def _literals_exclude(one: Template, other: Template) -> bool:
    if one.alone or other.alone:
        return False
    begin, end = (one.literals[0], other.literals[0]), (one.literals[-1], other.literals[-1])
    starts = begin[0].startswith(begin[1]) or begin[1].startswith(begin[0])
    ends = end[0].endswith(end[1]) or end[1].endswith(end[0])
    return not (starts and ends)


def _shown(check: Check) -> str:
    return repr(check.constant if check.constant is not None else check.template.text if check.template else "")


def shadowed(document: LintedDocument) -> Iterator[Diagnostic]:
    """A definition that another one always beats: one that derives from it or says more, and asks for no more."""
    for xid, derived in document.filters.items():
        for base in derived.definition.bases:
            under = document.filters.get(base)
            # What fits the base fits the derived one as well, and derived goes over base.
            takes_all = not derived.definition.protocol or (
                under is not None and derived.definition.protocol == under.definition.protocol
            )
            if under is not None and takes_all and _demands(derived) <= _demands(under):
                sentence = f"no message lands here: {xid} derives from it, asks for nothing more, and always wins."
                yield Diagnostic(document.by_xid[base].at(), sentence, "Let the derived message ask for more.")
    for first, second in _twins(document):
        for loser, winner in ((first, second), (second, first)):
            if winner.outranks(loser):
                sentence = (
                    f"no message lands here: {winner.definition.xid} says more, asks for the same, and always wins."
                )
                message = document.by_xid[loser.definition.xid]
                yield Diagnostic(message.at(), sentence, "Tell them apart by a constant, or remove one of them.")


def always_ambiguous(document: LintedDocument) -> Iterator[Diagnostic]:
    """Definitions with exactly the same demands, and nothing else that decides between them."""
    for first, second in _rivals(document):
        if not _schemas_decide(first.definition, second.definition):
            message = document.by_xid[second.definition.xid]
            sentence = f"it asks for exactly what {first.definition.xid} asks for, so every message is ambiguous."
            yield Diagnostic(message.at(), sentence, "Tell them apart by a constant, or use one of them only.")


def decided_by_schema(document: LintedDocument) -> Iterator[Diagnostic]:
    """Definitions that only their payload schemas tell apart."""
    for first, second in _rivals(document):
        if _schemas_decide(first.definition, second.definition):
            message = document.by_xid[second.definition.xid]
            yield Diagnostic(message.at(), f"only the payload schema tells it from {first.definition.xid}.")


def _rivals(document: LintedDocument) -> Iterator[tuple[DefinitionMatcher, DefinitionMatcher]]:
    for first, second in _twins(document):
        if not (first.outranks(second) or second.outranks(first)):
            yield first, second


def type_shared(document: LintedDocument) -> Iterator[Diagnostic]:
    """Several messages of a group with one type, on one protocol."""
    homes: dict[Hashable, DefinitionMatcher] = {}
    for found in document.filters.values():
        definition = found.definition
        if found.type is None:
            continue
        first = homes.setdefault((definition.group, definition.protocol, found.type), found)
        related = definition.xid in first.definition.bases or first.definition.xid in definition.bases
        if first is not found and not related:
            message = document.by_xid[definition.xid]
            sentence = f"{first.definition.xid} of the same group has the type {found.type!r} as well."
            yield Diagnostic(message.at(), sentence, "Give each message its own type.")


def _demands(found: DefinitionMatcher) -> frozenset[Hashable]:
    """What a message must have, piece by piece, so that asking for more is a larger set."""
    demands: set[Hashable] = {("", "envelope", bool(found.envelope))}
    whole = () if found.message_type is None else (found.message_type,)
    for check in (*found.envelope, *found.protocol, *whole):
        path, constraint = _path(check.constraint), check.constraint
        if constraint.required:
            demands.add((path, "required", ""))
        if check.constant is not None and not constraint.implied:
            demands.add((path, "constant", check.constant))
        elif check.template is not None:
            demands.add((path, "template", check.template.text))
        elif constraint.type not in ("any", "string", "uritemplate") and not constraint.implied:
            demands.add((path, "type", constraint.type))
    return frozenset(demands)


def _path(constraint: Constraint) -> str:
    area = "e" if constraint.at.startswith("/envelopemetadata/") else "p"
    return "\0".join((area, *constraint.path))


def _twins(document: LintedDocument) -> Iterator[tuple[DefinitionMatcher, DefinitionMatcher]]:
    """Each definition with the first one that asks for exactly the same, whatever the placeholders are called."""
    homes: dict[Hashable, DefinitionMatcher] = {}
    for found in document.filters.values():
        key = (found.definition.protocol, found.definition.envelope, _renamed(_demands(found)))
        first = homes.setdefault(key, found)
        related = found.definition.xid in first.definition.bases or first.definition.xid in found.definition.bases
        if first is not found and not related:
            yield first, found


def _renamed(demands: frozenset[Hashable]) -> Hashable:
    numbers: dict[str, int] = defaultdict(lambda: len(numbers))

    def number(found: re.Match[str]) -> str:
        return f"{{{numbers[found[1]]}}}"

    return tuple(_PLACEHOLDER.sub(number, str(one)) for one in sorted(map(str, demands)))


def _schemas_decide(first: Definition, second: Definition) -> bool:
    if first.schema is None or second.schema is None or first.schema.missing or second.schema.missing:
        return False
    mine, theirs = first.schema, second.schema
    return (mine.place, mine.fragment, mine.document) != (theirs.place, theirs.fragment, theirs.document)


def placeholder_once(message: LintedMessage) -> Iterator[Diagnostic]:
    """Names of placeholders that differ in case or underscores only are probably one."""
    names: dict[str, str] = {}
    definition = message.definition
    for constraint in (*definition.envelope_constraints, *definition.protocol_constraints) if definition else ():
        if not isinstance(constraint.value, str):
            continue
        for name in _PLACEHOLDER.findall(constraint.value):
            plain = name.lower().replace("_", "")
            if names.setdefault(plain, name) != name:
                sentence = f"{{{name}}} and {{{names[plain]}}} are two variables; is one meant?"
                yield Diagnostic(message.at(), sentence, "Use one name where the same value is meant.")
                names[plain] = name
