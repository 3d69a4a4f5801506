"""Running the service: checks before anything is opened, the listening socket, worker processes, the end."""

from __future__ import annotations

import errno
import functools
import http.client
import ipaddress
import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from postroom.errors import BadFlag, MissingSystem, PortBusy
from postroom.settings import Settings

if TYPE_CHECKING:
    from starlette.types import ASGIApp

START_SECONDS = 30.0
PARENT_CHECK_SECONDS = 1.0
ORPHAN_SECONDS = 5.0


def serve(settings: Settings, *, resets_capabilities: bool = False) -> None:
    """Serve until a signal says stop."""
    from postroom.http.addresses import Addresses
    from postroom.model.fetching import allowed_fetcher
    from postroom.registry.capabilities import reset_capabilities
    from postroom.store.opening import open_store

    _check_host(settings)
    Addresses(settings.trusted_proxies)
    settings = msgspec.structs.replace(settings, db=settings.db or default_database())
    guard, port = _reserve(settings.host, settings.port)
    try:
        fetch = allowed_fetcher(settings.allow_fetch, settings.timeout_s, settings.max_document_mb)
        with open_store(settings.db, settings.model, fetch=fetch) as store:
            if resets_capabilities:
                with store.write() as transaction:
                    reset_capabilities(transaction)
        _run(settings, port)
    finally:
        guard.close()


def default_database() -> str:
    """The store that is used when nobody names one: a file in the user's data folder."""
    folder = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return f"sqlite:///{Path(folder) / 'postroom' / 'registry.db'}"


def _check_host(settings: Settings) -> None:
    if settings.insecure or settings.host == "localhost":
        return
    try:
        loopback = ipaddress.ip_address(settings.host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise BadFlag(
            f"{settings.host} can be reached from other machines, and there is no authentication yet.",
            place="--host",
            remedy="Use 127.0.0.1, or say --insecure.",
        )


def _reserve(host: str, port: int) -> tuple[socket.socket, int]:
    """Hold the port, without listening, so that nobody takes it until the workers listen on it.

    Workers bind with SO_REUSEPORT, which also a second server of ours could do: the first, exclusive bind finds that.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family) as exclusive:
            exclusive.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            exclusive.bind((host, port))
        guard = socket.socket(family)
        guard.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        guard.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        guard.bind((host, port))
    except OSError as error:
        reason = (
            "another process listens there"
            if error.errno == errno.EADDRINUSE
            else (error.strerror or str(error)).lower()
        )
        raise PortBusy(
            f"cannot listen on {host}:{port}: {reason}.", remedy="Choose another with --port, or --port 0."
        ) from None
    return guard, guard.getsockname()[1]


def _run(settings: Settings, port: int) -> None:
    from granian import Granian
    from granian.constants import Interfaces

    server = Granian(
        "postroom.http.server:worker_app",
        address=settings.host,
        port=port,
        interface=Interfaces.ASGI,
        workers=settings.workers,
        websockets=False,
        log_enabled=False,
        respawn_failed_workers=True,
    )
    # The announcing thread looks up an address while workers are forked. What it would import for that is loaded
    # before: a worker that is forked in the middle of an import waits for it for ever.
    "localhost".encode("idna")
    server.on_startup(lambda: _announce_later(settings.host, port))
    try:
        server.serve(target_loader=functools.partial(worker_app, settings, os.getpid()), wrap_loader=False)
    except SystemExit as stop:
        if stop.code not in (None, 0):
            raise MissingSystem("the server stopped because its workers could not run.") from None


def worker_app(settings: Settings, parent: int) -> ASGIApp:
    """The application of one worker process; it ends when the process that started it is gone."""
    from postroom.http.app import create_app
    from postroom.store.opening import open_store

    threading.Thread(target=_follow, args=(parent,), daemon=True).start()
    return create_app(open_store(settings.db, settings.model), settings)


def _follow(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PARENT_CHECK_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)
    # A worker that was just forked still has its parent's handler, which would swallow the signal.
    time.sleep(ORPHAN_SECONDS)
    os._exit(1)


def _announce_later(host: str, port: int) -> None:
    threading.Thread(target=_announce, args=(host, port), daemon=True).start()


def _announce(host: str, port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if _answers(host, port):
            shown = f"[{host}]" if ":" in host else host
            sys.stdout.write(f"listening on http://{shown}:{port}\n")
            sys.stdout.flush()
            return
        time.sleep(0.02)


def _answers(host: str, port: int) -> bool:
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    connection = http.client.HTTPConnection(reachable, port, timeout=2)
    try:
        connection.request("GET", "/-/healthz")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()
