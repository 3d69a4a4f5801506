"""The index of all definitions: which a message fits, which one wins, and how near the others came.

The rules are those of DESIGN "Matching rules"; each has its cases in tests/messages/matching/test_definition_index.py.
"""

from __future__ import annotations

import bisect
import difflib
import functools
import itertools
from collections.abc import Iterable
from typing import Any

from postroom.messages.definitions.constraints import Check, shorten
from postroom.messages.definitions.definition import Definition
from postroom.messages.matching.definition_matcher import DefinitionMatcher, Fit, is_telling
from postroom.messages.matching.outcome import Reason
from postroom.protocols.cloudevents import Message
from postroom.protocols.protocol_table import canonical_protocol, wire_named

__all__ = ["DefinitionIndex", "DefinitionMatcher", "Fit"]

_MOST_COMPARED = 500
_MOST_SIMILAR = 1024
_MOST_SHOWN = 2
_ALIKE = 3
"""How many characters two channels begin with alike, at least, for one to be meant for the other."""


class DefinitionIndex:
    """All definitions of a catalog, found by what tells them apart; an index like it spares work where both agree."""

    def __init__(self, definitions: Iterable[Definition], like: DefinitionIndex | None = None) -> None:
        known = {} if like is None else like.by_xid
        self.filters: list[DefinitionMatcher] = []
        self.by_xid: dict[str, DefinitionMatcher] = {}
        fresh: list[DefinitionMatcher] = []
        for definition in definitions:
            candidate = known.get(definition.xid)
            if candidate is None or candidate.definition is not definition:
                candidate = DefinitionMatcher(definition)
                fresh.append(candidate)
            self.filters.append(candidate)
            self.by_xid[definition.xid] = candidate
        gone = [known[xid] for xid in known.keys() - self.by_xid.keys()]
        gone += [known[c.definition.xid] for c in fresh if c.definition.xid in known]
        self._by_type: dict[Any, list[DefinitionMatcher]] = (
            {} if like is None else {None: like._others, **like._by_type}
        )
        _bring_up_to_date(self._by_type, fresh, gone)
        self._others: list[DefinitionMatcher] = self._by_type.pop(None, [])
        self._similar: dict[str, tuple[str, ...]] = {}

    def candidates(self, message: Message) -> list[DefinitionMatcher]:
        """The definitions worth trying: those of the message's type and those that fix no type."""
        if message.attributes is None:
            # Without an envelope every definition that names a channel may be meant.
            return self.filters
        event_type = message.attributes.get("type")
        typed = self._by_type.get(event_type, []) if isinstance(event_type, str) else []
        return [*typed, *self._others] if self._others else typed

    def has_type(self, event_type: str) -> bool:
        """Whether a definition fixes this type."""
        return event_type in self._by_type

    def contenders(self, protocol: str, event_type: str) -> list[DefinitionMatcher]:
        """The definitions that events of a type on a protocol may fit, before anything else is known of them."""
        candidates = (c for c in (*self._by_type.get(event_type, ()), *self._others) if c.takes_events)
        found = [c for c in candidates if c.definition.protocol in ("", protocol)]
        if any(c.has_repeats or c.definition.key_schema is not None for c in found):
            return []  # only the exact rules know which header is which, and read keys that name their schema
        shadowed = _bases_of_meant(found)
        found = [c for c in found if c.type is not None or c.definition.xid not in shadowed]
        bases = {xid for c in found for xid in c.definition.bases}  # a base gives way, whatever its rules
        winners = [c for c in found if c.definition.xid not in bases]
        return [c for c in found if not any(_always_wins(other, c) for other in winners)]

    def fits(self, message: Message, *, of_events: bool = False) -> list[Fit]:
        """Every definition the message fits, after those that give way to a closer one are left out.

        With `of_events`, definitions that have no envelope are not considered.
        """
        candidates = self.candidates(message)
        if len(candidates) == 1 and message.attributes is not None and not of_events:  # no rivals, which is usual
            bound = candidates[0].variables(message) if candidates[0].agrees_on_protocol(message) else None
            if bound is not None:
                return [Fit(candidates[0].definition, bound)]
        candidates = [c for c in candidates if c.agrees_on_protocol(message) and (c.envelope or not of_events)]
        return _fitting(candidates, message) or _fitting(_widened(candidates, message), message)

    def fits_at_all(self, message: Message) -> list[Fit]:
        """Every definition that a message without an envelope fits, those that give way to a closer one included."""
        candidates = ((c, c.variables(message)) for c in self.filters if c.agrees_on_protocol(message))
        return [Fit(candidate.definition, bound) for candidate, bound in candidates if bound is not None]

    def addressed(self, message: Message) -> list[tuple[Definition, list[Reason]]]:
        """The definitions the message means without fitting, fewest violations first, derived before base."""
        candidates = self.candidates(message)
        meant = [c for c in candidates if c.is_addressed_by(message)]
        if not meant and message.attributes is not None:
            meant = [c for c in candidates if c.is_channel_of(message)]
        judged = [(c.definition, c.reasons(message)) for c in meant]
        return sorted(judged, key=lambda item: (len(item[1]), -len(item[0].bases)))

    def near_misses(self, message: Message) -> list[Reason]:
        """For a message that means no definition: the ones its author may have had in mind."""
        if message.attributes is None:
            return (
                self._other_protocols(message)
                or self._near_channels(message)
                or self._near_types(message)
                or self._near_contents(message)
            )
        event_type = message.attributes.get("type")
        if not isinstance(event_type, str):
            return []
        if event_type in self._by_type:
            return [candidate.reasons(message)[0] for candidate in self._by_type[event_type]]
        return [
            Reason(candidate.definition.xid, "/envelopemetadata/type", "constant_mismatch", close, shorten(event_type))
            for close in self._similar_types(event_type[:200])
            for candidate in self._by_type[close]
        ]

    def _other_protocols(self, message: Message) -> list[Reason]:
        """Definitions of other protocols that have the channel of the message."""
        went = channel_of(message)
        if went is None:
            return []
        others = (c for c in self.filters if c.channel and not c.agrees_on_protocol(message))
        named = (c for c in others if is_telling(c.channel[0]) and c.channel[0].problem(went, {}) is None)
        return [candidate.reasons(message)[0] for candidate in itertools.islice(named, _MOST_SHOWN)]

    def _near_contents(self, message: Message) -> list[Reason]:
        """Definitions of the same protocol that no channel tells the message from."""
        protocol, went = canonical_protocol(message.protocol), channel_of(message)
        named = (c for c in self.filters if c.definition.protocol == protocol and (went is None or not c.channel))
        judged = [(len(c.reasons(message)), c.near_miss(message)) for c in itertools.islice(named, _MOST_COMPARED)]
        judged.sort(key=lambda pair: pair[0])
        return [reason for _, reason in judged[:_MOST_SHOWN] if reason is not None]

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
        return [reason for _, reason in found[:_MOST_SHOWN]]

    def _near_types(self, message: Message) -> list[Reason]:
        """Definitions that only the content type of the message keeps it from fitting."""
        typed = (c for c in self.filters if c.message_type is not None and c.agrees_on_protocol(message))
        found = (c.reasons(message) for c in itertools.islice(typed, _MOST_COMPARED))
        return [reasons[0] for reasons in found if [r.at for r in reasons] == ["/datacontenttype"]][:_MOST_SHOWN]

    def _similar_types(self, event_type: str) -> tuple[str, ...]:
        found = self._similar.get(event_type)
        if found is None:
            found = self._find_similar(event_type)
            if len(self._similar) < _MOST_SIMILAR:
                self._similar[event_type] = found
        return found

    @functools.cached_property
    def _types(self) -> list[str]:
        return sorted(self._by_type)

    def _find_similar(self, event_type: str) -> tuple[str, ...]:
        # Only what comes after the prefix that all types share tells whether two are alike.
        shared = len(_shared_prefix([event_type, *self._types[:1], *self._types[-1:]]))
        position = bisect.bisect(self._types, event_type)
        near = self._types[max(0, position - _MOST_COMPARED // 2) : position + _MOST_COMPARED // 2]
        tails = {known[shared:]: known for known in near}
        return tuple(tails[tail] for tail in difflib.get_close_matches(event_type[shared:], tails, n=2, cutoff=0.75))


def channel_of(message: Message) -> Any:
    """Where a message went; None where its protocol does not say."""
    wire = wire_named(message.protocol)
    return wire.lookup(message.metadata, wire.channel) if wire.channel else None


def _bring_up_to_date(
    by_type: dict[Any, list[DefinitionMatcher]], fresh: list[DefinitionMatcher], gone: list[DefinitionMatcher]
) -> None:
    """Filters by the type they fix, each list in the order of xids; one that stays the same is not made anew."""
    leaving = set(map(id, gone))
    coming: dict[str | None, list[DefinitionMatcher]] = {candidate.type: [] for candidate in gone}
    for candidate in fresh:
        coming.setdefault(candidate.type, []).append(candidate)
    for event_type, found in coming.items():
        staying = [candidate for candidate in by_type.pop(event_type, ()) if id(candidate) not in leaving]
        if staying or found:
            by_type[event_type] = sorted([*staying, *found], key=lambda c: c.definition.xid) if staying else found


def _bases_of_meant(candidates: list[DefinitionMatcher]) -> frozenset[str]:
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


def _fitting(candidates: list[DefinitionMatcher], message: Message) -> list[Fit]:
    found: list[tuple[DefinitionMatcher, dict[str, str]]] = []
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


def _widened(candidates: list[DefinitionMatcher], message: Message) -> list[DefinitionMatcher]:
    """The definitions to try once more, with templates whose last placeholder takes `/`: none of them fits without."""
    if message.attributes is None:
        went = channel_of(message)  # every definition is a candidate: most are for another place
        candidates = [c for c in candidates if not c.channel or _begins_like(c.channel[0], went)]
    return [wide for candidate in candidates if (wide := candidate.widened) is not None]


def _begins_like(check: Check, went: Any) -> bool:
    """Whether a channel may be that of a message, if a placeholder takes more of it."""
    if check.template is None or not isinstance(went, str) or "%" in went:
        return check.template is not None or check.problem(went, {}) is None
    return went.startswith(check.template.literals[0])


def _mapped(candidates: list[DefinitionMatcher], message: Message) -> list[Fit]:
    """The definitions that a message without an envelope can be mapped to, the closest of them."""
    fits = {id(candidate): candidate.mapped(message) for candidate in candidates}
    found = [(candidate, fit.variables) for candidate in candidates if (fit := fits[id(candidate)]) is not None]
    return [fit for candidate, _ in _closest(found) if (fit := fits[id(candidate)]) is not None]


def _always_wins(one: DefinitionMatcher, other: DefinitionMatcher) -> bool:
    """Whether the first is the closer one of two definitions whenever a message fits both."""
    return one.definition.protocol == other.definition.protocol and one.outranks(other)


def _closest(found: list[tuple[DefinitionMatcher, dict[str, str]]]) -> list[tuple[DefinitionMatcher, dict[str, str]]]:
    """Derived over base, protocol-bound over neutral, more and stricter constraints over fewer."""
    bases = {xid for candidate, _ in found for xid in candidate.definition.bases}
    found = [item for item in found if item[0].definition.xid not in bases]
    if any(candidate.definition.protocol for candidate, _ in found):
        found = [item for item in found if item[0].definition.protocol]
    # Of definitions that ask for the same none is closer, and where the schema decides they are many.
    different = list({candidate.demands: candidate for candidate, _ in found}.values())
    if len(different) == 1:
        return found
    return [item for item in found if not any(other.outranks(item[0]) for other in different)]
