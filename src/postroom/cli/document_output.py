"""Output of documents: JSON or YAML, to a file or to stdout, and the report of what a dialect cannot carry."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
import msgspec

from postroom.errors import BadFlag, FolderUnwritable

if TYPE_CHECKING:
    from postroom.documents.dialects.dialect import Loss

SHOWN_PER_REASON = 3


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


def report_losses(lost: tuple[Loss, ...], dialect: str) -> None:
    """On stderr, for people: what the dialect cannot carry, by reason."""
    for line in _report(lost, dialect):
        click.echo(line, err=True)


def _report(lost: tuple[Loss, ...], dialect: str) -> Iterator[str]:
    if not lost:
        return
    yield f"{dialect} cannot carry {len(lost):,} {'member' if len(lost) == 1 else 'members'}:"
    by_reason: dict[str, list[Loss]] = {}
    for loss in lost:
        by_reason.setdefault(loss.why, []).append(loss)
    for why, listed in sorted(by_reason.items()):
        yield f"  {why} ({len(listed):,})"
        for loss in listed[:SHOWN_PER_REASON]:
            yield f"    {loss.place}: {loss.what}"
        if len(listed) > SHOWN_PER_REASON:
            yield f"    and {len(listed) - SHOWN_PER_REASON:,} more (--json lists all)"
