"""The content models of a schema's complex types, from the components that xmlschema read."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from xmlschema.validators import XsdAnyElement, XsdElement, XsdGroup

from postroom.formats.xsd.content_model import EMPTY, AllGroup, ElementWildcard, Leaf, Model, choice, repeat, sequence
from postroom.formats.xsd.xml_names import ANY_TYPE, XML, XS, XSI

# Names for elements and attributes that only a wildcard allows.
_STRANGERS = ("{urn:example:other}extra", "extra", "{urn:example:more}extra")


def model_of(xsd_type: Any) -> Model:
    """The children that a complex type allows; none for a type with simple content."""
    return _particle(xsd_type.content) if isinstance(xsd_type.content, XsdGroup) else EMPTY


def _particle(particle: Any) -> Model:
    return repeat(_inside(particle), particle.min_occurs, particle.max_occurs)


def _inside(particle: Any) -> Model:
    if isinstance(particle, XsdElement):
        return choice([Leaf(found.name, found, particle) for found in occurring(particle)])
    if isinstance(particle, XsdAnyElement):
        return ElementWildcard(particle, _stand_in(particle))
    parts = [_particle(part) for part in particle]
    if particle.model == "choice":
        return choice(parts)
    if particle.model == "all":
        return AllGroup(tuple(parts)) if len(parts) > 1 else sequence(parts)
    return sequence(parts)


def occurring(declaration: Any) -> list[Any]:
    """The declarations that may stand where one is mentioned: itself and its substitutes, without abstract ones."""
    return [found for found in (declaration, *substitutes(declaration)) if not found.abstract]


def substitutes(declaration: Any) -> list[Any]:
    """The elements that may stand for another."""
    head = declaration.ref if declaration.ref is not None else declaration
    if "substitution" in (head.block or "").split() or "#all" in (head.block or "").split():
        return []
    return list(head.iter_substitutes()) if head.is_global() else []


def is_open(declaration: Any, bases: Set[int]) -> bool:
    """Whether the payload decides what an element is: by a substitute, a derived type, or a type that depends."""
    xsd_type = declaration.type
    return (
        bool(substitutes(declaration))
        or bool(getattr(declaration, "alternatives", ()))
        or xsd_type.name == ANY_TYPE
        or (xsd_type.is_complex() and (xsd_type.abstract or id(xsd_type) in bases))
    )


def bases_of(schema: Any) -> Set[int]:
    """The complex types that named types of the schema are derived from, by identity."""
    return {id(step) for found in list(schema.maps.types.values()) for step in _bases(found)}


def _bases(xsd_type: Any) -> list[Any]:
    found: list[Any] = []
    if not getattr(xsd_type, "is_complex", bool)() or (xsd_type.name or "").startswith(f"{{{XS}}}"):
        return found
    base = xsd_type.base_type
    while base is not None and base.is_complex() and base.name != ANY_TYPE and len(found) < 200:
        if base is not xsd_type:
            found.append(base)
        base = base.base_type
    return found


def _stand_in(rule: Any) -> Leaf | None:
    known = rule.schema.maps.elements
    if rule.process_contents == "strict":
        for tag, declaration in known.items():
            if not tag.startswith(f"{{{XS}}}") and not declaration.abstract and rule.is_matching(tag):
                return Leaf(tag, declaration)
        return None
    return next((Leaf(tag, None) for tag in undeclared_names(rule) if tag not in known and rule.is_matching(tag)), None)


def undeclared_names(rule: Any) -> list[str]:
    """Names that hardly any schema declares, in the namespaces that a wildcard could mean."""
    named = [name for name in rule.namespace if not name.startswith("##") and name not in (XML, XSI, XS)]
    own = rule.schema.target_namespace
    return [*_STRANGERS, *(f"{{{name}}}extra" if name else "extra" for name in [*named, own])]
