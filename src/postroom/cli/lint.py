"""`postroom lint`: what is wrong with a catalog."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

import click

from postroom.cli.command import key_option, postroom_command, settings_from
from postroom.cli.output import print_json, progress
from postroom.errors import PostroomError

if TYPE_CHECKING:
    from postroom.documents.lint.findings import Finding

SEVERITIES = ("error", "warning", "info")
SHOWN_OF_A_KIND = 5
# What a catalog of a stranger says must not move the cursor.
_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0))}


@postroom_command(example="postroom lint demo/catalog")
@click.argument("sources", nargs=-1, required=True, metavar="SRC…")
@click.option("--json", "as_json", is_flag=True, help="One JSON array of all findings instead of a list.")
@click.option("--sarif", "as_sarif", is_flag=True, help="SARIF 2.1.0, for code hosts and editors, instead of a list.")
@click.option("--strict", is_flag=True, help="Exit with 1 for warnings as well.")
@key_option
def command(sources: tuple[str, ...], as_json: bool, as_sarif: bool, strict: bool) -> int:
    """Say what is wrong with catalogs: the place, how bad it is, a code, what to do.

    SRC is a file, a folder, http(s)://… or sqlite:///path.db. The exit code is 1 when there are errors.
    """
    from postroom.catalog.lint import lint_source

    settings = settings_from()
    findings: list[Finding] = []
    unreadable = 0
    for source in sources:
        try:
            with progress(f"Looking at {source}"):
                findings += lint_source(source, settings)
        except PostroomError as error:
            # One that cannot be read must not hide what is wrong with the others.
            click.echo(f"postroom: {error}", err=True)
            unreadable = max(unreadable, error.exit_code)
    if as_sarif:
        from postroom.documents.lint.sarif import sarif

        print_json(sarif(findings))
    elif as_json:
        print_json(findings)
    elif findings or not unreadable:
        for line in _lines(findings):
            click.echo(line.translate(_CONTROLS))
    bad = ("error", "warning") if strict else ("error",)
    return unreadable or int(any(finding.severity in bad for finding in findings))


def _lines(findings: list[Finding]) -> Iterator[str]:
    for file, of_file in groupby(findings, key=lambda finding: finding.file):
        yield file
        shown: Counter[str] = Counter()
        listed = list(of_file)
        for finding in listed:
            shown[finding.code] += 1
            if shown[finding.code] <= SHOWN_OF_A_KIND:
                yield f"  {finding.severity:<8} {finding.pointer or '/'}"
                yield f"           {finding.code}: {' '.join(filter(None, (finding.sentence, finding.remedy)))}"
        for code, count in shown.items():
            if count > SHOWN_OF_A_KIND:
                yield f"           and {count - SHOWN_OF_A_KIND:,} more {code} (--json lists all)"
        yield ""
    yield _summary(findings)


def _summary(findings: list[Finding]) -> str:
    if not findings:
        return "Nothing to say."
    errors, warnings, notes = (sum(finding.severity == one for finding in findings) for one in SEVERITIES)
    files = len({finding.file for finding in findings})
    return (
        f"{_count(errors, 'error')}, {_count(warnings, 'warning')} and {_count(notes, 'note')}"
        f" in {_count(files, 'file')}."
    )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}" if number else f"no {noun}s"
