"""Scenarios of Gherkin files: as much of the language as suites about HTTP interfaces use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

SECTION = re.compile(r"(Feature|Background|Scenario Outline|Scenario|Examples):\s*(.*)")
STEP = re.compile(r"(?:Given|When|Then|And|But|\*) (.*)")
FENCES = ('"""', "```")

Table = list[list[str]]


class Step(msgspec.Struct):
    """A sentence, and the text below it."""

    sentence: str
    text: str | None = None

    def filled(self, values: dict[str, str]) -> Step:
        """The step for a row of examples."""

        def fill(text: str) -> str:
            for name, value in values.items():
                text = text.replace(f"<{name}>", value)
            return text

        return Step(fill(self.sentence), None if self.text is None else fill(self.text))


class Scenario(msgspec.Struct, frozen=True):
    """A scenario with the steps of its background before its own; one of an outline has the row in its title."""

    feature: str
    title: str
    tags: frozenset[str]
    steps: list[Step]


class _Section(msgspec.Struct):
    kind: str
    title: str
    tags: frozenset[str]
    steps: list[Step] = []
    rows: Table = []


def read_scenarios(folder: Path) -> list[Scenario]:
    """All scenarios of the files in a folder and below."""
    paths = sorted(folder.rglob("*.feature"))
    return [one for path in paths for one in _scenarios(path.relative_to(folder).as_posix(), path.read_text("utf-8"))]


def _scenarios(feature: str, source: str) -> Iterator[Scenario]:
    common: frozenset[str] = frozenset()
    background: list[Step] = []
    outline: _Section | None = None
    for section in _sections(source):
        if section.kind == "Feature":
            common = section.tags
        elif section.kind == "Background":
            background = section.steps
        elif section.kind == "Scenario Outline":
            outline = section
        elif section.kind == "Scenario":
            yield Scenario(feature, section.title, common | section.tags, [*background, *section.steps])
        elif outline is not None:
            names, *rows = section.rows
            for row in rows:
                steps = [step.filled(dict(zip(names, row, strict=True))) for step in outline.steps]
                tags = common | outline.tags | section.tags
                yield Scenario(feature, f"{outline.title} ({', '.join(row)})", tags, [*background, *steps])


def _sections(source: str) -> Iterator[_Section]:
    section = _Section("", "", frozenset())
    tags: list[str] = []
    lines = iter(source.splitlines())
    for line in lines:
        words = line.strip()
        if words.startswith("@"):
            tags += words.split()
        elif header := SECTION.match(words):
            yield section
            section = _Section(header[1], header[2], frozenset(tags))
            tags = []
        elif step := STEP.match(words):
            section.steps.append(Step(step[1].strip()))
        elif words.startswith("|"):
            section.rows.append([cell.strip() for cell in words.strip("|").split("|")])
        elif words.startswith(FENCES) and section.steps:
            section.steps[-1].text = _text(lines, words[:3], indent=line.index(words[:3]))
    yield section


def _text(lines: Iterator[str], fence: str, indent: int) -> str:
    """The text up to the closing fence, without the indentation that the opening one has."""
    text = []
    for line in lines:
        if line.strip() == fence:
            break
        text.append(line[indent:] if not line[:indent].strip() else line.lstrip())
    return "\n".join(text)
