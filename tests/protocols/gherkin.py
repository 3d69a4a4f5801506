"""Reads the part of Gherkin that the CloudEvents conformance features use: outlines, texts and tables."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_WORDS = ("Given ", "When ", "Then ", "And ")


@dataclass
class Step:
    """What a line asks for, with the text or the table under it."""

    words: str
    text: str = ""
    table: list[list[str]] = field(default_factory=list)

    def filled(self, row: dict[str, str]) -> Step:
        table = [[_fill(cell, row) for cell in cells] for cells in self.table]
        return Step(_fill(self.words, row), _fill(self.text, row), table)

    @property
    def pairs(self) -> dict[str, str]:
        """The table without its head, as a map."""
        return {row[0]: row[1] for row in self.table[1:]}


@dataclass
class Scenario:
    name: str
    steps: list[Step]


def read_feature(path: Path) -> list[Scenario]:
    """All scenarios of a file, outlines once per example."""
    blocks: list[tuple[str, list[Step]]] = []
    lines = iter(path.read_text().splitlines())
    for line in lines:
        words = line.strip()
        if words.startswith(("Scenario", "Background")):
            blocks.append((words.partition(": ")[2], []))
        elif words.startswith((*_WORDS, "Examples:")) and blocks:
            blocks[-1][1].append(Step(words))
        elif words == '"""':
            blocks[-1][1][-1].text = _text(lines)
        elif words.startswith("|"):
            blocks[-1][1][-1].table.append([cell.strip() for cell in words.strip("|").split("|")])
    return [scenario for name, steps in blocks if name for scenario in _scenarios(name, steps)]


def _text(lines: Iterator[str]) -> str:
    held = []
    for line in lines:
        if line.strip() == '"""':
            break
        held.append(line)
    return textwrap.dedent("\n".join(held))


def _scenarios(name: str, steps: list[Step]) -> Iterator[Scenario]:
    if not steps or steps[-1].words != "Examples:":
        yield Scenario(name, steps)
        return
    head, *rows = steps[-1].table
    for row in rows:
        values = dict(zip(head, row, strict=True))
        yield Scenario(_fill(name, values), [step.filled(values) for step in steps[:-1]])


def _fill(text: str, row: dict[str, str]) -> str:
    for name, value in row.items():
        text = text.replace(f"<{name}>", value)
    return text
