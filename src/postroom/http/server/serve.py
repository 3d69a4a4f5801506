"""Running the service: checks before anything is opened, and the listening socket."""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import logging
import os
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from postroom.errors import BadFlag, PortBusy
from postroom.settings import Settings
from postroom.urls import masked

if TYPE_CHECKING:
    from postroom.http.server.worker_processes import OpenPages
    from postroom.store.interface import Store

LOG = logging.getLogger(__name__)
BACKLOG = 2048


def serve(settings: Settings, open_pages: OpenPages | None = None, *, resets_capabilities: bool = False) -> None:
    """Serve until a signal says stop, with the web pages that are handed in."""
    from postroom.catalog.credentials import NO_KEY
    from postroom.catalog.open_store import open_store, warn_if_world_readable
    from postroom.http.server.allowed_hosts import AllowedHosts
    from postroom.http.server.base_url import BaseUrlReader
    from postroom.http.server.tls import check_files
    from postroom.http.server.worker_processes import run
    from postroom.outbound.client import allowed_fetcher
    from postroom.registry.configuration.capabilities_update import reset_capabilities

    _check_host(settings)
    check_files(settings)
    BaseUrlReader(settings.trusted_proxies, AllowedHosts(settings))
    # Keys of the setting and of `postroom login` are for commands, not for what the service itself sends elsewhere.
    settings = msgspec.structs.replace(settings, db=settings.db or default_database(), key=NO_KEY)
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(_listen(settings.host, settings.port))]
        if settings.schema_registry_port >= 0:
            sockets.append(stack.enter_context(_listen(settings.host, settings.schema_registry_port)))
            settings = msgspec.structs.replace(settings, schema_registry_port=sockets[-1].getsockname()[1])
        fetch = allowed_fetcher(settings.allow_fetch, settings.timeout_s, settings.max_document_mb)
        with open_store(settings.db, settings.model, fetch=fetch, registry_id=settings.registry_id) as store:
            if resets_capabilities:
                with store.write() as transaction:
                    reset_capabilities(transaction)
            check_access(settings, store)
        warn_if_world_readable(settings.db)
        run(settings, sockets, open_pages)


def default_database() -> str:
    """The store that is used when nobody names one: a file in the user's data folder."""
    folder = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return f"sqlite:///{Path(folder) / 'postroom' / 'registry.db'}"


def _check_host(settings: Settings) -> None:
    if settings.access == "on" or _is_loopback(settings.host):
        return
    if settings.insecure:
        LOG.warning("access is off: everybody who reaches %s may read and change everything", settings.host)
        return
    raise BadFlag(
        f"{settings.host} can be reached from other machines, and access is off.",
        place="--host",
        remedy="Say --access on, use 127.0.0.1, or say --insecure.",
    )


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_access(settings: Settings, store: Store) -> None:
    """Refuse settings by which anybody could come in, and say how the first administrator comes to be."""
    from postroom.access.authentication import Authenticator
    from postroom.http.access.doors import Doors
    from postroom.http.server.allowed_hosts import AllowedHosts
    from postroom.http.server.base_url import BaseUrlReader

    if settings.access == "off":
        return
    base_urls = BaseUrlReader(settings.trusted_proxies, AllowedHosts(settings))
    if Doors(Authenticator(store, settings), settings, base_urls).authenticator.grants.has_admin:
        return
    if settings.access_file:
        remedy = f"Give somebody the role admin on / in {settings.access_file}."
    else:
        remedy = f"Make the first key with: postroom keys create NAME --grant admin:/ --at {masked(settings.db)}"
    sys.stderr.write(f"Access is on, and nobody administers this registry yet. {remedy}\n")
    sys.stderr.flush()


def _listen(host: str, port: int) -> socket.socket:
    """A socket that listens; workers accept from it, and nobody else can have the port while it is open."""
    listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        reason = (
            "another process listens there"
            if error.errno == errno.EADDRINUSE
            else (error.strerror or str(error)).lower()
        )
        raise PortBusy(
            f"cannot listen on {host}:{port}: {reason}.", remedy="Choose another with --port, or --port 0."
        ) from None
    return listening
