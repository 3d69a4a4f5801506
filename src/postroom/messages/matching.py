"""Matching: which definitions a message fits, which one wins, and how near the others came.

The rules are those of DESIGN "Matching rules"; each has its table of cases in tests/messages/test_matching.py.
"""

from __future__ import annotations

import difflib
import functools
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from postroom.messages.constraints import Check, shorten
from postroom.messages.definition import Constraint, Definition
from postroom.messages.mapping import envelope_from
from postroom.messages.outcome import Reason
from postroom.protocols.cloudevents import ENVELOPE, Message
from postroom.protocols.table import canonical_protocol, wire_named

_CHANNEL_MEMBERS = ("to",)
_MOST_COMPARED = 500
_ALIKE = 3
"""How many characters two channels begin with alike, at least, for one to be meant for the other."""


class Fit(msgspec.Struct, frozen=True, gc=False):
    """A definition that a message fits, with the variables it binds."""

    definition: Definition
    variables: dict[str, str]
    attributes: dict[str, Any] | None = None
    """The envelope of a message that came without one and was mapped to it."""


class Filter:
    """A definition used as a filter."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.wire = wire_named(definition.protocol)
        deciding = [c for c in definition.protocol_constraints if c.decides]
        is_event = definition.envelope == ENVELOPE
        checks = [Check(c, definition.xid) for c in definition.envelope_constraints]
        # Of an envelope that we do not know, the attributes are headers of the same names (C-16).
        self.envelope, self.foreign = (checks, []) if is_event else ([], checks)
        self._is_foreign = bool(definition.envelope) and not is_event
        self.protocol = [Check(c, definition.xid) for c in deciding]
        # Most definitions differ in constants: those are compared first, and text with text needs no more than that.
        self._constants = [
            (check.path[0], check.constant, check) for check in self.envelope if check.constant is not None
        ]
        self._open = [check for check in self.envelope if check.constant is None]
        self.type = next((c.constant for c in self.envelope if c.path == ("type",)), None)
        self.channel = [check for check in self.protocol if self._is_channel(check)]
        self.rules = frozenset(rule for c in (*definition.envelope_constraints, *deciding) for rule in _rules(c))

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

    def variables(self, message: Message) -> dict[str, str] | None:
        """The bound variables when the message fits, else None."""
        bound: dict[str, str] = {}
        if self.envelope:
            if message.attributes is None:
                return None
            get = message.attributes.get
            for name, constant, check in self._constants:
                value = get(name)
                if value != constant and check.problem(value, bound) is not None:
                    return None
            for check in self._open:
                if check.problem(get(check.path[0]), bound) is not None:
                    return None
        elif self._is_foreign and (message.attributes is not None or any(self._foreign_problems(message, bound))):
            return None
        for check in self.protocol:
            if check.problem(self.wire.lookup(message.metadata, check.path), bound) is not None:
                return None
        return bound

    def _foreign_problems(self, message: Message, bound: dict[str, str]) -> Iterator[Reason]:
        wire = self.wire if self.definition.protocol else wire_named(message.protocol)
        for check in self.foreign:
            path = (wire.headers, *check.path) if wire.headers else check.path
            problem = check.problem(wire.lookup(message.metadata, path), bound)
            if problem is not None:
                yield problem

    def mapped(self, message: Message) -> Fit | None:
        """The fit of a message without an envelope that the definition's protocol part alone tells all about."""
        if not (self.envelope and self.channel and message.attributes is None):
            return None
        bound: dict[str, str] = {}
        for check in self.protocol:
            if check.problem(self.wire.lookup(message.metadata, check.path), bound) is not None:
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
        elif self._is_foreign and message.attributes is not None:
            found.append(Reason(xid, "/envelope", "envelope_mismatch", self.definition.envelope, ENVELOPE))
        elif self._is_foreign:
            found += self._foreign_problems(message, bound)
        if self.agrees_on_protocol(message):
            found += [check.problem(self.wire.lookup(message.metadata, check.path), bound) for check in self.protocol]
        return [reason for reason in found if reason is not None]

    def is_addressed_by(self, message: Message) -> bool:
        """Whether the message means this definition, fitting or not (DESIGN: "addresses")."""
        if not self.agrees_on_protocol(message):
            return False
        if message.attributes is not None and self.envelope:
            return self.type is not None and self.type == message.attributes.get("type")
        bound: dict[str, str] = {}
        return (
            bool(self.channel)
            and ((not self.envelope and not self._is_foreign) or message.attributes is None)
            and all(c.problem(self.wire.lookup(message.metadata, c.path), bound) is None for c in self.channel)
        )


class Index:
    """All definitions of a catalog, found by what tells them apart."""

    def __init__(self, definitions: Iterable[Definition]) -> None:
        self.filters = [Filter(definition) for definition in definitions]
        self._by_type: dict[str, list[Filter]] = {}
        self._others: list[Filter] = []
        for candidate in self.filters:
            home = self._others if candidate.type is None else self._by_type.setdefault(candidate.type, [])
            home.append(candidate)

    def candidates(self, message: Message) -> list[Filter]:
        """The definitions worth trying: those of the message's type and those that fix no type."""
        kind = message.attributes.get("type") if message.attributes is not None else None
        if message.attributes is None:
            # Without an envelope every definition that names a channel may be meant.
            return self.filters
        typed = self._by_type.get(kind, []) if isinstance(kind, str) else []
        return [*typed, *self._others] if self._others else typed

    def has_type(self, kind: str) -> bool:
        """Whether a definition fixes this type."""
        return kind in self._by_type

    def contenders(self, protocol: str, kind: str) -> list[Filter]:
        """The definitions that events of a type on a protocol may fit, before anything else is known of them."""
        candidates = (c for c in (*self._by_type.get(kind, ()), *self._others) if c.takes_events)
        found = [c for c in candidates if c.definition.protocol in ("", protocol)]
        shadowed = _bases_of_meant(found)
        found = [c for c in found if c.type is not None or c.definition.xid not in shadowed]
        return [c for c in found if not any(_always_wins(other, c) for other in found)]

    def fits(self, message: Message) -> list[Fit]:
        """Every definition the message fits, after those that give way to a closer one are left out."""
        found: list[tuple[Filter, dict[str, str]]] = []
        candidates = [c for c in self.candidates(message) if c.agrees_on_protocol(message)]
        shadowed = _bases_of_meant(candidates) if len(candidates) > 1 else frozenset()
        for candidate in candidates:
            if candidate.type is not None or candidate.definition.xid not in shadowed:
                bound = candidate.variables(message)
                if bound is not None:
                    found.append((candidate, bound))
        if len(found) > 1:
            found = _closest(found)
        if not found and message.attributes is None:
            return _mapped(candidates, message)
        return [Fit(candidate.definition, bound) for candidate, bound in found]

    def addressed(self, message: Message) -> list[tuple[Definition, list[Reason]]]:
        """The definitions the message means without fitting, fewest violations first, derived before base."""
        meant = [c for c in self.candidates(message) if c.is_addressed_by(message)]
        judged = [(c.definition, c.reasons(message)) for c in meant]
        return sorted(judged, key=lambda item: (len(item[1]), -len(item[0].bases)))

    def near_misses(self, message: Message) -> list[Reason]:
        """For a message that means no definition: the ones its author may have had in mind."""
        if message.attributes is None:
            return self._near_channels(message)
        kind = message.attributes.get("type")
        if not isinstance(kind, str):
            return []
        if kind in self._by_type:
            return [candidate.reasons(message)[0] for candidate in self._by_type[kind]]
        return [
            Reason(candidate.definition.xid, "/envelopemetadata/type", "constant_mismatch", close, shorten(kind))
            for close in self._similar_types(kind[:200])
            for candidate in self._by_type[close]
        ]

    def _near_channels(self, message: Message) -> list[Reason]:
        """Definitions of the same protocol whose channel begins like that of the message."""
        found: list[tuple[int, Reason]] = []
        named = (c for c in self.filters if c.channel and c.agrees_on_protocol(message))
        for candidate in itertools.islice(named, _MOST_COMPARED):
            check = candidate.channel[0]
            value = candidate.wire.lookup(message.metadata, check.path)
            problem = check.problem(value, {}) if isinstance(value, str) else None
            shared = 0 if problem is None else _alike(value, str(check.constraint.value or ""))
            if problem is not None and shared >= _ALIKE:
                found.append((shared, problem))
        found.sort(key=lambda pair: -pair[0])
        return [reason for _, reason in found[:2]]

    @functools.lru_cache(maxsize=1024)  # noqa: B019 - an index lives as long as its process
    def _similar_types(self, kind: str) -> tuple[str, ...]:
        # Only what comes after the prefix that all types share tells whether two are alike.
        shared = len(_shared_prefix([kind, *self._by_type]))
        tails = {known[shared:]: known for known in self._by_type}
        return tuple(tails[tail] for tail in difflib.get_close_matches(kind[shared:], tails, n=2, cutoff=0.75))


def _bases_of_meant(candidates: list[Filter]) -> frozenset[str]:
    """The bases of definitions that the message's type means.

    A message that means a derived definition and violates it must not slip into a base that fixes no type: it would
    take every broken message of all its descendants.
    """
    return frozenset(xid for c in candidates if c.type is not None for xid in c.definition.bases)


def _shared_prefix(types: list[str]) -> str:
    low, high = min(types), max(types)
    return low[: _alike(low, high)].rpartition(".")[0]


def _alike(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((position for position, (a, b) in pairs if a != b), min(len(one), len(other)))


def _rules(constraint: Constraint) -> Iterator[tuple[tuple[str, ...], str]]:
    """What a constraint asks for, piece by piece, so that asking for more is a larger set."""
    if constraint.required:
        yield constraint.path, "required"
    if constraint.value is not None:
        yield constraint.path, f"value {constraint.value}"


def _mapped(candidates: list[Filter], message: Message) -> list[Fit]:
    """The definitions that a message without an envelope can be mapped to, the closest of them."""
    fits = {id(candidate): candidate.mapped(message) for candidate in candidates}
    found = [(candidate, fit.variables) for candidate in candidates if (fit := fits[id(candidate)]) is not None]
    return [fit for candidate, _ in _closest(found) if (fit := fits[id(candidate)]) is not None]


def _always_wins(one: Filter, other: Filter) -> bool:
    """Whether the first is the closer one of two definitions whenever a message fits both."""
    return one.rules > other.rules and one.definition.protocol == other.definition.protocol


def _closest(found: list[tuple[Filter, dict[str, str]]]) -> list[tuple[Filter, dict[str, str]]]:
    """Derived over base, protocol-bound over neutral, more constraints over fewer."""
    bases = {xid for candidate, _ in found for xid in candidate.definition.bases}
    found = [item for item in found if item[0].definition.xid not in bases]
    if any(candidate.definition.protocol for candidate, _ in found):
        found = [item for item in found if item[0].definition.protocol]
    return [item for item in found if not any(item[0].rules < other.rules for other, _ in found)]
