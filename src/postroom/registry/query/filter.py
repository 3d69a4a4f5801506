"""The `filter` flag: alternatives of expressions that hold together, each about one level of the hierarchy."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn
from urllib.parse import quote

import msgspec

from postroom.model.types import Model
from postroom.registry.paths import Place
from postroom.registry.problems import RegistryProblem
from postroom.registry.query.compare_values import RELATIVE, compares, equals, has_wildcard
from postroom.registry.query.dot_notation import BadPath, Path, parse_path, values_at, write_path

EXCLUDE_ALL = "excludeall"
MAX_EXPRESSIONS = 256
MAX_LENGTH = 16_384

_EXPRESSION = re.compile(r"((?:\['[^']*'\]|\[\"[^\"]*\"\]|[^=<>!,])*)(!=|<>|<=|>=|=|<|>)?([^,]*)(,|\Z)", re.DOTALL)
_AMBIGUOUS_PERCENT = re.compile(r"%(?=[0-9A-Fa-f]{2})")
_UNCHANGED = "=!*,.[]'%:/@~$-_;()?"


class Expression(msgspec.Struct, frozen=True):
    """One comparison: the collections that lead to its entities, the attribute, the sign and the value."""

    collections: tuple[str, ...]
    path: Path
    sign: str = ""
    value: str | None = None

    def holds(self, found: list[Any]) -> bool:
        """Whether an entity fits that has these values at the path."""
        if self.value is None:
            is_there = bool(found)
            return is_there if self.sign == "" else not is_there
        if self.sign in RELATIVE:
            return any(compares(value, self.sign, self.value) for value in found)
        is_equal = any(equals(value, self.value) for value in found)
        return is_equal if self.sign == "=" else not is_equal

    def below(self) -> Expression:
        """The same, said one collection further down."""
        return msgspec.structs.replace(self, collections=self.collections[1:])

    def __str__(self) -> str:
        path = write_path((*self.collections, *self.path))
        return path + self.sign + ("null" if self.sign and self.value is None else self.value or "")


class _Values(dict[Path, list[Any]]):
    """What paths lead to in an entity, looked up once for all expressions."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document

    def __missing__(self, path: Path) -> list[Any]:
        found = self[path] = list(values_at(self._document, path))
        return found


class FilterResult(msgspec.Struct, frozen=True):
    """What a filter says about an entity: all of it is taken, or what fits the filters of its collections."""

    everything: bool = False
    below: dict[str, Filter] = {}


class Filter(msgspec.Struct, frozen=True):
    """Alternatives, each of expressions that must hold together; none at all lets nothing through."""

    alternatives: tuple[tuple[Expression, ...], ...] = ()

    def judge(self, document: Mapping[str, Any]) -> FilterResult:
        """Weigh the expressions about this entity, and hand on those about its collections."""
        below: dict[str, list[tuple[Expression, ...]]] = {}
        values = _Values(document)
        for alternative in self.alternatives:
            if not all(one.holds(values[one.path]) for one in alternative if not one.collections):
                continue
            deeper = [one for one in alternative if one.collections]
            if not deeper:
                return FilterResult(everything=True)
            names = {one.collections[0] for one in deeper}
            if len(names) == 1:  # nothing lies below two collections at once
                below.setdefault(names.pop(), []).append(tuple(one.below() for one in deeper))
        return FilterResult(below={name: Filter(tuple(rest)) for name, rest in below.items()})

    @property
    def mentions_meta(self) -> bool:
        """Whether entities have to be seen with their meta."""
        return any(one.path[0] == "meta" for alternative in self.alternatives for one in alternative)

    def query(self) -> str:
        """The filter as a query string (FLAG-021, FLAG-022)."""
        if not self.alternatives:
            return f"filter={EXCLUDE_ALL}"
        return "&".join(f"filter={_encoded(','.join(map(str, one)))}" for one in self.alternatives)


NOTHING_FITS = Filter()
EVERYTHING = FilterResult(everything=True)
Show = Callable[[Any], Mapping[str, Any]]
"""Renders an entity as clients see it, which is what a filter compares."""


def _unseen(_: Any) -> Mapping[str, Any]:
    return {}


class FilterScope(msgspec.Struct, frozen=True):
    """Lets entities through: all of them, or those that fit a filter as they are shown to clients."""

    filter: Filter | None = None
    show: Show = _unseen
    is_on: bool = False
    """Whether the request has a filter at all, here or further up."""

    def judge(self, tree: Any) -> FilterResult:
        """What of an entity is taken."""
        return EVERYTHING if self.filter is None else self.filter.judge(self.show(tree))

    def below(self, judgement: FilterResult, collection: str) -> FilterScope:
        """The sieve for the members of a collection."""
        rest = None if judgement.everything else judgement.below.get(collection, NOTHING_FITS)
        return msgspec.structs.replace(self, filter=rest)

    @property
    def takes_nothing(self) -> bool:
        """Whether reading can be spared."""
        return self.filter is not None and not self.filter.alternatives

    def query(self, count: int) -> str:
        """What the URL of a collection with so many members has to end in."""
        if not self.is_on:
            return ""
        wanted = self.filter if count else NOTHING_FITS
        return f"?{wanted.query()}" if wanted is not None else ""


UNFILTERED = FilterScope()


def filter_scope(wanted: Filter | None, show: Show) -> FilterScope:
    """The sieve of a request."""
    return UNFILTERED if wanted is None else FilterScope(wanted, show, is_on=True)


def parse_filter(model: Model, place: Place, values: tuple[str, ...], subject: str) -> Filter | None:
    """The filter of a request to a place; None when there is none."""
    if not values:
        return None
    if sum(map(len, values)) > MAX_LENGTH:
        _refuse(values[0][:40] + "…", f"all filters together are longer than {MAX_LENGTH} characters", subject)
    alternatives = [[part.strip() for part in _parts(value)] for value in values]
    count = sum(map(len, alternatives))
    if count > MAX_EXPRESSIONS:
        _refuse(values[0][:40] + "…", f"there are more than {MAX_EXPRESSIONS} expressions", subject)
    if any(EXCLUDE_ALL in alternative for alternative in alternatives):
        if count > 1:
            _refuse(EXCLUDE_ALL, "it cannot be used with other expressions", subject)
        return NOTHING_FITS
    nest = _nest(model, place)
    return Filter(tuple(tuple(_expression(text, nest, subject) for text in texts) for texts in alternatives))


def _parts(value: str) -> Iterator[str]:
    position = 0
    while True:
        found = _EXPRESSION.match(value, position)
        if found is None:  # a lone "!": the rest is one expression, and refused as such
            yield value[position:]
            return
        yield value[position : found.end(3)]
        if not found.group(4):
            return
        position = found.end()


def _expression(text: str, nest: Nest, subject: str) -> Expression:
    found = _EXPRESSION.fullmatch(text)
    written, sign, value, _ = found.groups() if found else ("", None, text, "")
    if not written or (value and not sign):
        _refuse(text, "an expression looks like PATH, PATH=VALUE, PATH!=VALUE or PATH<VALUE", subject)
    try:
        path = parse_path(written.strip(), wildcards=True)
    except BadPath as error:
        _refuse(text, str(error), subject)
    collections, rest = _split(path, nest)
    if not rest:
        _refuse(text, "it names a collection, not an attribute", subject)
    return _checked(Expression(collections, rest, "!=" if sign == "<>" else sign or "", value), text, subject)


def _checked(expression: Expression, text: str, subject: str) -> Expression:
    sign, value = expression.sign, expression.value
    if sign == "":
        return msgspec.structs.replace(expression, value=None)
    if value == "null":
        if sign in RELATIVE:
            _refuse(text, f"null has no place in an order, so {sign} cannot be used with it", subject)
        return msgspec.structs.replace(expression, sign="" if sign == "!=" else "=", value=None)
    if sign in RELATIVE and has_wildcard(value or ""):
        _refuse(text, f"{sign} does not go with wildcards", subject)
    return expression


def _refuse(value: str, detail: str, subject: str) -> NoReturn:
    raise RegistryProblem("bad_filter", subject, value=value[:200], error_detail=detail)


class Nest(dict[str, "Nest"]):
    """Collections below collections."""


def _nest(model: Model, place: Place) -> Nest:
    versions = Nest(versions=Nest())
    match place.kind:
        case "registry":
            return Nest({g: Nest(dict.fromkeys(kind.resources, versions)) for g, kind in model.groups.items()})
        case "groups" | "group":
            return Nest(dict.fromkeys(place.group.resources, versions))
        case "resources" | "resource":
            return versions
        case _:
            return Nest()


def _split(path: Path, nest: Nest) -> tuple[tuple[str, ...], Path]:
    collections: list[str] = []
    for position, step in enumerate(path):
        if not isinstance(step, str) or step not in nest:
            return tuple(collections), path[position:]
        collections.append(step)
        nest = nest[step]
    return tuple(collections), ()


def _encoded(text: str) -> str:
    return quote(_AMBIGUOUS_PERCENT.sub("%25", text), safe=_UNCHANGED)
