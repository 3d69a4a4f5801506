"""An impact report as a comment in Markdown: the totals, a table of definitions, and the worst samples."""

from __future__ import annotations

from collections.abc import Iterator

from postroom.pipeline.impact.report import DefinitionImpact, ImpactReport
from postroom.pipeline.impact.sentences import judged_sentences, paper_sentences

MOST_ROWS = 30
MOST_SAMPLES = 3
MOST_SENTENCES = 20
_LONGEST = 1_000


def markdown(report: ImpactReport, complaints: list[str] | None = None) -> str:
    """The comment: what is against the policy first, where something is."""
    return "\n\n".join(_blocks(report, complaints or [])) + "\n"


def _blocks(report: ImpactReport, complaints: list[str]) -> Iterator[str]:
    yield "### Impact on real messages"
    if complaints:
        yield "**Against the policy:**\n\n" + "\n".join(f"- {_text(one)}" for one in complaints)
    yield "\n".join(f"- {_text(sentence)}" for sentence in judged_sentences(report))
    if report.definitions:
        yield "\n".join(_table(report.definitions))
    if report.tables:
        lines = (f"- `{one.table}` {one.kind.replace('_', ' ')} {_text(one.detail)}".rstrip() for one in report.tables)
        yield "Tables:\n\n" + "\n".join(lines)
    if report.producers:
        lines = (
            f"- {_code(one.origin or one.source)}: {one.dying:,} would die, {one.moving:,} would land elsewhere"
            for one in report.producers
        )
        yield "Sent by:\n\n" + "\n".join(lines)
    for death in [one for one in report.deaths if one.sample is not None][:MOST_SAMPLES]:
        if death.sample is not None:
            text = "\n".join(filter(None, (death.sample.explained, death.sample.record)))
            yield f"`{death.definition}`: {death.messages} would be {death.outcome}, for example:\n\n{_fenced(text)}"
    sentences = list(paper_sentences(report))
    if sentences:
        shown = [f"- {_text(sentence.strip())}" for sentence in sentences[:MOST_SENTENCES]]
        if len(sentences) > MOST_SENTENCES:
            shown.append(f"- and {len(sentences) - MOST_SENTENCES:,} more")
        yield "On paper:\n\n" + "\n".join(shown)


def _table(definitions: list[DefinitionImpact]) -> Iterator[str]:
    yield "| definition | change | landed | would die | would leave | would come | would revive | on paper |"
    yield "|---|---|--:|--:|--:|--:|--:|---|"
    for one in definitions[:MOST_ROWS]:
        paper = "breaking" if one.breaking_on_paper else "compatible" if one.changes else ""
        change = ", ".join(filter(None, (one.change, one.becomes)))
        numbers = f"{one.landed:,} | {one.dying} | {one.moving} | {one.arriving} | {one.reviving}"
        yield f"| `{one.definition}` | {change} | {numbers} | {paper} |"
    if len(definitions) > MOST_ROWS:
        yield f"| and {len(definitions) - MOST_ROWS:,} more | | | | | | | |"


def _text(text: str) -> str:
    """A text of anybody, which must not be read as Markdown or HTML."""
    marks = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]<>|#@"})
    return " ".join(text.split()).translate(marks)


def _code(text: str) -> str:
    return f"`{' '.join(text.split()).replace('`', chr(39))}`" if text else "nobody named"


def _fenced(text: str) -> str:
    """A text as it is; no line of it can end the block."""
    fence = "`" * 3
    while fence in text:
        fence += "`"
    return f"{fence}text\n{text[:_LONGEST]}\n{fence}"
