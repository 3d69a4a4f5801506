"""What a comparison finds: differences that a document could show, and doubts."""

from __future__ import annotations

from typing import Any

import msgspec

from postroom.formats.xsd.compat import value_spaces
from postroom.formats.xsd.samples.sample_documents import Wish
from postroom.formats.xsd.xml_names import local_name

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


class Findings:
    """Differences and doubts, in the order they were found."""

    def __init__(self) -> None:
        self.differences: list[Difference] = []
        self.doubts: list[Doubt] = []

    def differ(self, reason: str, wish: Wish) -> None:
        """Note a difference."""
        self.differences.append(Difference(reason, wish.path, wish))

    def doubt(self, reason: str, path: Path) -> None:
        """Note a doubt."""
        self.doubts.append(Doubt(reason, path))

    def values(self, writer: Any, reader: Any, path: Path, attribute: str = "") -> None:
        """Note what of one simple type another does not take."""
        answer = value_spaces.contained(writer, reader)
        if answer.holds:
            return
        name = f"@{local_name(attribute)}" if attribute else f"<{local_name(path[-1])}>"
        if answer.text is None:
            self.doubt(f"no rule says whether the reader's type takes all values of {name}", path)
            return
        wish = Wish(path=path, attributes={attribute: answer.text}) if attribute else Wish(path=path, text=answer.text)
        self.differ(f"the reader's type of {name} does not take {answer.text[:60]!r}", wish)
