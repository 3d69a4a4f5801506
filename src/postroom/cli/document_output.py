"""Output of documents: JSON or YAML, to a file or to stdout, and the report of what was read differently or is lost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
import msgspec

from postroom.errors import BadFlag, FolderUnwritable

if TYPE_CHECKING:
    from postroom.documents.dialects.dialect import Loss, ReadNote

SHOWN_PER_REASON = 3
SHOWN_NOTES = 5


def document_text(document: Any, form: str) -> str:
    """A document as text."""
    if form == "yaml":
        return _yaml_text(document)
    try:
        return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"
    except (
        OverflowError,
        UnicodeEncodeError,
    ):  # large numbers and lone surrogates need the escapes of JSON
        import json

        return json.dumps(document, indent=2) + "\n"


def _yaml_text(document: Any) -> str:
    import yaml

    base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

    class Dumper(base):  # type: ignore[misc]  # the C dumper has no type stubs
        """Writes everything out: an anchor would only say that two places once were one."""

        def ignore_aliases(self, data: Any) -> bool:
            return True

    text: str = yaml.dump(document, Dumper=Dumper, allow_unicode=True, sort_keys=False, width=120)
    return text


def form_of(form: str | None, output: str | None) -> Literal["json", "yaml"]:
    """The form to write: the one asked for, else that of the file's name, else JSON."""
    is_yaml = form == "yaml" or (form is None and output is not None and output.endswith((".yaml", ".yml")))
    return "yaml" if is_yaml else "json"


def write_text(text: str, output: str | None) -> None:
    """Write to a file, all of it or nothing, or to stdout."""
    if output is None:
        click.echo(text, nl=False)
        return
    path = Path(output)
    try:
        if path.exists() and not path.is_file():  # a pipe or a device is written to, not replaced
            path.write_text(text, encoding="utf-8")
        else:
            _replace(path, text)
    except OSError as error:
        raise FolderUnwritable(f"cannot be written: {error.strerror}.", place=output) from None


def _replace(path: Path, text: str) -> None:
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def check_dialect(name: str) -> None:
    """Raise BadFlag for a dialect that nobody knows."""
    from postroom.documents.dialects.dialect_table import DIALECTS

    if name not in DIALECTS:
        remedy = f"It writes {', '.join(DIALECTS)}."
        raise BadFlag(f"this version does not write {name}.", place="--dialect", remedy=remedy)


def report_notes(notes: tuple[ReadNote, ...]) -> None:
    """On stderr, for people: what a reader understood differently from how it is written."""
    for note in notes[:SHOWN_NOTES]:
        click.echo(f"note: {note.place}: {note.sentence}", err=True)
    if len(notes) > SHOWN_NOTES:
        click.echo(f"note: and {len(notes) - SHOWN_NOTES:,} more (--json lists all)", err=True)


def report_losses(lost: tuple[Loss, ...], dialect: str) -> None:
    """On stderr, for people: what the dialect cannot carry, by reason."""
    _report(lost, f"{dialect} cannot carry {_members(lost)}:")


def report_not_loaded(lost: tuple[Loss, ...], source: str) -> None:
    """On stderr, for people: what of a source is not loaded, by reason."""
    _report(lost, f"{_members(lost)} of {source} {'is' if len(lost) == 1 else 'are'} not loaded:")


def _report(lost: tuple[Loss, ...], headline: str) -> None:
    """On stderr: a headline, and below it the reasons with examples; nothing where nothing is lost."""
    if lost:
        click.echo(headline, err=True)
    by_reason: dict[str, list[Loss]] = {}
    for loss in lost:
        by_reason.setdefault(loss.why, []).append(loss)
    for why, listed in sorted(by_reason.items()):
        click.echo(f"  {why} ({len(listed):,})", err=True)
        for loss in listed[:SHOWN_PER_REASON]:
            click.echo(f"    {loss.place}: {loss.what}", err=True)
        if len(listed) > SHOWN_PER_REASON:
            click.echo(f"    and {len(listed) - SHOWN_PER_REASON:,} more (--json lists all)", err=True)


def _members(lost: tuple[Loss, ...]) -> str:
    return f"{len(lost):,} {'member' if len(lost) == 1 else 'members'}"
