"""`postroom import`: the catalogs of other tools into a registry."""

from __future__ import annotations

import click

from postroom.cli.command import postroom_command, settings_from
from postroom.cli.output import print_json, progress


@click.group("import", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Import the catalogs of other tools into a registry."""


@postroom_command(
    example="postroom import confluent http://127.0.0.1:8080/confluent --to sqlite:///moved.db", name="confluent"
)
@click.argument("source", metavar="URL|EXPORT")
@click.option("--to", "target", required=True, metavar="TARGET", help="http(s)://… or sqlite:///path.db.")
@click.option("--watch", type=click.FloatRange(min=1), metavar="SECONDS", help="Import again and again, so often.")
@click.option("--json", "as_json", is_flag=True, help="What was done and what had no place, as JSON.")
def confluent(source: str, target: str, watch: float | None, as_json: bool) -> int:
    """Import a schema registry: subjects, versions, ids, references, modes and configurations, as they are.

    EXPORT is what `GET /schemas` answers, or the topic _schemas printed with its keys. A second import writes what
    has changed. What had no place is listed, and the exit code is 1 then.
    """
    import time
    from contextlib import ExitStack
    from pathlib import Path

    import msgspec

    from postroom.catalog.open_store import open_store
    from postroom.catalog.subjects.schema_registry import Held, RemoteRegistry, SchemaRegistry, read_registry
    from postroom.catalog.wiring import rules_of
    from postroom.errors import PostroomError
    from postroom.http.confluent import import_subjects as importing
    from postroom.urls import scheme_of

    settings = settings_from()

    def read() -> Held:
        if scheme_of(source) in ("http", "https"):
            return read_registry(RemoteRegistry(source, settings))
        return importing.read_export(Path(source))

    with ExitStack() as stack:
        registry: SchemaRegistry
        if scheme_of(target) in ("http", "https"):
            registry = RemoteRegistry(f"{target.rstrip('/')}/confluent", settings)
        else:
            store = stack.enter_context(
                open_store(target, rules=rules_of(settings), write_wait_s=settings.write_wait_s)
            )
            registry = importing.LocalRegistry(store, settings)
        while True:
            try:
                with progress(f"Importing {source}"):
                    report = importing.import_subjects(read(), registry)
            except PostroomError as error:
                if watch is None:
                    raise
                click.echo(str(error), err=True)
            else:
                if as_json:
                    print_json(msgspec.to_builtins(report))
                elif watch is None or report.changes:
                    click.echo("\n".join(importing.lines_of(report)))
                if watch is None:
                    return 1 if report.left_out else 0
            time.sleep(watch)


command.add_command(confluent)
