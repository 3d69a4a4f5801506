"""Comparing two schemas: walks both from the root and collects what tells them apart and what no rule decides."""

from __future__ import annotations

from typing import Any

from postroom.formats.work_budget import spend
from postroom.formats.xsd.compat import content_inclusion
from postroom.formats.xsd.compat.attributes import compare_attributes, compare_required, with_attribute
from postroom.formats.xsd.compat.differences import ComparisonFindings, Path
from postroom.formats.xsd.constraints import alternatives, asserted, constraints, open_content, own_names
from postroom.formats.xsd.content_model import EMPTY, ElementWildcard, Leaf, Model, leaves, nullable
from postroom.formats.xsd.element_codec import Plans
from postroom.formats.xsd.samples.sample_documents import SampleRequest, reachable
from postroom.formats.xsd.samples.sample_strings import fits
from postroom.formats.xsd.xml_names import ANY_TYPE, XS, local_name

MOST_PAIRS = 2_000


class SchemaComparison(ComparisonFindings):
    """The walk over two schemas."""

    def __init__(self, writer: Plans, reader: Plans) -> None:
        super().__init__()
        self.writer = writer
        self.reader = reader
        self._seen: set[tuple[int, int]] = set()

    def element(self, writer: Any, reader: Any, path: Path) -> None:
        """Compare two declarations of an element."""
        name = local_name(path[-1])
        if writer.nillable and not reader.nillable:
            self.differ(f"<{name}> may be nil for the writer only", SampleRequest(path=path, nil=True))
        if reader.fixed is not None and writer.fixed != reader.fixed:
            self.differ(f"<{name}> is always {reader.fixed!r} for the reader", SampleRequest(path=path))
        for side in constraints(reader) - constraints(writer):
            self.add_undecided(f"the reader demands {side}", path)
        if alternatives(writer) != alternatives(reader):
            self.add_undecided(f"the type of <{name}> depends on its attributes", path)
        self._types(writer.type, reader.type, path)

    def _types(self, writer: Any, reader: Any, path: Path) -> None:
        pair = (id(writer), id(reader))
        if pair in self._seen:
            return
        if len(self._seen) > MOST_PAIRS:
            self.add_undecided("the schemas have too many types to be compared", path)
            return
        spend()
        self._seen.add(pair)
        if reader.name == ANY_TYPE:
            if not self._free(writer, reader.schema):
                self.add_undecided("the reader takes any content there, checked against its own elements", path)
        elif writer.name == ANY_TYPE:
            self.differ("the writer takes any content there", SampleRequest(path=path, text="some text"))
            self.add_undecided("the writer takes any content there", path)
        elif writer.is_simple() and reader.is_simple():
            self.values(writer, reader, path)
        elif writer.is_simple():
            self._simple_as_complex(writer, reader, path)
        else:
            self._complex(writer, reader, path)

    def _simple_as_complex(self, writer: Any, reader: Any, path: Path) -> None:
        compare_required(self, {}, reader, path)
        if reader.has_simple_content():
            self.values(writer, reader.content, path)
        elif reader.mixed and nullable(self.reader.type(reader).model):
            return
        else:
            self.differ(
                f"<{local_name(path[-1])}> is text for the writer and not for the reader", SampleRequest(path=path)
            )

    def _complex(self, writer: Any, reader: Any, path: Path) -> None:
        if reader.is_simple():
            self._complex_as_simple(writer, reader, path)
            return
        self._derived(writer, reader, path)
        compare_attributes(self, writer, reader, path)
        if asserted(reader) - asserted(writer):
            self.add_undecided("the reader asserts more than types can say", path)
        if open_content(writer) or open_content(reader):
            self.add_undecided("open content is not compared", path)
        if writer.has_simple_content():
            self._text(writer, reader, path)
        else:
            self._content(writer, reader, path)

    def _complex_as_simple(self, writer: Any, reader: Any, path: Path) -> None:
        name = local_name(path[-1])
        for tag in writer.attributes:
            if tag is not None:
                self.differ(f"<{name}> has no attributes for the reader", with_attribute(writer, tag, path))
        if writer.attributes.get(None) is not None:
            self.add_undecided(f"<{name}> has no attributes for the reader", path)
        if writer.has_simple_content():
            self.values(writer.content, reader, path)
        else:
            self.differ(f"<{name}> is text for the reader", SampleRequest(path=path))
            self.add_undecided(f"<{name}> is text for the reader only", path)

    def _derived(self, writer: Any, reader: Any, path: Path) -> None:
        """Payloads name derived types: the reader needs each of them, by the same name."""
        if id(writer) not in self.writer.bases and not writer.abstract:
            if reader.abstract:
                self.differ(
                    f"the type of <{local_name(path[-1])}> is abstract for the reader", SampleRequest(path=path)
                )
            return
        known = reader.schema.maps.types
        for name, xsd_type in writer.schema.maps.types.items():
            spend()
            if (
                xsd_type.is_complex()
                and xsd_type is not writer
                and xsd_type.is_derived(writer)
                and not name.startswith(f"{{{XS}}}")
            ):
                other = known.get(name)
                if other is None or not other.is_complex() or not other.is_derived(reader):
                    self.add_undecided(f"the reader has no type {local_name(name)!r} derived from the same one", path)
                else:
                    inside = SchemaComparison(self.writer, self.reader)
                    inside._seen = self._seen
                    inside._types(xsd_type, other, path)
                    if inside.differences or inside.undecided:
                        self.add_undecided(f"the derived types {local_name(name)!r} differ", path)

    def _text(self, writer: Any, reader: Any, path: Path) -> None:
        if reader.has_simple_content():
            self.values(writer.content, reader.content, path)
        elif not (reader.mixed and nullable(self.reader.type(reader).model)):
            self.differ(f"<{local_name(path[-1])}> holds no text for the reader", SampleRequest(path=path))
            self.add_undecided(f"<{local_name(path[-1])}> is text for the writer only", path)

    def _content(self, writer: Any, reader: Any, path: Path) -> None:
        name = local_name(path[-1])
        ours, theirs = self.writer.type(writer).model, self.reader.type(reader).model
        if reader.has_simple_content():
            self.differ(f"<{name}> is text for the reader", SampleRequest(path=path))
            if ours != EMPTY or writer.mixed or not fits(reader.content, ""):
                self.add_undecided(f"<{name}> is text for the reader only", path)
            return
        if writer.mixed and not reader.mixed:
            self.differ(
                f"<{name}> may hold text between elements for the writer only", SampleRequest(path=path, text="text")
            )
        if theirs == EMPTY and ours != EMPTY and not reader.mixed:
            self.add_undecided(f"<{name}> is empty for the reader", path)
        answer = content_inclusion.included(ours, theirs)
        if answer.word is not None:
            shown = ", ".join(local_name(leaf.tag) for leaf in answer.word) or "nothing"
            self.differ(f"the reader does not take {shown} in <{name}>", SampleRequest(path=path, word=answer.word))
        elif not answer.holds:
            self.add_undecided(answer.reason, path)
        self._children(ours, theirs, path)

    def _children(self, ours: Model, theirs: Model, path: Path) -> None:
        readers = {leaf.tag: leaf for leaf in leaves(theirs) if isinstance(leaf, Leaf)}
        wilds = [leaf.rule for leaf in leaves(theirs) if isinstance(leaf, ElementWildcard)]
        compared: set[str] = set()
        for leaf in leaves(ours):
            if isinstance(leaf, ElementWildcard):
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
            self.differ(f"the reader knows no element {local_name(leaf.tag)!r}", SampleRequest(path=path))
        elif not self._free(leaf.declaration.type, rule.schema):
            self.add_undecided(
                f"what is inside {local_name(leaf.tag)!r} is checked against the reader's elements", path
            )

    def _wildcard(self, writer: Any, readers: list[Any], named: set[str], path: Path) -> None:
        wide = [
            rule
            for rule in readers
            if content_inclusion.wider(rule, writer) and content_inclusion.no_stricter(rule, writer)
        ]
        if not wide:
            self.add_undecided("the reader does not take all elements that the writer takes there", path)
        elif all(rule.process_contents != "skip" for rule in wide) and not self._globals_agree(wide[0].schema, writer):
            self.add_undecided(
                "elements that a wildcard takes are checked against the global ones, and these differ", path
            )
        if any(writer.is_matching(tag) for tag in named):
            self.add_undecided("an element that the writer takes freely has a type for the reader", path)

    def _free(self, writer: Any, reader: Any) -> bool:
        """Whether the reader has no declaration for anything inside a type of the writer."""
        known = reader.maps.elements
        for xsd_type in reachable(writer, self.writer).values():
            if xsd_type.name == ANY_TYPE or xsd_type.attributes.get(None) is not None:
                return not own_names(known)
            for leaf in leaves(self.writer.type(xsd_type).model):
                if isinstance(leaf, ElementWildcard) or leaf.tag in known:
                    return not own_names(known)
        return not own_names(reader.maps.attributes)

    def _globals_agree(self, reader: Any, rule: Any) -> bool:
        """Whether every global element of the reader takes what the writer's element of that name takes."""
        ours = rule.schema.maps.elements
        inside = SchemaComparison(self.writer, self.reader)
        inside._seen = self._seen
        for tag in own_names(reader.maps.elements):
            if tag not in ours:
                return False
            inside.element(ours[tag], reader.maps.elements[tag], (tag,))
        return not inside.differences and not inside.undecided and not own_names(reader.maps.attributes)
