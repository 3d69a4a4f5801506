"""`postroom completion`: the script that teaches a shell to complete our commands."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from postroom.cli.command import postroom_command

SHELLS = ("bash", "zsh", "fish")


@postroom_command(example="postroom completion bash > postroom-completion.bash")
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the completion script for SHELL; source it from your shell's start-up file."""
    from postroom.cli.main import main

    completion = get_completion_class(shell)
    if completion is None:  # click knows these three shells
        raise click.UsageError(f"no completion for {shell}.")
    click.echo(completion(main, {}, "postroom", "_POSTROOM_COMPLETE").source())
