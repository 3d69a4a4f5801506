"""Output of commands: tables for people, JSON for programs, a progress line for long work."""

from __future__ import annotations

import logging
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import Any, Literal

import click
import msgspec

NUMBERS = (int, float, Decimal)
_NARROWEST_COLUMN = 12


def print_json(value: Any) -> None:
    """One line of JSON on stdout."""
    click.echo(msgspec.json.encode(value).decode())


def print_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], *, whole: Collection[str] = ()
) -> None:
    """A table on stdout; numbers are right-aligned with thousands separated.

    Rows too wide for the screen are printed one below the other, a line per column. The columns named in `whole` are
    never folded, so that one can copy what is in them.
    """
    rows = [tuple(row) for row in rows]
    cells = [tuple(_cell(value) for value in row) for row in rows]
    if _narrowest(columns, cells, whole) > _width():
        _print_records(columns, cells)
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title or None, title_justify="left", title_style="bold")
    for position, column in enumerate(columns):
        numeric = bool(rows) and all(isinstance(row[position], NUMBERS) for row in rows)
        justify: Literal["left", "right"] = "right" if numeric else "left"
        table.add_column(column, justify=justify, overflow="fold", no_wrap=column in whole)
    for row in cells:
        table.add_row(*row)
    Console(width=_width(), markup=False, highlight=False).print(table)


def _narrowest(columns: Sequence[str], rows: list[tuple[str, ...]], whole: Collection[str]) -> int:
    widths = [_NARROWEST_COLUMN] * len(columns)
    for position, column in enumerate(columns):
        if column in whole:
            widths[position] = max(len(column), *(len(row[position]) for row in rows), 0) + 3
    return sum(widths)


def _print_records(columns: Sequence[str], rows: list[tuple[str, ...]]) -> None:
    widest = max(map(len, columns))
    for number, row in enumerate(rows, 1):
        click.echo(f"─ row {number} " + "─" * 30)
        for column, cell in zip(columns, row, strict=True):
            click.echo(f"{column:<{widest}}  {cell}")


def _width() -> int:
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 120


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, NUMBERS):
        return f"{value:,}"
    if isinstance(value, dict | list):
        return msgspec.json.encode(value, enc_hook=str).decode()
    return "" if value is None else str(value)


@contextmanager
def progress(text: str, quiet: bool = False) -> Iterator[None]:
    """A spinner with the elapsed time on stderr while work goes on; silent on a pipe."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(text, total=None)
        with _progress_log(lambda text: bar.update(task, description=text)):
            yield


@contextmanager
def _progress_log(show: Callable[[str], None]) -> Iterator[None]:
    """Show what long work says about how far it is: it logs that to `postroom.progress`."""
    logger = logging.getLogger("postroom.progress")
    before = logger.level, logger.propagate
    handler = logging.Handler()
    handler.emit = lambda record: show(record.getMessage())  # type: ignore[method-assign]  # one line, no class
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before[0])
        logger.propagate = before[1]
