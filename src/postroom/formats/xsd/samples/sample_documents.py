"""Sample documents: random ones for samples, and ones that have something certain at a certain place."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from typing import Any

import msgspec
from lxml import etree

from postroom.errors import SchemaRefused
from postroom.formats.work_budget import spend
from postroom.formats.xsd import content_model
from postroom.formats.xsd.content_model import (
    AllGroup,
    ChoiceGroup,
    ElementWildcard,
    Leaf,
    Model,
    Repeat,
    SequenceGroup,
)
from postroom.formats.xsd.element_codec import Plans
from postroom.formats.xsd.samples import sample_strings
from postroom.formats.xsd.xml_names import ANY_TYPE, NIL, TYPE, XSI, local_name, namespace_of

_DEEP = 4
_DEEPEST = 60
MOST_ELEMENTS = 5_000
_TOO_MANY = f"no document could be invented of at most {MOST_ELEMENTS} elements."


class SampleRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What an invented document shall have at the end of a path of element names."""

    path: tuple[str, ...]
    text: str | None = None
    word: tuple[Leaf, ...] | None = None
    attributes: dict[str, str | None] = {}
    nil: bool = False


class DocumentGenerator:
    """Makes documents of one schema."""

    def __init__(
        self, plans: Plans, rng: random.Random, request: SampleRequest | None = None, plain: bool = False
    ) -> None:
        self.plans = plans
        self.rng = rng
        self.request = request
        self.plain = plain
        self.count = 0
        self.ids: list[str] = []
        self.referring: list[tuple[Any, str | None]] = []
        self._costs: dict[int, float] = {}
        self._possible: dict[int, list[Model]] = {}

    def document(self, declaration: Any) -> Any:
        """A document that starts with a declared element."""
        self._weigh(declaration)
        root = self._element(Leaf(declaration.name, declaration, declaration), 0, (declaration.name,), True)
        for element, attribute in self.referring:
            if self.ids and attribute is None:
                element.text = self.rng.choice(self.ids)
            elif self.ids:
                element.set(attribute, self.rng.choice(self.ids))
        return root

    def _element(self, leaf: Leaf, depth: int, path: tuple[str, ...], on_path: bool) -> Any:
        spend(10)
        self.count += 1
        if depth > _DEEPEST or self.count > MOST_ELEMENTS:
            raise SchemaRefused("no document could be invented that is not too deep or too large.")
        namespace = namespace_of(leaf.tag)
        known = {} if leaf.declaration is None else _prefixes(leaf.declaration)
        element = etree.Element(leaf.tag, nsmap={**known, "xsi": XSI, **({"p": namespace} if namespace else {})})
        if leaf.declaration is not None:
            self._fill(element, leaf.declaration, depth, path, on_path)
        return element

    def _fill(self, element: Any, declaration: Any, depth: int, path: tuple[str, ...], on_path: bool) -> None:
        request = self.request if on_path and self.request is not None and self.request.path == path else None
        if (request and request.nil) or (request is None and self._may_be_nil(declaration, on_path)):
            element.set(NIL, "true")
        xsd_type = self._concrete_type(element, declaration)
        if xsd_type.is_simple():
            self._put_text(element, xsd_type, declaration, request)
            return
        if xsd_type.name == ANY_TYPE:
            element.text = "" if request is None or request.text is None else request.text
            return
        self._put_attributes(element, xsd_type, request)
        if element.get(NIL):
            return
        if xsd_type.has_simple_content():
            self._put_text(element, xsd_type.content, declaration, request)
        else:
            self._put_children(element, xsd_type, depth, path, on_path, request)

    def _may_be_nil(self, declaration: Any, on_path: bool) -> bool:
        return bool(declaration.nillable and not self.plain and not on_path and self.rng.random() < 0.1)

    def _concrete_type(self, element: Any, declaration: Any) -> Any:
        """The type of an element; one that is derived, where the declared one is abstract."""
        xsd_type = declaration.type
        if not xsd_type.is_complex() or not xsd_type.abstract:
            return xsd_type
        for name, other in xsd_type.schema.maps.types.items():
            spend()
            if other.is_complex() and not other.abstract and other is not xsd_type and other.is_derived(xsd_type):
                element.set(TYPE, f"{_prefix(element, namespace_of(name))}{local_name(name)}")
                return other
        raise SchemaRefused(f"the type {xsd_type.local_name!r} is abstract, and nothing is derived from it.")

    def _put_text(self, element: Any, xsd_type: Any, declaration: Any, request: SampleRequest | None) -> None:
        if element.get(NIL):
            return
        if request is not None and request.text is not None:
            element.text = request.text
        elif declaration.fixed is not None:
            element.text = declaration.fixed
        else:
            element.text = self._text(xsd_type, element, None)

    def _text(self, xsd_type: Any, element: Any, attribute: str | None) -> str:
        text = sample_strings.invent(xsd_type, self.rng)
        if getattr(xsd_type, "local_name", None) == "IDREF":
            self.referring.append((element, attribute))
        elif getattr(xsd_type, "local_name", None) == "ID":
            self.ids.append(text)
        return text

    def _put_attributes(self, element: Any, xsd_type: Any, request: SampleRequest | None) -> None:
        wanted = request.attributes if request is not None else {}
        for tag, declaration in xsd_type.attributes.items():
            if tag is None or declaration.use == "prohibited" or tag in wanted:
                continue
            if declaration.use == "required" or (not self.plain and self.rng.random() < 0.6):
                fixed = declaration.fixed
                element.set(tag, fixed if fixed is not None else self._text(declaration.type, element, tag))
        for tag, text in wanted.items():
            if text is not None:
                element.set(tag, text)

    def _put_children(
        self,
        element: Any,
        xsd_type: Any,
        depth: int,
        path: tuple[str, ...],
        on_path: bool,
        request: SampleRequest | None,
    ) -> None:
        if xsd_type.mixed and not self.plain:
            element.text = self.rng.choice(("", "some ", "text "))
        model = self.plans.type(xsd_type).model
        toward = self._next(path) if on_path else None
        for leaf in self._word(model, depth, toward, request):
            chosen = toward is not None and leaf.tag == toward
            element.append(self._element(leaf, depth + 1, (*path, leaf.tag), chosen))
            toward = None if chosen else toward
        if request is not None and request.text is not None:
            element.text = request.text

    def _next(self, path: tuple[str, ...]) -> str | None:
        wanted = self.request.path if self.request is not None else ()
        return wanted[len(path)] if len(wanted) > len(path) and wanted[: len(path)] == path else None

    def _word(self, model: Model, depth: int, toward: str | None, request: SampleRequest | None) -> list[Leaf]:
        if request is not None and request.word is not None:
            return list(request.word)
        if toward is not None:
            found = content_model.having(model, toward, self._cost)
            if found is None:
                raise SchemaRefused(f"no document has {local_name(toward)!r} there.")
            return _written_out(found)
        if self.plain or depth >= _DEEP:
            price, cheap = content_model.cheapest(model, self._cost)
            if price == math.inf:
                raise SchemaRefused("no document could be invented: a type needs itself, or an unknown element.")
            return _written_out(cheap)
        return self._random(model)

    def _random(self, model: Model) -> list[Leaf]:
        if isinstance(model, Leaf):
            return [model]
        if isinstance(model, ElementWildcard):
            return [model.stand_in] if model.stand_in is not None else []
        if isinstance(model, Repeat):
            return self._repeated(model)
        if isinstance(model, ChoiceGroup):
            return self._random(self.rng.choice(self._finite(model.parts, model) or list(model.parts)))
        parts = list(model.parts) if isinstance(model, SequenceGroup | AllGroup) else []
        if isinstance(model, AllGroup):
            self.rng.shuffle(parts)
        return _all_leaves(map(self._random, parts))

    def _repeated(self, model: Repeat) -> list[Leaf]:
        top = model.least + 2 if model.most is None else min(model.most, model.least + 2)
        if not self._finite((model.part,), model):
            top = model.least
        times = range(self.rng.randint(model.least, top))
        return _all_leaves(self._random(model.part) for _ in times)

    def _finite(self, parts: tuple[Model, ...], of: Model) -> list[Model]:
        """The parts of a model for which there are children at all."""
        if id(of) not in self._possible:
            self._possible[id(of)] = [part for part in parts if content_model.cheapest(part, self._cost)[0] < math.inf]
        return self._possible[id(of)]

    def _cost(self, leaf: Leaf) -> float:
        if leaf.declaration is None or leaf.declaration.type.is_simple():
            return 1
        return 1 + self._costs.get(id(leaf.declaration.type), math.inf)

    def _weigh(self, declaration: Any) -> None:
        """How many elements each type needs at least; without end for a type that needs itself."""
        xsd_types = reachable(declaration.type, self.plans)
        self._costs = dict.fromkeys(xsd_types, math.inf)
        for _ in range(len(xsd_types) + 1):
            before = dict(self._costs)
            # What is inside was reached later, and is weighed first.
            for key, xsd_type in reversed(xsd_types.items()):
                spend()
                simple = xsd_type.name == ANY_TYPE or xsd_type.has_simple_content()
                if not xsd_type.abstract:
                    self._costs[key] = (
                        0 if simple else content_model.cheapest(self.plans.type(xsd_type).model, self._cost)[0]
                    )
            for xsd_type in xsd_types.values():
                if xsd_type.abstract:
                    spend(len(xsd_types))
                    below = [self._costs[key] for key, other in xsd_types.items() if _derives(other, xsd_type)]
                    self._costs[id(xsd_type)] = min(below, default=math.inf)
            if self._costs == before:
                return


def reachable(start: Any, plans: Plans) -> dict[int, Any]:
    """The complex types inside a type, itself included, by identity."""
    xsd_types: dict[int, Any] = {}
    waiting = [start]
    while waiting:
        xsd_type = waiting.pop()
        if xsd_type.is_simple() or id(xsd_type) in xsd_types:
            continue
        spend()
        xsd_types[id(xsd_type)] = xsd_type
        if xsd_type.abstract:
            spend(len(xsd_type.schema.maps.types))
            waiting += [other for other in xsd_type.schema.maps.types.values() if _derives(other, xsd_type)]
        if xsd_type.name != ANY_TYPE:
            for leaf in content_model.leaves(plans.type(xsd_type).model):
                found = leaf if isinstance(leaf, Leaf) else leaf.stand_in
                if found is not None and found.declaration is not None:
                    waiting.append(found.declaration.type)
    return xsd_types


def _derives(xsd_type: Any, base: Any) -> bool:
    return bool(xsd_type.is_complex() and not xsd_type.abstract and xsd_type is not base and xsd_type.is_derived(base))


def _all_leaves(words: Iterable[list[Leaf]]) -> list[Leaf]:
    joined: list[Leaf] = []
    for word in words:
        spend()
        joined += word
        if len(joined) > MOST_ELEMENTS:
            raise SchemaRefused(_TOO_MANY)
    return joined


def _written_out(word: list[tuple[Leaf, int]]) -> list[Leaf]:
    if sum(count for _, count in word) > MOST_ELEMENTS:
        raise SchemaRefused(_TOO_MANY)
    return [leaf for leaf, count in word for _ in range(count)]


def _prefixes(declaration: Any) -> dict[str, str]:
    """Prefixes for the namespaces of types that could be named in a document."""
    xsd_type = declaration.type
    if not xsd_type.is_complex() or not xsd_type.abstract:
        return {}
    spend(len(xsd_type.schema.maps.types))
    found = sorted(
        {namespace_of(name) for name, other in xsd_type.schema.maps.types.items() if _derives(other, xsd_type)}
    )
    return {f"t{number}": namespace for number, namespace in enumerate(found) if namespace}


def _prefix(element: Any, namespace: str) -> str:
    prefix = next((name for name, found in element.nsmap.items() if found == namespace and name), None)
    return f"{prefix}:" if prefix else ""
