"""Findings of a comparison: differences that a document could show, and what no rule decides."""

from __future__ import annotations

from typing import Any

import msgspec

from postroom.formats.xsd.compat import value_spaces
from postroom.formats.xsd.samples.sample_documents import SampleRequest
from postroom.formats.xsd.xml_names import local_name

Path = tuple[str, ...]


class SchemaDifference(msgspec.Struct, frozen=True):
    """Something that the writer allows and the reader seems to refuse, with the request for a document to show it."""

    reason: str
    path: Path
    request: SampleRequest


class Undecided(msgspec.Struct, frozen=True):
    """Something that no rule decides."""

    reason: str
    path: Path


class ComparisonFindings:
    """Differences and undecided points, in the order they were found."""

    def __init__(self) -> None:
        self.differences: list[SchemaDifference] = []
        self.undecided: list[Undecided] = []

    def differ(self, reason: str, request: SampleRequest) -> None:
        """Note a difference."""
        self.differences.append(SchemaDifference(reason, request.path, request))

    def add_undecided(self, reason: str, path: Path) -> None:
        """Note something that no rule decides."""
        self.undecided.append(Undecided(reason, path))

    def values(self, writer: Any, reader: Any, path: Path, attribute: str = "") -> None:
        """Note what of one simple type another does not take."""
        answer = value_spaces.contained(writer, reader)
        if answer.holds:
            return
        name = f"@{local_name(attribute)}" if attribute else f"<{local_name(path[-1])}>"
        if answer.text is None:
            self.add_undecided(f"no rule says whether the reader's type takes all values of {name}", path)
            return
        request = (
            SampleRequest(path=path, attributes={attribute: answer.text})
            if attribute
            else SampleRequest(path=path, text=answer.text)
        )
        self.differ(f"the reader's type of {name} does not take {answer.text[:60]!r}", request)
