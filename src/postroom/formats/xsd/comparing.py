"""Comparing two schemas: walks both from the root and collects what tells them apart and what no rule decides."""

from __future__ import annotations

from typing import Any

import msgspec

from postroom.formats.xsd import inclusion, valuespaces
from postroom.formats.xsd.content import EMPTY, Leaf, Model, Wildcard, leaves, nullable
from postroom.formats.xsd.inventing import Wish, reachable
from postroom.formats.xsd.models import strangers
from postroom.formats.xsd.names import ANY_TYPE, VERSIONING, XML, XS, XSI, local_name, namespace_of
from postroom.formats.xsd.plan import Plans
from postroom.formats.xsd.texts import fits

MOST_PAIRS = 2_000

Path = tuple[str, ...]


class Difference(msgspec.Struct, frozen=True):
    """Something that the writer allows and the reader seems to refuse, with the wish for a document that shows it."""

    reason: str
    path: Path
    wish: Wish


class Doubt(msgspec.Struct, frozen=True):
    """A place that no rule decides."""

    reason: str
    path: Path


class Comparison:
    """The walk over two schemas."""

    def __init__(self, writer: Plans, reader: Plans) -> None:
        self.writer = writer
        self.reader = reader
        self.differences: list[Difference] = []
        self.doubts: list[Doubt] = []
        self._seen: set[tuple[int, int]] = set()

    def element(self, writer: Any, reader: Any, path: Path) -> None:
        """Compare two declarations of an element."""
        name = local_name(path[-1])
        if writer.nillable and not reader.nillable:
            self._differ(f"<{name}> may be nil for the writer only", Wish(path=path, nil=True))
        if reader.fixed is not None and writer.fixed != reader.fixed:
            self._differ(f"<{name}> is always {reader.fixed!r} for the reader", Wish(path=path))
        for side in _constraints(reader) - _constraints(writer):
            self._doubt(f"the reader demands {side}", path)
        if _alternatives(writer) != _alternatives(reader):
            self._doubt(f"the type of <{name}> depends on its attributes", path)
        self._types(writer.type, reader.type, path)

    def _types(self, writer: Any, reader: Any, path: Path) -> None:
        pair = (id(writer), id(reader))
        if pair in self._seen:
            return
        if len(self._seen) > MOST_PAIRS:
            self._doubt("the schemas have too many types to be compared", path)
            return
        self._seen.add(pair)
        if reader.name == ANY_TYPE:
            if not self._free(writer, reader.schema):
                self._doubt("the reader takes any content there, checked against its own elements", path)
        elif writer.name == ANY_TYPE:
            self._differ("the writer takes any content there", Wish(path=path, text="some text"))
            self._doubt("the writer takes any content there", path)
        elif writer.is_simple() and reader.is_simple():
            self._values(writer, reader, path)
        elif writer.is_simple():
            self._simple_as_complex(writer, reader, path)
        else:
            self._complex(writer, reader, path)

    def _values(self, writer: Any, reader: Any, path: Path, attribute: str = "") -> None:
        answer = valuespaces.contained(writer, reader)
        if answer.holds:
            return
        name = f"@{local_name(attribute)}" if attribute else f"<{local_name(path[-1])}>"
        if answer.text is None:
            self._doubt(f"no rule says whether the reader's type takes all values of {name}", path)
            return
        wish = Wish(path=path, attributes={attribute: answer.text}) if attribute else Wish(path=path, text=answer.text)
        self._differ(f"the reader's type of {name} does not take {answer.text[:60]!r}", wish)

    def _simple_as_complex(self, writer: Any, reader: Any, path: Path) -> None:
        self._required_attributes({}, reader, path)
        if reader.has_simple_content():
            self._values(writer, reader.content, path)
        elif reader.mixed and nullable(self.reader.type(reader).model):
            return
        else:
            self._differ(f"<{local_name(path[-1])}> is text for the writer and not for the reader", Wish(path=path))

    def _complex(self, writer: Any, reader: Any, path: Path) -> None:
        if reader.is_simple():
            self._complex_as_simple(writer, reader, path)
            return
        self._derived(writer, reader, path)
        self._attributes(writer, reader, path)
        if _asserted(reader) - _asserted(writer):
            self._doubt("the reader asserts more than types can say", path)
        if _open_content(writer) or _open_content(reader):
            self._doubt("open content is not compared", path)
        if writer.has_simple_content():
            self._text(writer, reader, path)
        else:
            self._content(writer, reader, path)

    def _complex_as_simple(self, writer: Any, reader: Any, path: Path) -> None:
        name = local_name(path[-1])
        for tag in writer.attributes:
            if tag is not None:
                self._differ(f"<{name}> has no attributes for the reader", self._with_attribute(writer, tag, path))
        if writer.attributes.get(None) is not None:
            self._doubt(f"<{name}> has no attributes for the reader", path)
        if writer.has_simple_content():
            self._values(writer.content, reader, path)
        else:
            self._differ(f"<{name}> is text for the reader", Wish(path=path))
            self._doubt(f"<{name}> is text for the reader only", path)

    def _derived(self, writer: Any, reader: Any, path: Path) -> None:
        """Payloads name derived types: the reader needs each of them, by the same name."""
        if id(writer) not in self.writer.bases and not writer.abstract:
            if reader.abstract:
                self._differ(f"the type of <{local_name(path[-1])}> is abstract for the reader", Wish(path=path))
            return
        known = reader.schema.maps.types
        for name, kind in writer.schema.maps.types.items():
            if (
                kind.is_complex()
                and kind is not writer
                and kind.is_derived(writer)
                and not name.startswith(f"{{{XS}}}")
            ):
                other = known.get(name)
                if other is None or not other.is_complex() or not other.is_derived(reader):
                    self._doubt(f"the reader has no type {local_name(name)!r} derived from the same one", path)
                else:
                    inside = Comparison(self.writer, self.reader)
                    inside._seen = self._seen
                    inside._types(kind, other, path)
                    if inside.differences or inside.doubts:
                        self._doubt(f"the derived types {local_name(name)!r} differ", path)

    def _attributes(self, writer: Any, reader: Any, path: Path) -> None:
        ours = {tag: one for tag, one in writer.attributes.items() if tag is not None and one.use != "prohibited"}
        theirs = {tag: one for tag, one in reader.attributes.items() if tag is not None and one.use != "prohibited"}
        wild = reader.attributes.get(None)
        for tag, declaration in ours.items():
            if tag in theirs:
                self._attribute(tag, declaration, theirs[tag], path)
            elif wild is None or not wild.is_matching(tag):
                self._differ(
                    f"the reader has no attribute {local_name(tag)!r}", self._with_attribute(writer, tag, path)
                )
            elif wild.process_contents == "strict" or (
                wild.process_contents == "lax" and tag in reader.schema.maps.attributes
            ):
                self._doubt(f"the reader takes {local_name(tag)!r} by a wildcard only", path)
        self._required_attributes(ours, reader, path)
        self._any_attribute(writer.attributes.get(None), wild, ours, theirs, path)

    def _attribute(self, tag: str, writer: Any, reader: Any, path: Path) -> None:
        if reader.fixed is not None and writer.fixed != reader.fixed:
            self._values_but(tag, writer.type, reader.fixed, path)
        if writer.fixed is not None and fits(reader.type, writer.fixed) and writer.type.is_atomic():
            return
        self._values(writer.type, reader.type, path, tag)

    def _values_but(self, tag: str, kind: Any, fixed: str, path: Path) -> None:
        other = next((text for text in valuespaces.some(kind) if text != fixed), None)
        if other is None:
            self._doubt(f"the attribute {local_name(tag)!r} is always {fixed!r} for the reader", path)
        else:
            wish = Wish(path=path, attributes={tag: other})
            self._differ(f"the attribute {local_name(tag)!r} is always {fixed!r} for the reader", wish)

    def _required_attributes(self, ours: dict[str, Any], reader: Any, path: Path) -> None:
        for tag, declaration in reader.attributes.items():
            if tag is None or declaration.use != "required":
                continue
            if tag not in ours or ours[tag].use != "required":
                wish = Wish(path=path, attributes={tag: None})
                self._differ(f"the reader requires the attribute {local_name(tag)!r}", wish)

    def _any_attribute(self, writer: Any, reader: Any, ours: Any, theirs: Any, path: Path) -> None:
        if writer is None:
            return
        if reader is None or not inclusion.wider(reader, writer):
            for tag in strangers(writer):
                if writer.is_matching(tag) and (reader is None or not reader.is_matching(tag)):
                    wish = Wish(path=path, attributes={tag: "1"})
                    self._differ("the writer takes any attributes there", wish)
                    break
            self._doubt("the reader does not take all attributes that the writer takes", path)
        elif not inclusion.no_stricter(reader, writer) or set(theirs) - set(ours):
            self._doubt("the reader asks more of attributes that the writer takes freely", path)
        elif reader.process_contents != "skip" and _own_names(reader.schema.maps.attributes):
            self._doubt("attributes that wildcards take are not compared", path)

    @staticmethod
    def _with_attribute(writer: Any, tag: str, path: Path) -> Wish:
        declaration = writer.attributes[tag]
        value = declaration.fixed if declaration.fixed is not None else next(valuespaces.some(declaration.type), "")
        return Wish(path=path, attributes={tag: value})

    def _text(self, writer: Any, reader: Any, path: Path) -> None:
        if reader.has_simple_content():
            self._values(writer.content, reader.content, path)
        elif not (reader.mixed and nullable(self.reader.type(reader).model)):
            self._differ(f"<{local_name(path[-1])}> holds no text for the reader", Wish(path=path))
            self._doubt(f"<{local_name(path[-1])}> is text for the writer only", path)

    def _content(self, writer: Any, reader: Any, path: Path) -> None:
        name = local_name(path[-1])
        ours, theirs = self.writer.type(writer).model, self.reader.type(reader).model
        if reader.has_simple_content():
            self._differ(f"<{name}> is text for the reader", Wish(path=path))
            if ours != EMPTY or writer.mixed or not fits(reader.content, ""):
                self._doubt(f"<{name}> is text for the reader only", path)
            return
        if writer.mixed and not reader.mixed:
            self._differ(f"<{name}> may hold text between elements for the writer only", Wish(path=path, text="text"))
        if theirs == EMPTY and ours != EMPTY and not reader.mixed:
            self._doubt(f"<{name}> is empty for the reader", path)
        answer = inclusion.included(ours, theirs)
        if answer.word is not None:
            shown = ", ".join(local_name(leaf.tag) for leaf in answer.word) or "nothing"
            self._differ(f"the reader does not take {shown} in <{name}>", Wish(path=path, word=answer.word))
        elif not answer.holds:
            self._doubt(answer.reason, path)
        self._children(ours, theirs, path)

    def _children(self, ours: Model, theirs: Model, path: Path) -> None:
        readers = {leaf.tag: leaf for leaf in leaves(theirs) if isinstance(leaf, Leaf)}
        wilds = [leaf.rule for leaf in leaves(theirs) if isinstance(leaf, Wildcard)]
        compared: set[str] = set()
        for leaf in leaves(ours):
            if isinstance(leaf, Wildcard):
                self._wildcard(leaf.rule, wilds, set(readers), path)
                continue
            if leaf.tag in compared:
                continue
            compared.add(leaf.tag)
            below = (*path, leaf.tag)
            if leaf.tag in readers:
                self.element(leaf.declaration, readers[leaf.tag].declaration, below)
            for rule in wilds:
                if rule.is_matching(leaf.tag):
                    self._taken_by_wildcard(leaf, rule, below)

    def _taken_by_wildcard(self, leaf: Leaf, rule: Any, path: Path) -> None:
        if rule.process_contents == "skip":
            return
        known = rule.schema.maps.elements.get(leaf.tag)
        if known is not None:
            self.element(leaf.declaration, known, path)
        elif rule.process_contents == "strict":
            self._differ(f"the reader knows no element {local_name(leaf.tag)!r}", Wish(path=path))
        elif not self._free(leaf.declaration.type, rule.schema):
            self._doubt(f"what is inside {local_name(leaf.tag)!r} is checked against the reader's elements", path)

    def _wildcard(self, writer: Any, readers: list[Any], named: set[str], path: Path) -> None:
        wide = [rule for rule in readers if inclusion.wider(rule, writer) and inclusion.no_stricter(rule, writer)]
        if not wide:
            self._doubt("the reader does not take all elements that the writer takes there", path)
        elif all(rule.process_contents != "skip" for rule in wide) and not self._globals_agree(wide[0].schema, writer):
            self._doubt("elements that a wildcard takes are checked against the global ones, and these differ", path)
        if any(writer.is_matching(tag) for tag in named):
            self._doubt("an element that the writer takes freely has a type for the reader", path)

    def _free(self, writer: Any, reader: Any) -> bool:
        """Whether the reader has no declaration for anything inside a type of the writer."""
        known = reader.maps.elements
        for kind in reachable(writer, self.writer).values():
            if kind.name == ANY_TYPE or kind.attributes.get(None) is not None:
                return not _own_names(known)
            for leaf in leaves(self.writer.type(kind).model):
                if isinstance(leaf, Wildcard) or leaf.tag in known:
                    return not _own_names(known)
        return not _own_names(reader.maps.attributes)

    def _globals_agree(self, reader: Any, rule: Any) -> bool:
        """Whether every global element of the reader takes what the writer's element of that name takes."""
        ours = rule.schema.maps.elements
        inside = Comparison(self.writer, self.reader)
        inside._seen = self._seen
        for tag in _own_names(reader.maps.elements):
            if tag not in ours:
                return False
            inside.element(ours[tag], reader.maps.elements[tag], (tag,))
        return not inside.differences and not inside.doubts and not _own_names(reader.maps.attributes)

    def _differ(self, reason: str, wish: Wish) -> None:
        self.differences.append(Difference(reason, wish.path, wish))

    def _doubt(self, reason: str, path: Path) -> None:
        self.doubts.append(Doubt(reason, path))


def _constraints(declaration: Any) -> set[str]:
    found = set()
    for rule in getattr(declaration, "identities", None) or ():
        kind = type(rule).__name__.removeprefix("Xsd").lower()
        paths = [rule.selector.path, *(field.path for field in rule.fields)] if rule.selector is not None else []
        refer = getattr(getattr(rule, "refer", None), "name", "") or ""
        found.add(f"the {kind} {rule.local_name!r} over {' '.join(paths)} {refer}".strip())
    return found


def _alternatives(declaration: Any) -> tuple[str, ...]:
    return tuple(
        f"{alternative.path} {alternative.type.name}"
        for alternative in getattr(declaration, "alternatives", None) or ()
    )


def _asserted(kind: Any) -> set[str]:
    return {str(rule.path) for rule in getattr(kind, "assertions", None) or ()}


def _open_content(kind: Any) -> bool:
    opened = getattr(kind, "open_content", None)
    return opened is not None and getattr(opened, "mode", "none") != "none"


def _own_names(known: Any) -> list[str]:
    return [tag for tag in known if namespace_of(tag) not in (XS, XML, XSI, VERSIONING)]
