"""Comparison of the attributes of two types."""

from __future__ import annotations

from typing import Any

from postroom.formats.xsd.compat import content_inclusion, value_spaces
from postroom.formats.xsd.compat.differences import ComparisonFindings, Path
from postroom.formats.xsd.constraints import own_names
from postroom.formats.xsd.content_model_builder import undeclared_names
from postroom.formats.xsd.samples.sample_documents import SampleRequest
from postroom.formats.xsd.samples.sample_strings import fits
from postroom.formats.xsd.xml_names import local_name


def compare_attributes(findings: ComparisonFindings, writer: Any, reader: Any, path: Path) -> None:
    """Note how the attributes of two types differ."""
    ours = {tag: one for tag, one in writer.attributes.items() if tag is not None and one.use != "prohibited"}
    theirs = {tag: one for tag, one in reader.attributes.items() if tag is not None and one.use != "prohibited"}
    wild = reader.attributes.get(None)
    for tag, declaration in ours.items():
        if tag in theirs:
            _attribute(findings, tag, declaration, theirs[tag], path)
        elif wild is None or not wild.is_matching(tag):
            findings.differ(f"the reader has no attribute {local_name(tag)!r}", with_attribute(writer, tag, path))
        elif wild.process_contents == "strict" or (
            wild.process_contents == "lax" and tag in reader.schema.maps.attributes
        ):
            findings.add_undecided(f"the reader takes {local_name(tag)!r} by a wildcard only", path)
    compare_required(findings, ours, reader, path)
    _any_attribute(findings, writer.attributes.get(None), wild, ours, theirs, path)


def _attribute(findings: ComparisonFindings, tag: str, writer: Any, reader: Any, path: Path) -> None:
    if reader.fixed is not None and writer.fixed != reader.fixed:
        _values_but(findings, tag, writer.type, reader.fixed, path)
    if writer.fixed is not None and fits(reader.type, writer.fixed) and writer.type.is_atomic():
        return
    findings.values(writer.type, reader.type, path, tag)


def _values_but(findings: ComparisonFindings, tag: str, xsd_type: Any, fixed: str, path: Path) -> None:
    other = next((text for text in value_spaces.some(xsd_type) if text != fixed), None)
    if other is None:
        findings.add_undecided(f"the attribute {local_name(tag)!r} is always {fixed!r} for the reader", path)
    else:
        request = SampleRequest(path=path, attributes={tag: other})
        findings.differ(f"the attribute {local_name(tag)!r} is always {fixed!r} for the reader", request)


def compare_required(findings: ComparisonFindings, ours: dict[str, Any], reader: Any, path: Path) -> None:
    """Note the attributes that only the reader requires."""
    for tag, declaration in reader.attributes.items():
        if tag is None or declaration.use != "required":
            continue
        if tag not in ours or ours[tag].use != "required":
            request = SampleRequest(path=path, attributes={tag: None})
            findings.differ(f"the reader requires the attribute {local_name(tag)!r}", request)


def _any_attribute(findings: ComparisonFindings, writer: Any, reader: Any, ours: Any, theirs: Any, path: Path) -> None:
    if writer is None:
        return
    if reader is None or not content_inclusion.wider(reader, writer):
        for tag in undeclared_names(writer):
            if writer.is_matching(tag) and (reader is None or not reader.is_matching(tag)):
                request = SampleRequest(path=path, attributes={tag: "1"})
                findings.differ("the writer takes any attributes there", request)
                break
        findings.add_undecided("the reader does not take all attributes that the writer takes", path)
    elif not content_inclusion.no_stricter(reader, writer) or set(theirs) - set(ours):
        findings.add_undecided("the reader asks more of attributes that the writer takes freely", path)
    elif reader.process_contents != "skip" and own_names(reader.schema.maps.attributes):
        findings.add_undecided("attributes that wildcards take are not compared", path)


def with_attribute(writer: Any, tag: str, path: Path) -> SampleRequest:
    """The request for a document with an attribute of the writer."""
    declaration = writer.attributes[tag]
    value = declaration.fixed if declaration.fixed is not None else next(value_spaces.some(declaration.type), "")
    return SampleRequest(path=path, attributes={tag: value})
