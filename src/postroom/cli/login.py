"""`postroom login`: keep the key of a service."""

from __future__ import annotations

import sys

import click

from postroom.cli.command import postroom_command, settings_from


@postroom_command(example="postroom login http://127.0.0.1:8080 --remove")
@click.argument("url")
@click.option("--remove", is_flag=True, help="Forget the key instead.")
def command(url: str, remove: bool) -> None:
    """Keep a key for the service at URL, in a file that only you can read.

    It is asked for on a terminal and read from stdin otherwise, never from the command line, where others see it. The
    service is asked whose it is first. Commands that talk to that service send it from then on; --key and POSTROOM_KEY
    go first.
    """
    import msgspec

    from postroom.catalog.credentials import CredentialsFile, resolve_key
    from postroom.catalog.service_client import open_client
    from postroom.errors import BadFlag
    from postroom.urls import masked

    file = CredentialsFile()
    if remove:
        gone = file.remove(url)
        click.echo(f"forgot the key for {masked(url)}" if gone else f"there is no key for {masked(url)}")
        return
    given = click.prompt("Key", hide_input=True, err=True) if sys.stdin.isatty() else sys.stdin.readline()
    key = resolve_key(given.strip())
    if not key:
        raise BadFlag("no key was given.", remedy="Type it, or send it to stdin.")
    with open_client(url, msgspec.structs.replace(settings_from(), key=key)) as client:
        found = client.get("/-/session")
    file.put(url, key)
    click.echo(f"signed in at {masked(url)} as {found['principal'] or 'nobody in particular: its access is off'}")
