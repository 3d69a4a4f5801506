"""An impact report as findings beside the lines of the catalog that they concern."""

from __future__ import annotations

from collections.abc import Iterator

from postroom.catalog.lint import locate_in_source
from postroom.documents.lint.findings import Finding, Severity
from postroom.pipeline.impact.affected import place_of
from postroom.pipeline.impact.report import DefinitionImpact, ImpactReport
from postroom.settings import Settings

CODES = {
    "messages_would_die": "Messages that landed would be dead letters by the new catalog.",
    "messages_would_move": "Messages that landed would land in another definition by the new catalog.",
    "definition_ambiguous": "Messages of the definition fit another one as well by the new catalog.",
    "definition_unreachable": "No message that landed in the definition would be taken for it by the new catalog.",
}


def impact_findings(report: ImpactReport, source: str, settings: Settings, complaints: list[str]) -> list[Finding]:
    """What would become of messages, at the definitions that they landed in; against the policy, it is an error."""
    places = {one.definition: place_of(one.definition) for one in report.definitions}
    located = locate_in_source(source, settings, places.values())
    found = list(report.findings)
    for one in report.definitions:
        file, pointer = located[places[one.definition]]
        is_refused = any(complaint.startswith(f"{one.definition}: ") for complaint in complaints)
        severity: Severity = "error" if is_refused else "warning"
        for code, sentence in _sentences(one):
            found.append(Finding(file=file, pointer=pointer, severity=severity, code=code, sentence=sentence))
    return sorted(found, key=lambda finding: (finding.file, finding.pointer, finding.code))


def _sentences(one: DefinitionImpact) -> Iterator[tuple[str, str]]:
    if one.dying.count:
        yield "messages_would_die", f"{one.dying} of {one.landed:,} messages that landed would be dead letters."
    if one.moving.count:
        yield "messages_would_move", f"{one.moving} of {one.landed:,} messages that landed would land elsewhere."
    if one.becomes == "ambiguous":
        yield "definition_ambiguous", "messages of it fit another definition as well."
    if one.becomes == "unreachable":
        yield "definition_unreachable", "no message of it would be taken for it any more."
