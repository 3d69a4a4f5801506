"""Keeping a replica up to date: by polling, or by the change log of the source."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

from postroom.errors import MissingSystem
from postroom.registry.problems import RegistryProblem
from postroom.replication.replicas.link import Link, LinkState, read_state
from postroom.replication.replicas.peers.peer import ReplicaSource, ReplicaTarget
from postroom.replication.replicas.pull import Pull, PullReport
from postroom.replication.replicas.scope import LinkScope

Result = TypeVar("Result")

LOG = logging.getLogger("postroom.links")
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
LISTEN_SECONDS = 10.0


class LinkFollower:
    """A link that goes on until it is stopped. Ends that are away are waited for, longer and longer."""

    def __init__(
        self,
        source: ReplicaSource,
        target: ReplicaTarget,
        link: Link,
        stopping: threading.Event | None = None,
        report_waiting: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.source = source
        self.target = target
        self.link = link
        self.stopping = stopping or threading.Event()
        self.report_waiting = report_waiting
        """Called with the reason for waiting, and with an empty string when it does not wait."""
        self._pause = FIRST_PAUSE
        self._home = ""
        self._state: LinkState | None = None

    def by_difference(self, seconds: float) -> Iterator[PullReport]:
        """Pull again and again."""
        while not self.stopping.is_set():
            report = self._attempt(self._pull)
            if report is not None:
                yield report
                self.stopping.wait(seconds)

    def by_changes(self, poll: float = LISTEN_SECONDS) -> Iterator[PullReport]:
        """Pull everything once, then exactly what changes; a source without a change log is looked at every `poll` s.

        The state says where to go on, so a process that was killed goes on as if nothing had happened.
        """
        cursor = ""
        while not self.stopping.is_set():
            if not cursor:
                report = self._attempt(self._begin)
                if report is None:
                    continue
                yield report
                cursor = report.state.cursor
                if not cursor:
                    self.stopping.wait(poll)
                continue
            found = self._attempt(partial(self._step, cursor))
            if found is not None:
                report, cursor = found
                if report is not None:
                    yield report

    def pending(self) -> Iterator[PullReport]:
        """What changed since the last time, and nothing more."""
        state = read_state(self.target.state(self.link.id))
        cursor = state.cursor
        while cursor:
            found = self.source.changes(cursor, self.link.scope, 0)
            if found is None:
                break
            if not found.xids:
                return
            yield self._pull_units(found.xids, found.cursor)
            cursor = found.cursor
        yield self._pull()

    def _attempt(self, work: Callable[[], Result]) -> Result | None:
        """Do something; None when it has to be tried again, after a pause."""
        try:
            done = work()
        except (MissingSystem, RegistryProblem) as error:
            if isinstance(error, RegistryProblem) and error.status < 500:
                raise
            self._state = None
            if self.stopping.is_set():
                return None
            if self._pause == FIRST_PAUSE:
                LOG.warning("link %s waits: %s", self.link.id, error)
            self.report_waiting(str(error))
            self.stopping.wait(self._pause)
            self._pause = min(2 * self._pause, LONGEST_PAUSE)
            return None
        self._pause = FIRST_PAUSE
        self.report_waiting("")
        return done

    def _begin(self) -> PullReport:
        state = read_state(self.target.state(self.link.id))
        if not state.cursor:
            return self._pull()
        return PullReport(state=state)

    def _step(self, cursor: str) -> tuple[PullReport | None, str]:
        found = self.source.changes(cursor, self.link.scope, LISTEN_SECONDS)
        if found is None:
            LOG.warning("link %s: the source cannot tell what changed; everything is compared", self.link.id)
            report = self._resync()
            return report, report.state.cursor
        return (self._pull_units(found.xids, found.cursor) if found.xids else None), found.cursor

    def _pull(self) -> PullReport:
        self._state = None
        return Pull(self.source, self.target, self.link).by_difference()

    def _resync(self) -> PullReport:
        self._state = None
        pull = Pull(self.source, self.target, self.link)
        pull.state.resyncs += 1
        pull.state.digest = ""
        return pull.by_difference()

    def _pull_units(self, xids: tuple[str, ...], cursor: str) -> PullReport:
        if not self._home:
            overview = self.target.overview(LinkScope())
            self._home = overview.home if overview else ""
        report = Pull(self.source, self.target, self.link, self._state).by_xids(xids, cursor, self._home)
        self._state = report.state
        return report
