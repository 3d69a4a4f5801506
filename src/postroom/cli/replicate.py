"""`postroom replicate`: copy catalogs, keep copies up to date, and prove that they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from postroom.cli.command import postroom_command, setting, settings_from
from postroom.cli.output import print_json, print_table, progress

if TYPE_CHECKING:
    from postroom.replication.replicas.follow import LinkFollower
    from postroom.replication.replicas.link import Link
    from postroom.replication.replicas.peers.peer import ReplicaSource, ReplicaTarget
    from postroom.replication.replicas.pull import PullReport
    from postroom.settings import Settings

MOST_NAMED = 3
"""So many xids with the same reason have a line each."""


@click.group("replicate", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Copy a catalog, keep the copy up to date, and prove that it is.

    SOURCE and TARGET are services (ours or any xRegistry 1.0 service), stores, files or folders. What came from a
    catalog still belongs to it: its copy wins, and what was written at the target is never overwritten.
    """


def link_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """What all of the commands need to know which link is meant."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="JSON instead of sentences and tables."),
        click.option("--target-key", default="", metavar="KEY", help="Key for TARGET: itself, env:NAME or file:PATH."),
        click.option("--source-key", default="", metavar="KEY", help="Key for SOURCE: itself, env:NAME or file:PATH."),
        click.option("--authority", default="", metavar="URI", help="Who is responsible for a source in files."),
        click.option("--plain", is_flag=True, help="Use nothing but the specification's API, also with a Postroom."),
        click.option("--name", default="", metavar="ID", help="Name of the link; follows from the rest by default."),
        click.option("--rename", multiple=True, metavar="OLD=NEW", help="What an xid is called at the target."),
        click.option("--only", default="/", metavar="XID", help="One group or one definition instead of everything."),
        click.argument("target"),
        click.argument("source"),
    ):
        function = option(function)
    return function


@contextmanager
def opened(
    source: str,
    target: str,
    only: str,
    rename: tuple[str, ...],
    name: str,
    plain: bool,
    authority: str,
    adopt: bool = False,
    reads: bool = False,
    source_key: str = "",
    target_key: str = "",
    **flags: Any,
) -> Iterator[tuple[ReplicaSource, ReplicaTarget, Link]]:
    """Both ends of a link, and the link."""
    from postroom.replication.replicas.conflict_policy import ConflictPolicy
    from postroom.replication.replicas.link import Link, link_id
    from postroom.replication.replicas.peers.open import open_source, open_target
    from postroom.replication.replicas.scope import parse_scope

    settings = settings_from(**flags)
    scope = parse_scope(only, rename)
    begin = open_source(source, _for_end(settings, source_key, target), plain=plain, authority=authority)
    try:
        end = open_target(target, _for_end(settings, target_key, source), plain=plain, reads=reads)
        try:
            policy = ConflictPolicy(adopts=adopt, keeps_edits=settings.foreign_edits == "flag")
            yield begin, end, Link(id=name or link_id(begin.name, end.name, scope), scope=scope, policy=policy)
        finally:
            end.close()
    finally:
        begin.close()


def _for_end(settings: Settings, key: str, other: str) -> Settings:
    """The settings for one end. Where both are services, the setting key does not say which it is for: none gets it."""
    import msgspec

    from postroom.urls import scheme_of

    is_clear = scheme_of(other) not in ("http", "https")
    return msgspec.structs.replace(settings, key=key or (settings.key if is_clear else ""))


@postroom_command(example="postroom replicate pull demo/catalog sqlite:///catalog.db", name="pull")
@link_options
@click.option("--adopt", is_flag=True, help="Take over what was written at the target, too.")
@click.option("--every", type=float, default=0.0, metavar="SECONDS", help="Again and again, until it is stopped.")
@setting("foreign_edits")
def pull(every: float, as_json: bool, foreign_edits: str | None, **chosen: Any) -> int:
    """Take over the differences between SOURCE and TARGET; exit 1 when something was refused or in conflict."""
    from postroom.replication.replicas.follow import LinkFollower
    from postroom.replication.replicas.pull import Pull

    with opened(foreign_edits=foreign_edits, **chosen) as (source, target, link):
        if every > 0:
            return _go_on(LinkFollower(source, target, link).by_difference(every), as_json)
        with progress(f"Pulling from {source.name}"):
            report = Pull(source, target, link).by_difference()
    return _say(report, as_json)


@postroom_command(example="postroom replicate push demo/catalog copy.yaml --once", name="push")
@link_options
@click.option("--once", is_flag=True, help="Push what changed since the last time, and stop.")
@setting("foreign_edits")
def push(once: bool, as_json: bool, foreign_edits: str | None, **chosen: Any) -> int:
    """Push every change of SOURCE to TARGET as it happens, until it is stopped."""
    return _by_changes(once, as_json, foreign_edits, chosen)


@postroom_command(example="postroom replicate follow demo/catalog sqlite:///copy.db --once", name="follow")
@link_options
@click.option("--once", is_flag=True, help="Take over what changed since the last time, and stop.")
@setting("foreign_edits")
def follow(once: bool, as_json: bool, foreign_edits: str | None, **chosen: Any) -> int:
    """Listen to the change events of SOURCE and take over into TARGET exactly what changed, until it is stopped.

    A source without change events is compared as a whole every ten seconds.
    """
    return _by_changes(once, as_json, foreign_edits, chosen)


def _by_changes(once: bool, as_json: bool, foreign_edits: str | None, chosen: dict[str, Any]) -> int:
    from postroom.replication.replicas.follow import LinkFollower

    with opened(foreign_edits=foreign_edits, **chosen) as (source, target, link):
        following = LinkFollower(source, target, link)
        return _go_on(_pending(following) if once else following.by_changes(), as_json)


def _pending(following: LinkFollower) -> Iterator[PullReport]:
    """What is pending, and a report without anything in it where nothing is."""
    from postroom.replication.replicas.pull import PullReport

    report, began = None, following.source.requests
    for report in following.pending():
        yield report
    if report is None:
        yield PullReport(requests=following.source.requests - began)


def _go_on(reports: Iterator[PullReport], as_json: bool) -> int:
    return max((_say(report, as_json) for report in reports), default=0)


@postroom_command(example="postroom replicate verify demo/catalog demo/catalog", name="verify")
@link_options
def verify(as_json: bool, **chosen: Any) -> int:
    """Say which xids differ; exit 1 when there are any."""
    from postroom.replication.replicas.verify import differences

    count = 0
    with opened(reads=True, **chosen) as (source, target, link):
        for found in differences(source, target, link):
            count += 1
            if as_json:
                print_json(found)
            else:
                click.echo(f"{found.why:<10} {found.xid}")
    if not count and not as_json:
        click.echo("no differences")
    return 1 if count else 0


@postroom_command(example="postroom replicate status demo/catalog demo/catalog", name="status")
@link_options
def status(as_json: bool, **chosen: Any) -> None:
    """Say how far a link is: when the target last had everything, what is pending, which groups differ."""
    from postroom.replication.replicas.verify import status_of

    with opened(reads=True, **chosen) as (source, target, link):
        found = status_of(source, target, link)
    document = found.document()
    if as_json:
        print_json(document)
        return
    for name in ("link", "source", "target", "at", "cursor", "pending", "units", "resyncs"):
        click.echo(f"{name:<8} {'-' if document[name] is None else document[name]}")
    for name in ("refused", "kept"):
        for line in _by_reason(document[name]):
            click.echo(f"{name:<8} {line}")
    if found.uncompared:
        count = len(found.uncompared)
        which = "1 group has no digest" if count == 1 else f"{count:,} groups have no digest"
        click.echo(f"unknown  {which}; postroom replicate verify compares {'it' if count == 1 else 'them'}")
    if found.differing:
        rows = [(one.xid, one.source, one.target) for one in found.differing]
        print_table("groups that differ", ("group", "at the source", "at the target"), rows)


def _say(report: PullReport, as_json: bool) -> int:
    from postroom.replication.replicas.link import REPORTED

    outcome = report.outcome
    conflicts = {xid: why for xid, why in outcome.kept.items() if why in REPORTED}
    if as_json:
        print_json(
            {
                "taken": outcome.taken,
                "deleted": outcome.deleted,
                "conflicts": conflicts,
                "refused": outcome.refused,
                "requests": report.requests,
                "cursor": report.state.cursor or None,
            }
        )
    else:
        asked = f"{report.requests:,} request{'' if report.requests == 1 else 's'}"
        click.echo(f"took {len(outcome.taken):,}, deleted {len(outcome.deleted):,}, {asked}")
        for line in (*_by_reason(conflicts), *_by_reason(outcome.refused)):
            click.echo(f"  {line}", err=True)
    return 1 if conflicts or outcome.refused else 0


def _by_reason(reasons: Mapping[str, str]) -> Iterator[str]:
    """A line for each xid with its reason, and one for all where many have the same."""
    same: dict[str, list[str]] = {}
    for xid, why in reasons.items():
        same.setdefault(why, []).append(xid)
    for why, xids in same.items():
        if len(xids) > MOST_NAMED:
            yield f"{', '.join(xids[:2])} and {len(xids) - 2:,} more: {why}"
        else:
            yield from (f"{xid}: {why}" for xid in xids)


for each in (pull, push, follow, status, verify):
    command.add_command(each)
