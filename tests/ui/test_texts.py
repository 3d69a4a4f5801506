"""Texts of the pages are in one module, and none of them is there for nothing."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOM = Path(__file__).parents[2] / "src" / "postroom" / "ui"


def test_every_text_is_used_and_none_stands_in_a_template() -> None:
    tree = ast.parse((ROOM / "texts.py").read_text())
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    sources = [path.read_text() for path in (*ROOM.rglob("*.py"), *ROOM.glob("templates/*.html"))]
    used = set(re.findall(r"\b(?:t|texts)\.(\w+)", "\n".join(sources))) | {"one", "many", "NOUNS"}
    assert names - used == set()


def test_templates_hold_no_words_of_their_own() -> None:
    for path in ROOM.glob("templates/*.html"):
        text = re.sub(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}|<svg.*?</svg>|<[^>]*>", " ", path.read_text(), flags=re.DOTALL)
        assert re.findall(r"[A-Za-z]{3,}", text) == [], path.name
