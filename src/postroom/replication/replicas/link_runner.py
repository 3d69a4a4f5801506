"""The thread that runs a service's links: one more thread for each, in one process of all that share the store."""

from __future__ import annotations

import logging
import threading
import time
from contextlib import closing, suppress

import msgspec

from postroom.catalog.credentials import NO_KEY
from postroom.errors import PostroomError
from postroom.registry.problems import RegistryProblem
from postroom.registry.write.unit_of_work import timestamp
from postroom.replication.replicas.export_units import registry_id
from postroom.replication.replicas.follow import LinkFollower
from postroom.replication.replicas.peers.open import open_source, open_target
from postroom.replication.replicas.peers.peer import ReplicaSource, ReplicaTarget
from postroom.replication.replicas.peers.store import StoreEndpoint
from postroom.replication.replicas.service_links import LinkConfig, LinkRun, RunStatus, check_host, configured, put_run
from postroom.settings import Settings
from postroom.store.interface import Claim, Store

LOG = logging.getLogger("postroom.links")
CLAIM = "links"
LOOK_SECONDS = 0.25
CLAIM_SECONDS = 1.0
STOP_SECONDS = 5.0


class LinkRunner:
    """Runs the links of a store, from `start` to `stop`."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="postroom-links", daemon=True)
        self._running: dict[str, _Running] = {}

    @property
    def is_alive(self) -> bool:
        """Whether it runs links, or waits for its turn to: another process may be the one that does."""
        return self._thread.is_alive()

    def lags(self) -> dict[str, float]:
        """For how many seconds each link that runs here has not been known to have everything."""
        now = time.monotonic()
        return {link_id: now - running.complete for link_id, running in list(self._running.items())}

    def start(self) -> None:
        """Begin to run links."""
        self._thread.start()

    def stop(self) -> None:
        """Run links no more; nobody touches the store after this."""
        self._stopping.set()
        self._thread.join(STOP_SECONDS)
        self._end_all()

    def _run(self) -> None:
        while not self._stopping.is_set():
            claim = self._store.claim(CLAIM)
            if claim is not None:
                with closing(claim):
                    self._watch(claim)
            self._stopping.wait(CLAIM_SECONDS)

    def _watch(self, claim: Claim) -> None:
        """Run links until the end, or until the claim is lost and another process may run them."""
        version = -1
        while not self._stopping.is_set():
            if not claim.holds():
                LOG.warning("the database was lost, and with it the claim to run links")
                self._end_all()
                return
            try:
                present = self._store.version()
                if present != version:
                    self._take_over()
                    version = present
            except Exception:
                LOG.exception("links are held up")
            self._stopping.wait(LOOK_SECONDS)

    def _end_all(self) -> None:
        ended = [self._running.pop(link_id) for link_id in list(self._running)]
        for running in ended:
            running.stop()
        for running in ended:
            running.join()

    def _take_over(self) -> None:
        """Start what is new, stop what is gone, and both for what was changed."""
        with self._store.read() as tx:
            wanted = {link_id: one for link_id, one in configured(tx).items() if not one.off}
        for link_id in [one for one, running in self._running.items() if wanted.get(one) != running.config]:
            self._running.pop(link_id).stop()
        for link_id in wanted.keys() - self._running.keys():
            self._running[link_id] = _Running(self._store, self._settings, link_id, wanted[link_id])


class _Running:
    """One link in its thread."""

    def __init__(self, store: Store, settings: Settings, link_id: str, config: LinkConfig) -> None:
        self.config = config
        self._store = store
        self._settings = settings
        self._id = link_id
        self._stopping = threading.Event()
        self._remote: ReplicaSource | ReplicaTarget | None = None
        self._noted: LinkRun | None = None
        self.complete = time.monotonic()
        """When it last had everything that its source had, or was started."""
        self._thread = threading.Thread(target=self._run, name=f"postroom-link-{link_id}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Say that it has to end; a request that waits for an answer is given up."""
        self._stopping.set()
        if self._remote is not None and self.config.remote.startswith("http"):
            with suppress(Exception):
                self._remote.close()

    def join(self) -> None:
        """Wait until it has ended."""
        self._thread.join(STOP_SECONDS)

    def _run(self) -> None:
        try:
            while not self._stopping.is_set() and not self._has_followed():
                self._stopping.wait(CLAIM_SECONDS)
        except PostroomError as error:
            if not self._stopping.is_set():
                LOG.error("link %s failed: %s", self._id, error)  # noqa: TRY400  # a sentence, not a traceback
                self._note("failed", str(error))
        except Exception:
            if not self._stopping.is_set():
                LOG.exception("link %s failed", self._id)
                self._note("failed", "the log of the service tells why")

    def _has_followed(self) -> bool:
        """Follow to the end; False when the store here is away and has to be waited for."""
        try:
            self._follow()
        except RegistryProblem as problem:
            if problem.status < 500:
                raise
            LOG.warning("link %s waits for the store: %s", self._id, problem)
            return False
        return True

    def _follow(self) -> None:
        config = self.config
        if "://" in config.remote:
            check_host(config.remote, self._settings, files=True)
        remote_settings = msgspec.structs.replace(self._settings, key=config.key or NO_KEY)
        here = StoreEndpoint(self._store, "here", config.authority)
        source: ReplicaSource
        target: ReplicaTarget
        if config.mode == "push":
            source, target = here, open_target(config.remote, remote_settings)
            self._remote = target
        else:
            source, target = open_source(config.remote, remote_settings), here
            self._remote = source
        with self._store.read() as tx:
            link = config.link(self._id, registry_id(tx), self._settings)
        following = LinkFollower(source, target, link, self._stopping, self._report)
        reports = following.by_difference(config.every) if config.mode == "pull" else following.by_changes(config.every)
        for _ in reports:
            if self._stopping.is_set():
                return

    def _report(self, error: str) -> None:
        if not error:
            self.complete = time.monotonic()
        self._note("waiting" if error else "running", error)

    def _note(self, status: RunStatus, error: str) -> None:
        before = self._noted
        if self._stopping.is_set() or (before is not None and (before.status, before.error) == (status, error)):
            return
        run = LinkRun(status=status, error=error, at=timestamp())
        try:
            with self._store.write() as tx:
                put_run(tx, self._id, run)
        except RegistryProblem as problem:  # the store itself is away; the next note tells this too
            LOG.warning("link %s is %s, which could not be noted: %s", self._id, status, problem)
            return
        self._noted = run
