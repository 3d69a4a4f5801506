"""The exact judge of one definition: whether a message fits it, and what keeps it from fitting.

The rules are those of DESIGN "Matching rules"; each has its cases in tests/messages/matching/test_definition_index.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import msgspec

from postroom.messages.definitions.constraints import Check, shorten
from postroom.messages.definitions.definition import Constraint, Definition
from postroom.messages.definitions.property_types import of_strings
from postroom.messages.matching.envelope_mapping import envelope_from
from postroom.messages.matching.outcome import Reason
from postroom.model.json_pointers import pointer
from postroom.protocols.cloudevents import COMMON_NAMES, ENVELOPE, Message, is_event_type, is_json_event, odd_names
from postroom.protocols.protocol import Wire, pairs
from postroom.protocols.protocol_table import canonical_protocol, wire_named
from postroom.protocols.records import JSON_EVENT

_CHANNEL_MEMBERS = ("to",)
# What says little about which message it is: how its body is to be read, and what most requests have in common.
_COMMON_TO_MANY = ("content-type", "content_type", "content-encoding", "method")
# How much the value of a constraint asks for: a placeholder alone takes anything, a constant only itself.
_ALONE, _TEMPLATE, _CONSTANT = 1, 2, 3
_REQUIRED = "required"

FullPath = tuple[str, ...]
Rule = tuple[FullPath, str]
_MISSING = Reason("", "", "required_missing")


class Fit(msgspec.Struct, frozen=True, gc=False):
    """A definition that a message fits, with the variables it binds."""

    definition: Definition
    variables: dict[str, str]
    attributes: dict[str, Any] | None = None
    """The envelope of a message that came without one and was mapped to it."""


class DefinitionMatcher:
    """A definition used as a filter. In the templates of one that `is_wide` the last placeholder takes `/` as well."""

    def __init__(self, definition: Definition, *, is_wide: bool = False) -> None:
        self.definition = definition
        self.wire = wire_named(definition.protocol)
        deciding = [c for c in definition.protocol_constraints if c.decides]
        is_event = definition.envelope == ENVELOPE
        checks = [Check(c, definition.xid, is_wide=is_wide) for c in definition.envelope_constraints]
        # Of an envelope that we do not know, the attributes are headers of the same names (C-16).
        self.envelope, self.foreign = (checks, []) if is_event else ([], checks)
        self.names = frozenset(check.path[0] for check in self.envelope)
        self._is_foreign = bool(definition.envelope) and not is_event
        self.protocol = [Check(c, definition.xid, is_wide=is_wide) for c in deciding]
        # Which of several headers of one name a check looks at first.
        self._turns = [sum(c.path == check.path for c in self.protocol[:i]) for i, check in enumerate(self.protocol)]
        self.has_repeats = any(self._turns)
        self.message_type = None if definition.message_type is None else Check(definition.message_type, definition.xid)
        # Most definitions differ in constants: those are compared first, and text with text needs no more than that.
        self._constants = [
            (check.path[0], check.constant, check.keeps_rule is None, check.constraint.required, check)
            for check in self.envelope
            if check.constant is not None
        ]
        self._open = [
            (
                check.path[0],
                check.constraint.required,
                None if check.template is None else check.template.extract,
                of_strings(check.keeps_rule),
                None if check.takes_any_string else check.has_type,
                check,
            )
            for check in self.envelope
            if check.constant is None
        ]
        self.type = next((c.constant for c in self.envelope if c.path == ("type",)), None)
        self.channel = [check for check in self.protocol if self._is_channel(check)]
        self.discriminator = [
            check for check in self.protocol if check.path == self.wire.discriminator and is_telling(check)
        ]
        self._fixed = [c for c in (*self.protocol, *self.foreign) if c.constant is not None and is_telling(c)]

    @cached_property
    def rules(self) -> frozenset[Rule]:
        """What the definition asks for; looked at only where a message fits several definitions."""
        names = Counter(name for check in self._ruling if check.template is not None for name in check.template.names)
        return frozenset(rule for check in self._ruling for rule in _rules(check, names))

    @cached_property
    def _ranks(self) -> dict[FullPath, int]:
        return _ranks(self._ruling)

    @cached_property
    def demands(self) -> tuple[frozenset[Rule], frozenset[tuple[FullPath, int]]]:
        """All that counts for which of two definitions is the closer one."""
        return self.rules, frozenset(self._ranks.items())

    @property
    def _ruling(self) -> list[Check]:
        of_message = () if self.message_type is None else (self.message_type,)
        return [*self.envelope, *self.foreign, *self.protocol, *of_message]

    @property
    def widened(self) -> DefinitionMatcher | None:
        """The definition as it is tried for messages that fit none; None where no template leaves anything open."""
        checks = (*self.envelope, *self.foreign, *self.protocol)
        if not any(check.template is not None and not check.template.alone for check in checks):
            return None
        return self._widened

    @cached_property
    def _widened(self) -> DefinitionMatcher:
        return DefinitionMatcher(self.definition, is_wide=True)

    @property
    def takes_events(self) -> bool:
        """Whether a CloudEvent may fit: not where the definition asks for another envelope."""
        return not self._is_foreign

    def _is_channel(self, check: Check) -> bool:
        option = self.wire.option(check.path[0])
        return (option is not None and option.channel) or check.path[-1] in _CHANNEL_MEMBERS

    def agrees_on_protocol(self, message: Message) -> bool:
        """Whether the message travels on the definition's protocol; a definition without one takes any."""
        return not self.definition.protocol or self.definition.protocol == canonical_protocol(message.protocol)

    def outranks(self, other: DefinitionMatcher) -> bool:
        """Whether a message that fits both is closer to this one, which asks for all that the other does, and for more:
        for a constant instead of a template, for a template instead of anything."""
        missing = other.rules - self.rules
        if not missing:
            return len(self.rules) > len(other.rules)
        mine, theirs = self._ranks, other._ranks
        return all(rule[1] != _REQUIRED and 0 < theirs.get(rule[0], 0) < mine.get(rule[0], 0) for rule in missing)

    def variables(self, message: Message) -> dict[str, str] | None:
        """The bound variables when the message fits, else None."""
        bound: dict[str, str] = {}
        if self.envelope:
            if message.attributes is None:
                return None
            get = message.attributes.get
            for name, constant, suffices, required, check in self._constants:
                value = get(name)
                if suffices if value == constant else value is None and not required:
                    continue
                if check.problem(value, bound) is not None:
                    return None
            for name, required, extract, keeps_rule, has_type, check in self._open:
                value = get(name)
                if value is None and not required:
                    continue
                if type(value) is not str or (bound and extract is not None):
                    if check.problem(value, bound) is not None:
                        return None
                    continue
                if keeps_rule is not None and not keeps_rule(value):
                    return None
                if extract is not None:  # nothing is bound yet that it could contradict
                    found = extract(value)
                    if found is None:
                        return None
                    bound = found
                if has_type is not None and not has_type(value):
                    return None
            if not COMMON_NAMES.issuperset(message.attributes) and odd_names(message.attributes):
                return None
        elif self._is_foreign and (message.attributes is not None or any(self._foreign_problems(message, bound))):
            return None
        if self.protocol and any(self._protocol_problems(message, bound)):
            return None
        if self.message_type is not None and self._type_problem(message) is not None:
            return None
        return bound

    def _type_problem(self, message: Message) -> Reason | None:
        """What is wrong with the content type of a message as a whole; one that says none has the definition's."""
        check = self.message_type
        if check is None or check.constant is None:
            return None
        if message.mode == "structured" and is_event_type(check.constant, self.definition.mode):
            # Events are read in JSON only, whatever their senders call them.
            return None if is_json_event(check.constant) else check.problem(JSON_EVENT, {})
        return check.problem(message.contenttype or None, {})

    def _protocol_problems(self, message: Message, bound: dict[str, str]) -> Iterator[Reason]:
        for check, turn in zip(self.protocol, self._turns, strict=True):
            first = self.wire.lookup(message.metadata, check.path) if not turn else None
            problem = check.problem(first, bound) if not turn else _MISSING
            if problem is not None and len(check.path) > 1:
                problem = self._repeated_problem(check, turn, message, bound)
            if problem is not None:
                yield problem

    def _repeated_problem(self, check: Check, turn: int, message: Message, bound: dict[str, str]) -> Reason | None:
        """Headers may be repeated (MSG-078): one of those with the name has to fit, the others are free."""
        values = list(occurrences(self.wire, message.metadata, check.path))
        found = None
        for value in [*values[turn:], *values[:turn]] or [None]:
            tried = dict(bound)
            problem = check.problem(value, tried)
            if problem is None:
                bound |= tried
                return None
            found = found or problem
        return found

    def _foreign_problems(self, message: Message, bound: dict[str, str]) -> Iterator[Reason]:
        wire = self.wire if self.definition.protocol else wire_named(message.protocol)
        for check in self.foreign:
            path = (wire.headers, *check.path) if wire.headers else check.path
            problem = check.problem(wire.lookup(message.metadata, path), bound)
            if problem is not None:
                yield problem

    def _agree(self, checks: list[Check], message: Message) -> bool:
        """Whether a message has what these ask for; of a header that is repeated one has to fit."""
        wire = self.wire if self.definition.protocol else wire_named(message.protocol)
        bound: dict[str, str] = {}
        for check in checks:
            is_header = self._is_foreign and check.constraint.at.startswith("/envelopemetadata/") and wire.headers
            path = (wire.headers, *check.path) if is_header else check.path
            found = [*occurrences(wire if is_header else self.wire, message.metadata, path)] or [None]
            if all(check.problem(value, bound) is not None for value in found):
                return False
        return True

    def mapped(self, message: Message) -> Fit | None:
        """The fit of a message without an envelope that the definition's protocol part alone tells all about."""
        if not (self.envelope and self.channel and message.attributes is None):
            return None
        bound: dict[str, str] = {}
        if any(self._protocol_problems(message, bound)) or self._type_problem(message) is not None:
            return None
        attributes = envelope_from(self.envelope, bound, message)
        return None if attributes is None else Fit(self.definition, bound, attributes)

    def reasons(self, message: Message) -> list[Reason]:
        """Everything that keeps the message from fitting."""
        found: list[Reason | None] = []
        bound: dict[str, str] = {}
        xid = self.definition.xid
        if not self.agrees_on_protocol(message):
            found.append(
                Reason(
                    xid, "/protocol", "protocol_mismatch", self.definition.protocol, message.protocol or "no protocol"
                )
            )
        if self.envelope and message.attributes is None:
            found.append(Reason(xid, "/envelope", "envelope_missing", self.definition.envelope, "no envelope"))
        elif self.envelope and message.attributes is not None:
            found += [check.problem(message.attributes.get(check.path[0]), bound) for check in self.envelope]
            found += [_odd_name(xid, name) for name in odd_names(message.attributes)]
        elif self._is_foreign and message.attributes is not None:
            found.append(Reason(xid, "/envelope", "envelope_mismatch", self.definition.envelope, ENVELOPE))
        elif self._is_foreign:
            found += self._foreign_problems(message, bound)
        if self.agrees_on_protocol(message):
            found += self._protocol_problems(message, bound)
        found.append(self._type_problem(message))
        return [reason for reason in found if reason is not None]

    def near_miss(self, message: Message) -> Reason | None:
        """Why a message does not mean this definition, best told by what says which messages are meant."""
        reasons = self.reasons(message)
        telling = {check.constraint.at for check in (*self.channel, *self.discriminator, *self._fixed)}
        return next((reason for reason in reasons if reason.at in telling), reasons[0] if reasons else None)

    def is_addressed_by(self, message: Message) -> bool:
        """Whether the message means this definition, fitting or not (DESIGN: "addresses")."""
        if not self.agrees_on_protocol(message):
            return False
        if message.attributes is not None:  # an event means what its type says, wherever it is
            return self.type is not None and self.type == message.attributes.get("type")
        if (self.channel and self._agree(self.channel, message)) or (
            self.discriminator and self._agree(self.discriminator, message)
        ):
            return True
        is_identified_otherwise = bool(self.channel or self.discriminator)
        return not is_identified_otherwise and bool(self._fixed) and self._agree(self._fixed, message)

    def is_channel_of(self, message: Message) -> bool:
        """Whether an event is where the definition expects events, whose type it leaves open."""
        is_open = bool(self.envelope and self.channel) and self.type is None
        return is_open and self.agrees_on_protocol(message) and self._agree(self.channel, message)


def _odd_name(xid: str, name: str) -> Reason:
    at = pointer(("envelopemetadata", name))
    return Reason(xid, at, "attribute_name", "lower-case letters and digits", shorten(name))


def occurrences(wire: Wire, metadata: dict[str, Any], path: tuple[str, ...]) -> Iterator[Any]:
    """All values at a path: of a repeated header each one."""
    option = wire.option(path[0])
    if option is None or option.shape != "named":
        yield wire.lookup(metadata, path)
        return
    ignore_case = wire.ignores_case(path[1])
    for name, value in pairs(wire.lookup(metadata, path[:1])):
        if name == path[1] or (ignore_case and name.lower() == path[1].lower()):
            yield value


def is_telling(check: Check) -> bool:
    """Whether a check tells its messages from others."""
    is_fixed = check.constant is not None or (check.template is not None and not check.template.alone)
    return is_fixed and check.path[-1].lower() not in _COMMON_TO_MANY


def _full_path(constraint: Constraint) -> FullPath:
    """Where a constraint looks: the envelope and a protocol may have names in common."""
    return constraint.at.split("/", 2)[1], *constraint.path


def _rules(check: Check, names: Mapping[str, int]) -> Iterator[Rule]:
    """What a constraint asks for, piece by piece, so that asking for more is a larger set; `names` counts the
    placeholders of the definition."""
    constraint, template = check.constraint, check.template
    if constraint.required:
        yield _full_path(constraint), _REQUIRED
    if constraint.value is not None and not constraint.implied:
        # What a placeholder is called matters only where it stands twice.
        is_any = template is not None and template.alone and names[template.names[0]] == 1
        yield _full_path(constraint), "value" if is_any else f"value {constraint.value}"


def _ranks(checks: list[Check]) -> dict[FullPath, int]:
    """How much is asked for at each path; nothing is known where several constraints look."""
    counts = Counter(_full_path(check.constraint) for check in checks)
    ranks: dict[FullPath, int] = {}
    for check in checks:
        key = _full_path(check.constraint)
        if counts[key] > 1 or check.constraint.implied:
            continue
        if check.constant is not None:
            ranks[key] = _CONSTANT
        elif check.template is not None:
            ranks[key] = _ALONE if check.template.alone else _TEMPLATE
    return ranks
