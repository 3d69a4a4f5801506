"""The processes that answer: this one alone, or several that share its socket and are replaced when they die."""

from __future__ import annotations

import functools
import logging
import os
import signal
import socket
import ssl
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import msgspec
import uvicorn
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from postroom.errors import MissingSystem, PostroomError
from postroom.http.server.connections import HttpConnection
from postroom.http.server.graceful_stop import GracefulStop, refuse_connections
from postroom.http.server.tls import HEADERS, certificate_context
from postroom.outbound.pinned_transport import PinnedTransport
from postroom.outbound.policy import FetchRefused, OutboundPolicy
from postroom.settings import Settings

if TYPE_CHECKING:
    from postroom.http.server.asgi import ASGIApp
    from postroom.http.server.web_pages import WebPages

LOG = logging.getLogger("postroom.http")
START_SECONDS = 30
ASK_AGAIN_SECONDS = 0.2
IDLE_SECONDS = 75
PARENT_CHECK_SECONDS = 1.0
ORPHAN_SECONDS = 10.0


class Logs:
    """How this process logs, for a worker that starts from nothing: a level and the form of a line."""

    def __init__(self) -> None:
        logger = logging.getLogger("postroom")
        self.level = logger.level
        self.form = logger.handlers[0].formatter if logger.handlers else None

    def apply(self) -> None:
        """Log like that, and what the server says too."""
        logger, server = logging.getLogger("postroom"), logging.getLogger("uvicorn")
        if not logger.handlers:
            handler = logging.StreamHandler()
            handler.setFormatter(self.form)
            logger.addHandler(handler)
            logger.setLevel(self.level)
        logger.propagate = server.propagate = False
        server.handlers = logger.handlers


OpenPages: TypeAlias = "Callable[[Settings], WebPages]"
"""What makes the web pages, in each process: a function of a module, so that a process that starts can find it."""


def run(settings: Settings, sockets: list[socket.socket], open_pages: OpenPages | None = None) -> None:
    """Answer on the sockets until a signal says stop; the second one, if there is one, is for the schema registry."""
    with _metrics_folder(settings) as folder:
        _run(settings, sockets, folder, open_pages)


def _run(settings: Settings, sockets: list[socket.socket], metrics_folder: str, open_pages: OpenPages | None) -> None:
    own = tuple(sockets) if settings.workers == 1 else ()
    factory = functools.partial(worker_app, settings, Logs(), os.getpid(), metrics_folder, own, open_pages)
    config = configuration(settings, factory)
    address = Address(
        settings.host, sockets[0].getsockname()[1], bool(settings.tls_cert), settings.schema_registry_port
    )
    # A second signal, or one that comes before the server looks for them, ends the process without ado.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    try:
        if settings.workers == 1:
            AnnouncingServer(config, address.say).run(sockets)
        else:
            threading.Thread(target=address.say_when_answering, daemon=True).start()
            supervisor = WorkerSupervisor(config, sockets, settings.drain_s)
            supervisor.run()
            if any(worker.exitcode == STARTUP_FAILURE for worker in supervisor.processes):
                sys.exit(STARTUP_FAILURE)
    except SystemExit as stop:
        if stop.code not in (None, 0):
            raise MissingSystem("the server stopped because it could not start.") from None


@contextmanager
def _metrics_folder(settings: Settings) -> Iterator[str]:
    """Where several processes put what they measure; empty where there is one, or no room for files."""
    if settings.workers == 1:
        yield ""
        return
    try:
        folder = tempfile.TemporaryDirectory(prefix="postroom-metrics-", ignore_cleanup_errors=True)
    except OSError as error:
        LOG.warning("each process answers /metrics for itself: there is no folder for temporary files (%s)", error)
        yield ""
        return
    with folder as name:
        yield name


def configuration(settings: Settings, factory: Callable[[], ASGIApp]) -> uvicorn.Config:
    """The server's options. It neither knows proxies nor writes logs: both are the application's own."""
    protocol: Any = functools.partial(
        HttpConnection, head_timeout_s=settings.upload_timeout_s, send_timeout_s=settings.send_timeout_s
    )
    return uvicorn.Config(
        factory,
        factory=True,
        workers=settings.workers,
        http=protocol,
        headers=HEADERS if settings.tls_cert else [],
        ssl_context_factory=(
            functools.partial(certificate_context, settings.tls_cert, settings.tls_key) if settings.tls_cert else None
        ),
        ws="none",
        interface="asgi3",
        lifespan="on",
        log_config=None,
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=settings.stop_timeout_s,
        timeout_worker_healthcheck=START_SECONDS,
    )


def worker_app(
    settings: Settings,
    logs: Logs,
    parent: int,
    metrics_folder: str = "",
    sockets: tuple[socket.socket, ...] = (),
    open_pages: OpenPages | None = None,
) -> ASGIApp:
    """The application of one process; a worker ends when the process that started it is gone."""
    import postroom.catalog.entity_lint  # noqa: F401  # so that the first write need not wait for it
    from postroom.access.grants import disown_group, own_new_group
    from postroom.catalog.open_store import open_store, retention_of
    from postroom.catalog.wiring import rules_of
    from postroom.http.operations.server_process import ServerProcess
    from postroom.http.server.app import create_app
    from postroom.messages.gc_pause import collect_rarely
    from postroom.replication.replicas.origins import guarded

    logs.apply()
    if os.getpid() != parent:
        patience = settings.drain_s + settings.stop_timeout_s + ORPHAN_SECONDS
        threading.Thread(target=_follow, args=(parent, patience), daemon=True).start()
    try:
        retention = retention_of(settings)
        rules = msgspec.structs.replace(guarded(rules_of(settings), settings), most_entities=settings.max_entities)
        if settings.access == "on" and not settings.access_file:
            rules = msgspec.structs.replace(rules, group_created=own_new_group, group_deleted=disown_group)
        store = open_store(
            settings.db, settings.model, retention=retention, rules=rules, write_wait_s=settings.write_wait_s
        )
        process = ServerProcess(metrics_folder, open_pages(settings) if open_pages is not None else None)
        app = create_app(store, settings, process)
    except PostroomError as error:
        LOG.error("%s", error)  # noqa: TRY400  # a sentence, not a traceback
        sys.exit(STARTUP_FAILURE)
    GracefulStop(settings.drain_s, process.begin_stop, sockets).install()
    collect_rarely()
    return app


class AnnouncingServer(uvicorn.Server):
    """A server that says when it answers."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start; uvicorn has no event for having started."""
        await super().startup(sockets)
        if self.started:
            self._announce()


class WorkerSupervisor(Multiprocess):
    """Several processes that accept from one socket, replaced one after the other on SIGHUP."""

    def __init__(self, config: uvicorn.Config, sockets: list[socket.socket], drain_s: float) -> None:
        super().__init__(config, sockets)
        self._drain_s = drain_s

    def terminate_all(self) -> None:
        """Stop all workers; while they drain, connections begin no more, and none is left here that nobody accepts."""
        super().terminate_all()
        time.sleep(self._drain_s)
        for listening in self.sockets:
            refuse_connections(listening)
            listening.close()


def _follow(parent: int, patience_s: float) -> None:
    while os.getppid() == parent:
        time.sleep(PARENT_CHECK_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(patience_s)
    os._exit(1)


class Address(NamedTuple):
    """Where the server listens."""

    host: str
    port: int
    is_secure: bool
    schema_registry_port: int = -1

    def say(self) -> None:
        """Tell the user."""
        sys.stdout.write(f"listening on {self._url(self.host)}\n")
        if self.schema_registry_port > 0:
            registry = self._replace(port=self.schema_registry_port)
            sys.stdout.write(f"schema registry API on {registry._url(self.host)}\n")
        sys.stdout.flush()

    def say_when_answering(self) -> None:
        """Tell the user when a worker answers: the socket takes connections before there is one."""
        reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)  # noqa: S104
        # On a busy machine workers may take longer than one question waits, or be replaced while it is asked.
        while not self._is_answering(reachable):
            time.sleep(ASK_AGAIN_SECONDS)
        self.say()

    def _is_answering(self, host: str) -> bool:
        if self.is_secure:
            with suppress(OSError):
                self._shake_hands(host)
                return True
            return False
        policy = OutboundPolicy(addresses="pinned", answer_s=START_SECONDS)
        with suppress(FetchRefused), closing(PinnedTransport(policy)) as transport:
            return transport.exchange("GET", f"{self._url(host)}/-/healthz", {}, None).status == 200
        return False

    def _shake_hands(self, host: str) -> None:
        """A worker that begins TLS answers; whose name the certificate has does not matter here."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with socket.create_connection((host, self.port), timeout=START_SECONDS) as plain:
            context.wrap_socket(plain).close()

    def _url(self, host: str) -> str:
        scheme = "https" if self.is_secure else "http"
        return f"{scheme}://[{host}]:{self.port}" if ":" in host else f"{scheme}://{host}:{self.port}"
