"""A schema's plan for payloads: each element's column, and how it is read into a value.

Values are objects whose members are child elements by their local name and attributes by `@` and theirs; elements that
can occur more than once are lists; `value` is the text of an element that also may have attributes; `$any` and
`$anyattributes` are what wildcards let in. Parts whose type only the payload knows are kept as XML text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from xml.sax.saxutils import escape

import msgspec
from lxml import etree

from postroom.formats.column_types import JSON_TEXT, STRING, ColumnType, Field, ListOf, MapOf, StructOf
from postroom.formats.naming import column_names
from postroom.formats.xsd import content_model_builder
from postroom.formats.xsd.constraints import open_content
from postroom.formats.xsd.content_model import ElementWildcard, Leaf, Model, leaves, most_times
from postroom.formats.xsd.simple_types import Codec, codec
from postroom.formats.xsd.xml_names import NIL, XSI, local_name

TEXT, ANY, ANY_ATTRIBUTES, IS_NIL = "value", "$any", "$anyattributes", "@xsi:nil"
_DEEPEST = 40
_WIDEST = 2_000
_IN_XSI = f"{{{XSI}}}"
_XSI = {"xsi": XSI}

Decode = Callable[[Any], Any]
DecodeText = Callable[[str], Any]


class AttributePlan(msgspec.Struct, frozen=True):
    """An attribute of a type."""

    tag: str
    key: str
    codec: Codec
    required: bool
    default: str | None
    declaration: Any


class ElementPlan:
    """An element where it is declared: simple (`codec`), complex (`type`), or open (neither: kept as XML)."""

    def __init__(self, declaration: Any, plans: Plans) -> None:
        self.declaration = declaration
        self.tag: str = declaration.name
        xsd_type = declaration.type
        self.is_open = content_model_builder.is_open(declaration, plans.bases)
        self.codec = plans.codec(xsd_type) if xsd_type.is_simple() and not self.is_open else None
        self.type = plans.type(xsd_type) if not xsd_type.is_simple() and not self.is_open else None
        self.default: str | None = declaration.default if declaration.default is not None else declaration.fixed
        self.nillable: bool = declaration.nillable
        self.decode = self._decoder()
        is_plain = self.codec is not None and not self.nillable and not self.default
        self.decode_text = self.codec.decode if self.codec is not None and is_plain else None
        """How a value is read where the text is all that counts."""

    def _decoder(self) -> Decode:
        if self.is_open:
            return xml_text
        inside = self.type.decode if self.type is not None else self._simple()
        return _nil_aware(inside, self.type) if self.nillable else inside

    def _simple(self) -> Decode:
        assert self.codec is not None  # noqa: S101 - neither open nor complex
        decode, default = self.codec.decode, self.default or ""
        return lambda element: decode(element.text or default)

    def column(self, above: tuple[int, ...] = ()) -> ColumnType:
        """The column of one occurrence."""
        if self.codec is not None:
            return self.codec.column
        return STRING if self.type is None else self.type.column(above)


class Child(msgspec.Struct, frozen=True):
    """An element among the children of a type."""

    key: str
    many: bool
    plan: ElementPlan


class TypePlan:
    """A complex type: its attributes, and its text or children."""

    def __init__(self, xsd_type: Any, plans: Plans) -> None:
        self.xsd_type = xsd_type
        self._plans = plans
        self.mixed = bool(xsd_type.mixed)
        self.text = plans.codec(xsd_type.content) if xsd_type.has_simple_content() else None
        self.any_attribute = xsd_type.attributes.get(None)
        self.attributes = self._attributes()
        self.model: Model = content_model_builder.model_of(xsd_type)
        self._children: dict[str, Child] | None = None
        self._plain: dict[str, tuple[str, DecodeText]] | None = None
        self._width: float | None = None
        self._defaults = {
            found.key: found.codec.decode(found.default)
            for found in self.attributes.values()
            if found.default is not None
        }

    @property
    def children(self) -> dict[str, Child]:
        """The child elements by tag; made on first use, because types may hold themselves."""
        if self._children is None:
            self._children = self._find_children()
        return self._children

    @property
    def has_wildcard(self) -> bool:
        """Whether elements may occur that the type does not name."""
        return open_content(self.xsd_type) or any(isinstance(leaf, ElementWildcard) for leaf in leaves(self.model))

    def _attributes(self) -> dict[str, AttributePlan]:
        found = {}
        taken: set[str] = set()
        for tag, declaration in self.xsd_type.attributes.items():
            if tag is None or declaration.use == "prohibited":
                continue
            key = f"@{local_name(tag)}" if f"@{local_name(tag)}" not in taken else f"@{tag}"
            taken.add(key)
            default = declaration.default if declaration.default is not None else declaration.fixed
            found[tag] = AttributePlan(
                tag, key, self._plans.codec(declaration.type), declaration.use == "required", default, declaration
            )
        return found

    def _find_children(self) -> dict[str, Child]:
        found: dict[str, Child] = {}
        taken: dict[str, str] = {}
        named = [leaf for leaf in leaves(self.model) if isinstance(leaf, Leaf)]
        together: dict[str, set[str]] = {}
        for leaf in named:
            together.setdefault(leaf.mentioned.name, set()).add(leaf.tag)
        many = {name: most_times(self.model, tags) > 1 for name, tags in together.items()}
        for leaf in named:
            mentioned, name = leaf.mentioned, local_name(leaf.mentioned.name)
            key = name if taken.setdefault(name, mentioned.name) == mentioned.name else mentioned.name
            found.setdefault(leaf.tag, Child(key, many[mentioned.name], self._plans.element(mentioned)))
        return found

    def decode(self, element: Any) -> Any:
        """The value of an element of this type."""
        value: dict[str, Any] = dict(self._defaults) if self._defaults else {}
        if self.attributes or self.any_attribute is not None:
            self.read_attributes(element, value)
        if self.mixed:
            value[TEXT] = inner_xml(element)
        elif self.text is not None:
            value[TEXT] = self.text.decode(element.text or "")
        else:
            self._read_children(element, value)
        return value

    def read_attributes(self, element: Any, value: dict[str, Any]) -> None:
        """Put an element's attributes into a value."""
        for tag, text in element.items():
            found = self.attributes.get(tag)
            if found is not None:
                value[found.key] = found.codec.decode(text)
            elif not tag.startswith(_IN_XSI):
                value.setdefault(ANY_ATTRIBUTES, {})[tag] = text

    def _read_children(self, element: Any, value: dict[str, Any]) -> None:
        plain = self._plain
        if plain is None:
            plain = self._plain = self._find_plain()
        for child in element:
            found = plain.get(child.tag)
            if found is None:
                self._read_child(child, value)
            else:
                key, decode_text = found
                value[key] = decode_text(child.text or "")

    def _find_plain(self) -> dict[str, tuple[str, DecodeText]]:
        """The key and the type of children that occur once and whose text is all that they have: most of them."""
        return {
            tag: (child.key, child.plan.decode_text)
            for tag, child in self.children.items()
            if not child.many and child.plan.decode_text is not None
        }

    def _read_child(self, child: Any, value: dict[str, Any]) -> None:
        entry = self.children.get(child.tag)
        if entry is None:
            value.setdefault(ANY, []).append(xml_text(child))
        elif entry.many:
            value.setdefault(entry.key, []).append(entry.plan.decode(child))
        else:
            value[entry.key] = entry.plan.decode(child)

    def width(self) -> float:
        """How many columns the type has with all types inside it, so that none has exponentially many."""
        if self._width is None:
            self._width = 1.0  # where it holds itself
            inside = [child.plan.type for child in self.children.values()]
            below = sum(1.0 if type_plan is None else type_plan.width() for type_plan in inside)
            self._width = max(len(self.attributes) + below, 1.0)
        return self._width

    def column(self, above: tuple[int, ...] = ()) -> ColumnType:
        """The struct of this type; JSON text where it holds itself, is very deep or has no members."""
        if id(self) in above or len(above) > _DEEPEST or (above and self.width() > _WIDEST):
            return JSON_TEXT
        members: list[tuple[str, ColumnType, str]] = [
            (found.key, found.codec.column, description(found.declaration)) for found in self.attributes.values()
        ]
        if self.mixed or self.text is not None:
            members.append((TEXT, STRING if self.text is None or self.mixed else self.text.column, ""))
        else:
            members += self._child_columns((*above, id(self)))
        if self.any_attribute is not None:
            members.append((ANY_ATTRIBUTES, MapOf(STRING), ""))
        names = column_names(key for key, _, _ in members)
        fields = (Field(name, *member) for name, member in zip(names, members, strict=True))
        return StructOf(tuple(fields)) if members else JSON_TEXT

    def _child_columns(self, above: tuple[int, ...]) -> list[tuple[str, ColumnType, str]]:
        found: list[tuple[str, ColumnType, str]] = []
        for child in {child.key: child for child in self.children.values()}.values():
            inside = child.plan.column(above)
            kept = ListOf(inside) if child.many else inside
            found.append((child.key, kept, description(child.plan.declaration)))
        if self.has_wildcard:
            found.append((ANY, ListOf(STRING), ""))
        return found


class Plans:
    """The plans of one schema, each made once."""

    def __init__(self, schema: Any) -> None:
        self.bases = content_model_builder.bases_of(schema)
        self._elements: dict[int, ElementPlan] = {}
        self._types: dict[int, TypePlan] = {}
        self._codecs: dict[int, Codec] = {}

    def element(self, declaration: Any) -> ElementPlan:
        """The plan of a declared element."""
        if id(declaration) not in self._elements:
            self._elements[id(declaration)] = ElementPlan(declaration, self)
        return self._elements[id(declaration)]

    def type(self, xsd_type: Any) -> TypePlan:
        """The plan of a complex type."""
        if id(xsd_type) not in self._types:
            self._types[id(xsd_type)] = TypePlan(xsd_type, self)
        return self._types[id(xsd_type)]

    def codec(self, xsd_type: Any) -> Codec:
        """The codec of a simple type."""
        if id(xsd_type) not in self._codecs:
            self._codecs[id(xsd_type)] = codec(xsd_type)
        return self._codecs[id(xsd_type)]


def _nil_aware(decode: Decode, type_plan: TypePlan | None) -> Decode:
    def decode_unless_nil(element: Any) -> Any:
        if (element.get(NIL) or "").strip() not in ("true", "1"):
            return decode(element)
        value: dict[str, Any] = {}
        if type_plan is not None:
            type_plan.read_attributes(element, value)
        return {**value, IS_NIL: True} if value else None

    return decode_unless_nil


def xml_text(element: Any) -> str:
    """An element as XML text that can stand alone, always written the same way."""
    # Canonical XML leaves out prefixes that only values use, as those of xsi:type do.
    typed = {value.partition(":")[0] for value in element.xpath("descendant-or-self::*/@xsi:type", namespaces=_XSI)}
    try:
        text: bytes = etree.tostring(
            element, method="c14n", exclusive=True, with_tail=False, inclusive_ns_prefixes=sorted(typed) or None
        )
    except etree.C14NError:
        # Canonical XML knows no relative namespace names; XML does.
        text = etree.tostring(element, encoding="utf-8", with_tail=False)
    return text.decode()


def inner_xml(element: Any) -> str:
    """What is inside an element, as XML text."""
    return escape(element.text or "") + "".join(xml_text(child) + escape(child.tail or "") for child in element)


def description(declaration: Any) -> str:
    """The documentation that an author wrote for a declaration or its type."""
    for annotated in (declaration, declaration.type):
        notes = getattr(annotated, "annotation", None)
        for note in getattr(notes, "documentation", None) or ():
            text = " ".join("".join(note.itertext()).split())
            if text and not (annotated.name or "").startswith("{http://www.w3.org/2001/XMLSchema}"):
                return text
    return ""
