"""The code blocks of the texts themselves: found, mended where they have a printing slip, and made into documents."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from tests.catalog.printed import EXAMPLES, Tree, document_with, read_yaml

_FENCE = re.compile(r"^[\s-]*```")
_FIRST_LINE = re.compile(r'^(\{|"\w+"\s*:)')
_JSON = re.compile(r'^\s*[\[{"]', re.MULTILINE)
_COMMENT = re.compile(r"(^|\s)(#|//)\s.*$", re.MULTILINE)
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")


class Slip(msgspec.Struct, frozen=True):
    """A printing slip: the line of the text, what is printed there, and what is meant."""

    line: int
    printed: str
    mended: str


class Block(msgspec.Struct, frozen=True):
    """A code block: the line before it, what it is, the example of ours that it became, its slips, and its path."""

    line: int
    kind: str
    example: str = ""
    slips: tuple[Slip, ...] = ()
    path: str = ""


class Text(msgspec.Struct, frozen=True):
    """One of the five texts: its dialect, how its file is called, its title, and its blocks of JSON."""

    dialect: str
    file: str
    title: str
    blocks: tuple[Block, ...]

    def lines(self, folder: Path) -> list[str]:
        (path,) = folder.glob(f"{self.file}_*.txt")
        return path.read_text().split("\n")


TEXTS = msgspec.convert(read_yaml("printed_blocks.yaml"), tuple[Text, ...])


def blocks_in(lines: list[str]) -> dict[int, str]:
    """The blocks that have JSON in them, by the line before; in fences or, where a text has none, by their braces."""
    found = dict(_fenced(lines)) or dict(_bare(lines))
    return {line: block for line, block in found.items() if _JSON.search(block)}


def _fenced(lines: list[str]) -> Iterator[tuple[int, str]]:
    fences = [number for number, line in enumerate(lines, 1) if _FENCE.match(line)]
    for start, end in zip(fences[::2], fences[1::2], strict=True):
        yield start, "\n".join(lines[start : end - 1])


def _bare(lines: list[str]) -> Iterator[tuple[int, str]]:
    start = None
    for number, line in enumerate(lines):
        if start is None and _FIRST_LINE.match(line):
            start = number
        if start is not None and line == "}":
            yield start, "\n".join(lines[start : number + 1])
            start = None


def mended(lines: list[str], block: Block) -> list[str]:
    """The text with the slips of one block mended."""
    made = list(lines)
    for slip in block.slips:
        assert made[slip.line - 1].count(slip.printed) == 1, slip
        made[slip.line - 1] = made[slip.line - 1].replace(slip.printed, slip.mended)
    return made


def content_of(block: str) -> Any:
    """The JSON of a block, without what comes before it in a message of HTTP; ValueError where it is none.

    Comments stand for what is left out, so a comma before them is not a slip.
    """
    body = block[found.start() :] if (found := _JSON.search(block)) else ""
    has_comments = _COMMENT.search(body)
    plain = _COMMENT.sub("", body) if has_comments else body
    plain = _TRAILING_COMMA.sub(r"\1", plain) if has_comments else plain
    return json.loads(plain if plain.lstrip().startswith(("{", "[")) else "{" + plain + "}")


def document_in(block: Block, content: Tree, text: str) -> Tree:
    """The document around what a block says."""
    kind = block.kind
    if kind == "config":  # an endpoint whose `config` is printed without its name
        config = {name: content.pop(name) for name in ("protocol", "options") if name in content}
        kind, content = "endpoint", {"usage": "producer", **content, "config": config}
    elif kind == "members":  # of an endpoint
        kind, content = "endpoint", {"usage": "consumer", **content}
    return document_with(kind, EXAMPLES[block.example]["name"], content, text)
