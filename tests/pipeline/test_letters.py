from __future__ import annotations

from postroom.pipeline.lake import Lake
from postroom.pipeline.letters import summarise_letters


def test_letters_are_counted_by_outcome_and_reason(sorted_lake: Lake) -> None:
    groups = summarise_letters(sorted_lake)
    assert sum(group.letters for group in groups) == 5
    assert ("invalid", "template_mismatch", 1) in [(g.outcome, g.code, g.letters) for g in groups]


def test_each_group_has_a_sample_with_its_reasons_and_place(sorted_lake: Lake) -> None:
    boat = next(group for group in summarise_letters(sorted_lake) if group.code == "template_mismatch")
    assert b"/boats/9" in boat.record
    assert boat.match.message == "/messagegroups/fleet/messages/vehicle.position"
    assert boat.match.reasons[0].expected == "/vehicles/{vin}"
    assert boat.source.endswith("mixed.jsonl")


def test_a_lake_without_letters_has_no_groups(lake: Lake) -> None:
    assert summarise_letters(lake) == []
