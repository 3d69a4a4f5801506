"""Whether all texts of one simple type are texts of another: proven by rules, refuted by a text, or left open."""

from __future__ import annotations

import random
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import msgspec

from postroom.errors import SchemaRefused
from postroom.formats.xsd.samples import sample_strings
from postroom.formats.xsd.simple_types import Bound, Facets, facts
from postroom.formats.xsd.xml_names import XS, local_name

_TAKES_ALL = ("string", "normalizedString", "token")
_TIED = ("ID", "IDREF", "IDREFS", "ENTITY", "ENTITIES", "NOTATION")
_RANDOM_TRIES = 12


class ValueInclusion(msgspec.Struct, frozen=True):
    """Contained (`holds`), not contained because of `text`, or open when neither."""

    holds: bool = False
    text: str | None = None


def contained(writer: Any, reader: Any) -> ValueInclusion:
    """Whether a reader's simple type takes all texts of the writer's."""
    if writer is reader or _proven(writer, reader, 0):
        return ValueInclusion(holds=True)
    for text in _candidates(writer, reader):
        if sample_strings.fits(writer, text) and not sample_strings.fits(reader, text):
            return ValueInclusion(text=text)
    return ValueInclusion()


def some(xsd_type: Any) -> Iterator[str]:
    """Some texts that a simple type takes."""
    return (text for text in _candidates(xsd_type, xsd_type) if sample_strings.fits(xsd_type, text))


def _candidates(writer: Any, reader: Any) -> Iterator[str]:
    rng = random.Random(0)  # noqa: S311 - the same answer for the same question
    yield from _edges(writer)
    yield from _edges(reader)
    for _ in range(_RANDOM_TRIES):
        try:
            text = sample_strings.invent(writer, rng)
        except SchemaRefused:
            return
        yield text
        yield f" {text}  "


def _edges(xsd_type: Any) -> Iterator[str]:
    of = facts(xsd_type)
    yield from sample_strings.edges(of)
    for part in of.members or ((of.item,) if of.item is not None else ()):
        for text in sample_strings.edges(facts(part)):
            yield text
            if of.variety == "list":
                yield " ".join([text] * (max(of.least_length, 1)))
    if of.variety == "list":
        for length in (of.least_length, of.most_length):
            if length is not None and length <= 1000:
                yield " ".join(["1"] * length)


def _proven(writer: Any, reader: Any, depth: int) -> bool:
    if depth > 10:
        return False
    if writer is reader or (writer.name == reader.name and (writer.name or "").startswith(f"{{{XS}}}")):
        return True
    w, r = facts(writer), facts(reader)
    if _takes_all(r):
        return True
    if w.variety == "union" and all(_proven(member, reader, depth + 1) for member in w.members):
        return True
    if r.variety == "union":
        return not _restricted(r) and any(_proven(writer, member, depth + 1) for member in r.members)
    if w.variety != r.variety or w.variety == "union":
        return False
    if w.variety == "list":
        return (
            _proven(w.item, r.item, depth + 1)
            and _lengths(w, r)
            and not r.asserted
            and r.enumeration is None
            and _patterns(w, r)
        )
    return _atomic(w, r, _names(writer), reader)


def _takes_all(r: Facets) -> bool:
    return not _restricted(r) and (r.builtin in _TAKES_ALL or r.builtin == "anySimpleType") and r.variety == "atomic"


def _restricted(of: Facets) -> bool:
    return bool(
        of.enumeration is not None
        or of.patterns
        or of.least_length
        or of.most_length is not None
        or of.lower
        or of.upper
        or of.total_digits is not None
        or (of.fraction_digits is not None)
        or of.asserted
    )


def _names(xsd_type: Any) -> set[str]:
    names: set[str] = set()
    while xsd_type is not None and len(names) < 100:
        if (xsd_type.name or "").startswith(f"{{{XS}}}"):
            names.add(local_name(xsd_type.name))
        xsd_type = xsd_type.base_type
    return names


def _atomic(w: Facets, r: Facets, names: set[str], reader: Any) -> bool:
    if r.asserted or (r.builtin in _TIED and w.builtin != r.builtin):
        return False
    if w.primitive == "decimal" and r.primitive in ("float", "double"):
        return not _restricted(r)
    if w.primitive != r.primitive:
        return False
    if w.primitive == "string" and w.enumeration is not None and _spaces_agree(w, r):
        return _all_fit(w.enumeration, r, reader)
    # For numbers the bounds tell one built-in type from another, for texts the name does.
    named = r.is_integer <= w.is_integer if w.primitive == "decimal" else r.builtin in names
    if named and w.primitive == "decimal" and w.enumeration is not None and not r.patterns:
        return _all_fit(w.enumeration, r, reader)
    return (
        named
        and _enumerations(w, r, reader)
        and _ranges(w, r)
        and _digits(w, r)
        and _lengths(w, r)
        and _patterns(w, r)
        and (_spaces_agree(w, r) or not _looks_at_text(r))
    )


def _looks_at_text(r: Facets) -> bool:
    return bool(r.patterns or r.least_length or r.most_length is not None or r.enumeration is not None)


def _spaces_agree(w: Facets, r: Facets) -> bool:
    return w.space == r.space


def _enumerations(w: Facets, r: Facets, reader: Any) -> bool:
    if r.enumeration is None:
        return True
    if w.enumeration is None or r.patterns:
        return False
    return _all_fit(w.enumeration, r, reader)


def _all_fit(values: tuple[str, ...], r: Facets, reader: Any) -> bool:
    # What the reader lists itself fits, unless a step of its derivation takes some of that away.
    narrowed = r.patterns or r.least_length or r.most_length is not None or r.lower or r.upper or r.total_digits
    listed = frozenset() if narrowed or r.enumeration is None else frozenset(r.enumeration)
    return all(text in listed or sample_strings.fits(reader, text) for text in values)


def _ranges(w: Facets, r: Facets) -> bool:
    return _within(_lower(w), r.lower, -1) and _within(_upper(w), r.upper, 1)


def _lower(of: Facets) -> Bound | None:
    return of.lower or (Bound(-_nines(of), True) if of.total_digits is not None else None)


def _upper(of: Facets) -> Bound | None:
    return of.upper or (Bound(_nines(of), True) if of.total_digits is not None else None)


def _nines(of: Facets) -> Decimal:
    return Decimal(10) ** min(of.total_digits or 0, 1000) - 1


def _within(inner: Bound | None, outer: Bound | None, sign: int) -> bool:
    if outer is None:
        return True
    if inner is None:
        return False
    try:
        if inner.value == outer.value:
            return outer.inclusive or not inner.inclusive
        return bool(inner.value < outer.value if sign > 0 else inner.value > outer.value)
    except TypeError:
        return False


def _digits(w: Facets, r: Facets) -> bool:
    if r.fraction_digits is not None and (w.fraction_digits is None or w.fraction_digits > r.fraction_digits):
        return False
    if r.total_digits is None:
        return True
    if w.total_digits is not None:
        return w.total_digits <= r.total_digits
    if w.lower is None or w.upper is None or w.fraction_digits != 0:
        return False
    return all(len(str(abs(int(bound.value)))) <= r.total_digits for bound in (w.lower, w.upper))


def _lengths(w: Facets, r: Facets) -> bool:
    enough = w.least_length >= r.least_length
    return enough and (r.most_length is None or (w.most_length is not None and w.most_length <= r.most_length))


def _patterns(w: Facets, r: Facets) -> bool:
    """Every step of the reader allows at least what one step of the writer allows."""
    return all(any(set(ours) <= set(theirs) for ours in w.patterns) for theirs in r.patterns)
