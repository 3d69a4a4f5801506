"""A policy says how much of what a change may do, for which definitions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from postroom.documents.diff.change import PRODUCERS, CatalogChange
from postroom.errors import DocumentBroken, DocumentRefused, FileMissing
from postroom.pipeline.impact.policy import ImpactPolicy, ImpactRule, complaints, read_policy
from postroom.pipeline.impact.report import DefinitionImpact, Estimate, ForecastTable, ImpactReport

NONE = Estimate(0, 0, 0)
OVEN = "/messagegroups/bakery.ovens/messages/oven.temperature"


def impact_of(*tables: ForecastTable, **given: Any) -> ImpactReport:
    """A report about one definition with a thousand messages."""
    numbers = dict.fromkeys(("same", "dying", "moving", "arriving", "reviving"), NONE)
    counts: dict[str, Any] = {"landed": 1000, "unaffected": 0, "without_record": 0, "judged": 1000}
    one = DefinitionImpact(**{"definition": OVEN, "change": "changed", **counts, **numbers, **given})
    of_report: dict[str, Any] = {**counts, "judgeable": 1000, "letters": 0, "letters_judged": 0}
    lists = dict.fromkeys(("deaths", "moves", "revivals", "producers", "changes", "findings"), ())
    some: dict[str, Any] = {name: list(found) for name, found in lists.items()}
    totals = dict.fromkeys(("same", "dying", "moving", "reviving"), NONE)
    return ImpactReport(
        lake="lake",
        catalog="c",
        against="",
        since=None,
        definitions=[one],
        tables=list(tables),
        **of_report,
        **totals,
        **some,
    )


FIVE, SURELY_FIVE = Estimate(5, 5, 5), Estimate(1, 5, 40)
BROKEN = [CatalogChange("/x", "changed", PRODUCERS, "…")]


@pytest.mark.parametrize(
    ("policy", "given", "is_against"),
    [
        (ImpactPolicy(), {}, False),
        (ImpactPolicy(), {"dying": FIVE}, True),
        (ImpactPolicy(), {"moving": FIVE}, True),
        (ImpactPolicy(dying=5), {"dying": FIVE}, False),
        (ImpactPolicy(dying=4), {"dying": FIVE}, True),
        (ImpactPolicy(dying=5), {"dying": SURELY_FIVE}, False),
        (ImpactPolicy(dying="0.5%"), {"dying": FIVE}, False),
        (ImpactPolicy(dying="0.4%"), {"dying": FIVE}, True),
        (ImpactPolicy(), {"without_record": 900}, False),
        (ImpactPolicy(without_record="50%"), {"without_record": 900}, True),
        (ImpactPolicy(), {"becomes": "ambiguous"}, False),
        (ImpactPolicy(ambiguous=False), {"becomes": "ambiguous"}, True),
        (ImpactPolicy(ambiguous=False), {"becomes": "unreachable"}, False),
        (ImpactPolicy(unreachable=False), {"becomes": "unreachable"}, True),
        (ImpactPolicy(), {"changes": BROKEN}, False),
        (ImpactPolicy(breaking_on_paper=False), {"changes": BROKEN}, True),
        (ImpactPolicy(deprecated="exempt"), {"dying": FIVE, "deprecated": True}, False),
        (ImpactPolicy(deprecated="exempt"), {"dying": FIVE}, True),
        (ImpactPolicy(rules=[ImpactRule(definitions="/messagegroups/bakery.*", dying="1%")]), {"dying": FIVE}, False),
        (ImpactPolicy(rules=[ImpactRule(definitions="/messagegroups/shop.*", dying="1%")]), {"dying": FIVE}, True),
        (ImpactPolicy(dying=9, rules=[ImpactRule(definitions="*", moving=1)]), {"dying": FIVE}, False),
        (ImpactPolicy(dying=9, rules=[ImpactRule(definitions="*", dying=0)]), {"dying": FIVE}, True),
    ],
)
def test_what_is_against_a_policy(policy: ImpactPolicy, given: dict[str, Any], is_against: bool) -> None:
    found = complaints(impact_of(**given), policy)
    assert bool(found) is is_against
    assert all(OVEN in sentence for sentence in found)


def test_tables_with_a_successor_can_be_refused() -> None:
    report = impact_of(ForecastTable("bakery.ovens/oven.temperature@2", OVEN, "replaced", "data.celsius was double"))
    assert complaints(report, ImpactPolicy()) == []
    (sentence,) = complaints(report, ImpactPolicy(replaced_tables=False))
    assert sentence.endswith("in the table bakery.ovens/oven.temperature@2: data.celsius was double.")


def test_a_policy_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "impact.toml"
    path.write_text('dying = "0.1%"\ndeprecated = "exempt"\n[[rules]]\ndefinitions = "/messagegroups/a/*"\ndying = 7\n')
    rule = ImpactRule(definitions="/messagegroups/a/*", dying=7)
    assert read_policy(path) == ImpactPolicy(dying="0.1%", deprecated="exempt", rules=[rule])


@pytest.mark.parametrize(
    ("text", "error", "sentence"),
    [
        (None, FileMissing, "no such file"),
        ("dying", DocumentBroken, "not valid TOML"),
        ("dieing = 3", DocumentRefused, "unknown field `dieing`"),
        ('dying = "few"', DocumentRefused, "no limit"),
        ("dying = 1.5", DocumentRefused, "dying"),
        ("[[rules]]\ndying = 1", DocumentRefused, "definitions"),
        ('[[rules]]\ndefinitions = "*"\nmoving = "-1%"', DocumentRefused, "no limit"),
    ],
)
def test_a_file_that_is_no_policy_is_refused(
    tmp_path: Path, text: str | None, error: type[Exception], sentence: str
) -> None:
    path = tmp_path / "impact.toml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(error, match=sentence):
        read_policy(path)
