"""The `filter` flag: OR of ANDs of expressions, each about one level of the hierarchy, and its evaluation."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, NoReturn
from urllib.parse import quote

import msgspec

from postroom.model.types import Model
from postroom.registry.paths import EntityPath
from postroom.registry.problems import RegistryProblem
from postroom.registry.query.compare_values import RELATIVE, Operands, compares, equals, has_wildcard
from postroom.registry.query.dot_notation import BadPath, Path, Step, parse_path, values_at, write_path

EXCLUDE_ALL = "excludeall"
MAX_EXPRESSIONS = 256
MAX_LENGTH = 16_384

_EXPRESSION = re.compile(r"((?:\['[^']*'\]|\[\"[^\"]*\"\]|[^=<>!,])*)(!=|<>|<=|>=|=|<|>)?([^,]*)(,|\Z)", re.DOTALL)
_AMBIGUOUS_PERCENT = re.compile(r"%(?=[0-9A-Fa-f]{2})")
_UNCHANGED = "=!*,.'%:/@~$-_;()?"


class Expression(msgspec.Struct, frozen=True):
    """One comparison: the collections above its entities, the attribute's path, the operator and the operand."""

    collections: tuple[str, ...]
    path: Path
    sign: str = ""
    value: str | None = None

    def holds(self, found: list[Any]) -> bool:
        """Whether the expression holds for an entity with these values at the path."""
        if self.value is None:
            is_there = bool(found)
            return is_there if self.sign == "" else not is_there
        if self.sign in RELATIVE:
            return any(compares(value, self.sign, self.value) for value in found)
        is_equal = any(equals(value, self.value) for value in found)
        return is_equal if self.sign == "=" else not is_equal

    def below(self) -> Expression:
        """The expression as seen from the members of its first collection."""
        return msgspec.structs.replace(self, collections=self.collections[1:])

    def __str__(self) -> str:
        path = write_path((*self.collections, *self.path))
        return path + self.sign + ("null" if self.sign and self.value is None else self.value or "")


class _Values(dict[Path, list[Any]]):
    """Values of an entity by path, each looked up once for all expressions."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document

    def __missing__(self, path: Path) -> list[Any]:
        found = self[path] = list(values_at(self._document, path))
        return found


class FilterResult(msgspec.Struct, frozen=True):
    """What a filter selects of an entity: all of it, or what the filters of its collections select."""

    everything: bool = False
    below: dict[str, Filter] = {}


class _Deeper(msgspec.Struct, frozen=True):
    """An alternative about what is below an entity: what has to hold for it, and for members of a collection."""

    here: tuple[Expression, ...]
    collection: str
    rest: tuple[Expression, ...]


class _Plan:
    """Alternatives in the order in which they cost least: comparisons with `=` at one path are one lookup."""

    def __init__(self, alternatives: tuple[tuple[Expression, ...], ...]) -> None:
        equal: dict[Path, list[str]] = {}
        self.others: list[tuple[Expression, ...]] = []
        self.deeper: list[_Deeper] = []
        for alternative in alternatives:
            names = {one.collections[0] for one in alternative if one.collections}
            if len(names) == 1:
                here = tuple(one for one in alternative if not one.collections)
                rest = tuple(one.below() for one in alternative if one.collections)
                self.deeper.append(_Deeper(here, names.pop(), rest))
            elif names:
                continue  # nothing lies below two collections at once
            elif len(alternative) == 1 and alternative[0].sign == "=" and alternative[0].value is not None:
                equal.setdefault(alternative[0].path, []).append(alternative[0].value)
            else:
                self.others.append(alternative)
        self.equal = {path: Operands(texts) for path, texts in equal.items()}
        self._last: tuple[list[_Deeper], FilterResult] = ([], FilterResult())

    def below(self, chosen: list[_Deeper]) -> FilterResult:
        """The filters of collections; for most entities they are those of the entity before."""
        if self._last[0] != chosen:
            below: dict[str, list[tuple[Expression, ...]]] = {}
            for one in chosen:
                below.setdefault(one.collection, []).append(one.rest)
            filters = {name: Filter(tuple(rest)) for name, rest in below.items()}
            self._last = (chosen, FilterResult(below=filters))
        return self._last[1]


class Filter(msgspec.Struct, frozen=True, dict=True):
    """Alternatives, each of expressions that all have to hold; without alternatives nothing is selected."""

    alternatives: tuple[tuple[Expression, ...], ...] = ()

    def evaluate(self, document: Mapping[str, Any]) -> FilterResult:
        """Evaluate the expressions about this entity; those about its collections are returned as their filters."""
        plan, values = self._plan, _Values(document)
        if any(operands.match(value) for path, operands in plan.equal.items() for value in values[path]):
            return EVERYTHING
        if any(_all_hold(alternative, values) for alternative in plan.others):
            return EVERYTHING
        return plan.below([one for one in plan.deeper if _all_hold(one.here, values)])

    @functools.cached_property
    def _plan(self) -> _Plan:
        return _Plan(self.alternatives)

    @property
    def mentions_meta(self) -> bool:
        """Whether an expression is about `meta`, so that entities have to be rendered with it."""
        return any(one.path[0] == "meta" for alternative in self.alternatives for one in alternative)

    @functools.cached_property
    def members(self) -> frozenset[Step]:
        """The members of an entity that it is about, beside those of what is below."""
        return frozenset(one.path[0] for alternative in self.alternatives for one in alternative if not one.collections)

    @functools.cached_property
    def query(self) -> str:
        """The filter as a query string (FLAG-021, FLAG-022)."""
        if not self.alternatives:
            return f"filter={EXCLUDE_ALL}"
        return "&".join(f"filter={_encoded(','.join(map(str, one)))}" for one in self.alternatives)


def _all_hold(expressions: tuple[Expression, ...], values: _Values) -> bool:
    return all(one.holds(values[one.path]) for one in expressions)


EXCLUDES_ALL = Filter()
EVERYTHING = FilterResult(everything=True)
Render = Callable[[Any], Mapping[str, Any]]
"""Renders an entity as clients see it, which is what a filter compares."""


def _render_nothing(_: Any) -> Mapping[str, Any]:
    return {}


class FilterScope(msgspec.Struct, frozen=True):
    """A filter at one level of a read: selects entities as they are rendered for clients."""

    filter: Filter | None = None
    render: Render = _render_nothing
    is_on: bool = False
    """Whether the request has a filter at all, at this level or above."""

    def evaluate(self, tree: Any) -> FilterResult:
        """What of an entity is selected."""
        return EVERYTHING if self.filter is None else self.filter.evaluate(self.render(tree))

    def depends_on(self, members: AbstractSet[str]) -> bool:
        """Whether it takes any of these members of an entity to say whether it is selected."""
        wanted = self.filter.members if self.filter is not None else frozenset()
        return not all(isinstance(one, str) for one in wanted) or not members.isdisjoint(wanted)

    def excludes(self, attributes: Mapping[str, Any]) -> bool:
        """Whether nothing is selected of an entity that shows these members, and others on which nothing depends."""
        if self.filter is None:
            return False
        result = self.filter.evaluate(attributes)
        return not result.everything and not result.below

    def below(self, result: FilterResult, collection: str) -> FilterScope:
        """The scope of the members of a collection."""
        rest = None if result.everything else result.below.get(collection, EXCLUDES_ALL)
        return msgspec.structs.replace(self, filter=rest)

    @property
    def excludes_all(self) -> bool:
        """Whether nothing is selected, so that nothing has to be read."""
        return self.filter is not None and not self.filter.alternatives

    def query(self, count: int) -> str:
        """The query string of the URL of a collection with so many members."""
        if not self.is_on:
            return ""
        wanted = self.filter if count else EXCLUDES_ALL
        return f"?{wanted.query}" if wanted is not None else ""


UNFILTERED = FilterScope()


def filter_scope(wanted: Filter | None, render: Render) -> FilterScope:
    """The scope of a request's filter at the level of its target."""
    return UNFILTERED if wanted is None else FilterScope(wanted, render, is_on=True)


def parse_filter(model: Model, path: EntityPath, values: tuple[str, ...], subject: str) -> Filter | None:
    """Parse the filter of a request to an entity or collection; None when it has none."""
    values = tuple(value for value in values if value.strip())
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
        return EXCLUDES_ALL
    known = _collection_names(model, path)
    return Filter(tuple(tuple(_expression(text, known, subject) for text in texts) for texts in alternatives))


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


def _expression(text: str, known: CollectionNames, subject: str) -> Expression:
    found = _EXPRESSION.fullmatch(text)
    written, sign, value, _ = found.groups() if found else ("", None, text, "")
    if not written or (value and not sign):
        _refuse(text, "an expression looks like PATH, PATH=VALUE, PATH!=VALUE or PATH<VALUE", subject)
    try:
        path = parse_path(written.strip(), wildcards=True)
    except BadPath as error:
        _refuse(text, str(error), subject)
    collections, rest = _split(path, known)
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


class CollectionNames(dict[str, "CollectionNames"]):
    """Names of collections, each with those below it."""


def _collection_names(model: Model, path: EntityPath) -> CollectionNames:
    versions = CollectionNames(versions=CollectionNames())
    match path.kind:
        case "registry":
            return CollectionNames(
                {
                    g: CollectionNames(dict.fromkeys(group_type.resources, versions))
                    for g, group_type in model.groups.items()
                }
            )
        case "groups" | "group":
            return CollectionNames(dict.fromkeys(path.group.resources, versions))
        case "resources" | "resource":
            return versions
        case _:
            return CollectionNames()


def _split(path: Path, known: CollectionNames) -> tuple[tuple[str, ...], Path]:
    collections: list[str] = []
    for position, step in enumerate(path):
        if not isinstance(step, str) or step not in known:
            return tuple(collections), path[position:]
        collections.append(step)
        known = known[step]
    return tuple(collections), ()


def _encoded(text: str) -> str:
    return quote(_AMBIGUOUS_PERCENT.sub("%25", text), safe=_UNCHANGED)
