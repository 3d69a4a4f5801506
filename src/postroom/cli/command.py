"""What all commands share: an example in the help, `-v` and `-q` with the log, flags that are settings."""

from __future__ import annotations

import functools
import json
import logging
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

import click

from postroom.settings import FIELDS, Settings, describe, load_settings

MAX_CAUSE = 500
KEPT = ("key", "schema_registry")
"""Settings whose flags the context of a command keeps, so that `settings_from` knows them without being told."""

Function = TypeVar("Function", bound=Callable[..., Any])


class ExampleCommand(click.Command):
    """A command whose help ends with an example that works as printed."""

    example: str = ""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.example:
            with formatter.section("Example"):
                for line in self.example.splitlines():
                    formatter.write(f"  {line}\n")


def postroom_command(example: str, name: str = "") -> Callable[[Callable[..., Any]], ExampleCommand]:
    """Make a command of a function; its name is the module's unless given, its help the docstring."""

    def wrap(function: Callable[..., Any]) -> ExampleCommand:
        @click.option("-v", "--verbose", count=True, help="Say more; twice for everything.")
        @click.option("-q", "--quiet", is_flag=True, help="Say only what went wrong.")
        @functools.wraps(function)
        def wrapped(*args: Any, verbose: int, quiet: bool, **kwargs: Any) -> Any:
            configure_logs(verbose, quiet)
            return function(*args, **kwargs)

        called = name or function.__module__.rpartition(".")[2]
        made = click.command(called, cls=ExampleCommand, context_settings={"help_option_names": ["-h", "--help"]})(
            wrapped
        )
        made.example = example
        return made

    return wrap


def setting(name: str, metavar: str | None = None) -> Callable[[Function], Function]:
    """A flag for a setting: not given, the variable or the file decides."""
    default = FIELDS[name].default
    shown = f" [setting {name}; default {default}]" if default not in ("", (), False) else f" [setting {name}]"
    return click.option(
        "--" + name.replace("_", "-"),
        name,
        default=() if isinstance(default, tuple) else None,
        multiple=isinstance(default, tuple),
        is_flag=isinstance(default, bool),
        metavar=None if isinstance(default, bool) else metavar or name.upper(),
        help=describe(name) + shown,
    )


def key_option(function: Function) -> Function:
    """`--key`, for commands that talk to a service; `settings_from` knows it without being told."""
    text = "Key for the service that is talked to: itself (others may see it), env:NAME or file:PATH. [setting key]"
    return click.option("--key", metavar="KEY", expose_value=False, callback=_keep, help=text)(function)


def registry_option(function: Function) -> Function:
    """`--schema-registry`, for commands that read or make payloads; `settings_from` knows it without being told."""
    text = "Take the ids and versions of schemas from this schema registry, too. [setting schema_registry]"
    option = click.option("--schema-registry", metavar="URL", expose_value=False, callback=_keep, help=text)
    return option(function)


def _keep(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    context.meta[f"postroom.{parameter.name}"] = value


def storage_options(storage: tuple[str, ...]) -> dict[str, str]:
    """The options of object stores that `--storage` or the setting gives."""
    from postroom.pipeline.storage.options import parse_options

    return parse_options(settings_from(storage=storage).storage)


def settings_from(**flags: Any) -> Settings:
    """The settings with the given flags on top; a flag left at False or None was not given."""
    context = click.get_current_context(silent=True)
    meta = context.meta if context is not None else {}
    given = {**{name: meta.get(f"postroom.{name}") for name in KEPT}, **flags}
    return load_settings({name: value for name, value in given.items() if value is not False})


class TextFormatter(logging.Formatter):
    """One line for each event; an exception is named at its end, or follows as a traceback where that is asked for."""

    def __init__(self, *, tracebacks: bool) -> None:
        super().__init__("%(levelname)s %(message)s")
        self._tracebacks = tracebacks

    def format(self, record: logging.LogRecord) -> str:
        if self._tracebacks or not record.exc_info:
            return super().format(record)
        return f"{record.levelname} {record.getMessage()}: {_cause(record)}"


class JsonFormatter(logging.Formatter):
    """One JSON object a line: time, level, logger, message, and the fields given as `extra={"fields": …}`."""

    def __init__(self, *, tracebacks: bool) -> None:
        super().__init__()
        self._tracebacks = tracebacks

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info) if self._tracebacks else _cause(record)
        return json.dumps(line, default=str)


def _cause(record: logging.LogRecord) -> str:
    """The exception of a record in a line."""
    error = record.exc_info[1] if record.exc_info else None
    return " ".join(f"{type(error).__name__}: {error}".split())[:MAX_CAUSE]


def configure_logs(verbose: int, quiet: bool) -> None:
    """Set up the `postroom` logger on stderr; the root logger and other libraries are left alone."""
    level = logging.ERROR if quiet else {0: logging.WARNING, 1: logging.INFO}.get(verbose, logging.DEBUG)
    settings = load_settings()
    as_text = settings.log_format == "text" or (settings.log_format == "auto" and sys.stderr.isatty())
    formatter = TextFormatter if as_text else JsonFormatter
    handler = logging.StreamHandler()
    handler.setFormatter(formatter(tracebacks=settings.debug or level == logging.DEBUG))
    logger = logging.getLogger("postroom")
    logger.handlers = [handler]
    logger.setLevel(level)
    logger.propagate = False
