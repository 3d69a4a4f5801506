"""An impact report in sentences: what was judged, what would become of it, and what the catalogs say on paper."""

from __future__ import annotations

from collections.abc import Iterator

from postroom.pipeline.impact.report import DefinitionImpact, ImpactReport
from postroom.pipeline.summary import counted


def judged_sentences(report: ImpactReport) -> Iterator[str]:
    """What was judged and what was not, and the totals."""
    if report.without_record:
        yield (
            f"Not judged: {counted(report.without_record, 'landed message')} that the change may concern, of which the "
            "lake keeps no record."
        )
    letters = counted(report.letters, "dead letter")
    yield (
        f"{counted(report.landed, 'landed message')}: {report.unaffected:,} that the change cannot concern, "
        f"{_drawn(report.judged, report.judgeable)}. {letters}: {_drawn(report.letters_judged, report.letters)}."
    )
    if report.is_sample:
        yield "Of a sample: numbers are intervals that hold with 95% confidence."
    yield (
        f"Would die: {report.dying}. Would land elsewhere: {report.moving}. "
        f"Dead letters that would land: {report.reviving}."
    )


def paper_sentences(report: ImpactReport) -> Iterator[str]:
    """What a comparison of the catalogs and lint say, beside what was seen of it."""
    for definition in report.definitions:
        for what in _on_paper(definition):
            yield f"{definition.definition} {what}"
        for change in definition.changes:
            if change.breaks:
                yield f"  {change.kind}: {change.place}: {change.reason}"
    for finding in report.findings:
        if finding.severity == "error":
            yield f"{finding.severity}: {finding.pointer}: {finding.sentence}"


def _on_paper(definition: DefinitionImpact) -> Iterator[str]:
    seen, judged = definition.dying.count, counted(definition.judged, "message")
    if definition.becomes == "ambiguous":
        yield "becomes ambiguous: messages of it fit another definition as well."
    elif definition.becomes == "unreachable":
        yield "becomes unreachable: no message of it would be taken for it any more."
    if definition.breaking_on_paper and not seen and definition.judged:
        yield f"is broken on paper, and that was seen in none of {judged}."
    elif definition.breaking_on_paper:
        yield f"is broken on paper, and {seen:,} of {judged} would die."
    elif definition.changes and seen:
        yield f"is compatible on paper, yet {seen:,} of {judged} would die."


def _drawn(judged: int, among: int) -> str:
    return f"{judged:,} judged" if judged == among else f"{judged:,} of {among:,} judged"
