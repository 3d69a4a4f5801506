"""`postroom serve`: the registry over HTTP."""

from __future__ import annotations

import click

from postroom.cli.command import postroom_command, setting, settings_from


@postroom_command(example="postroom serve --db sqlite:///registry.db --port 8080")
@setting("db", "URL")
@setting("host", "H")
@setting("port", "N")
@setting("model", "messaging|none|FILE")
@setting("registry_id", "ID")
@setting("schema_registry_port", "N")
@setting("schema_registry_group", "ID")
@setting("workers", "N")
@setting("lake", "PLACE")
@setting("allow_fetch", "HOST[:PORT]")
@setting("access", "on|off")
@setting("access_file", "FILE")
@setting("insecure")
@setting("tls_cert", "FILE")
@setting("tls_key", "FILE")
@click.option(
    "--reset-capabilities",
    is_flag=True,
    help="Start with the capabilities of a new registry, whatever clients have set.",
)
def command(
    db: str | None,
    host: str | None,
    port: str | None,
    model: str | None,
    registry_id: str | None,
    schema_registry_port: str | None,
    schema_registry_group: str | None,
    workers: str | None,
    lake: str | None,
    allow_fetch: tuple[str, ...],
    access: str | None,
    access_file: str | None,
    insecure: bool,
    tls_cert: str | None,
    tls_key: str | None,
    reset_capabilities: bool,
) -> None:
    """Serve the registry over HTTP until it is stopped (Ctrl-C or SIGTERM).

    Without --db the registry lives in a file in your data folder. A new registry gets the model that --model names,
    and the id that --registry-id gives.
    A client can set the capabilities so that no client may change them any more; --reset-capabilities is the way back.
    """
    from postroom.http.server.serve import serve
    from postroom.ui.website import open_pages

    serve(
        settings_from(
            db=db,
            host=host,
            port=port,
            model=model,
            registry_id=registry_id,
            schema_registry_port=schema_registry_port,
            schema_registry_group=schema_registry_group,
            workers=workers,
            lake=lake,
            allow_fetch=allow_fetch,
            access=access,
            access_file=access_file,
            insecure=insecure,
            tls_cert=tls_cert,
            tls_key=tls_key,
        ),
        open_pages,
        resets_capabilities=reset_capabilities,
    )
