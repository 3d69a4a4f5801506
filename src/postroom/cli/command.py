"""What all commands share: an example in the help, `-v` and `-q`, flags that are settings."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import click

from postroom.cli.logs import configure_logs
from postroom.settings import FIELDS, Settings, describe, load_settings

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


def settings_from(**flags: Any) -> Settings:
    """The settings with the given flags on top; a flag left at False or None was not given."""
    return load_settings({name: value for name, value in flags.items() if value is not False})
