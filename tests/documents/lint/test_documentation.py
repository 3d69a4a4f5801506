"""docs/lint.md lists every rule with its severity, in the order of the table."""

from __future__ import annotations

import re
from pathlib import Path

from postroom.documents.lint.rule_table import FILE_PROBLEMS, RULES

PAGE = Path(__file__).parents[3] / "docs" / "lint.md"
ROW = re.compile(r"^\| `(\w+)` \| (error|warning|info) \| \S.* \|$", re.MULTILINE)


def test_every_rule_is_documented_with_its_severity() -> None:
    known = [*FILE_PROBLEMS.items(), *((rule.code, rule.severity) for rule in RULES)]
    assert ROW.findall(PAGE.read_text()) == known
