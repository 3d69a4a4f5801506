"""Links that a service runs by itself: kept in its store, changed over HTTP or with `postroom links`."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from postroom.catalog.credentials import REFERENCES
from postroom.errors import BadFlag
from postroom.model.names import is_entity_id
from postroom.outbound.policy import host_names, port_of
from postroom.registry.transaction_interface import Transaction
from postroom.replication.replicas.apply_units import LINKS, STATES
from postroom.replication.replicas.conflict_policy import ConflictPolicy
from postroom.replication.replicas.link import Link, Mode, read_state
from postroom.replication.replicas.scope import parse_scope
from postroom.settings import Settings
from postroom.urls import is_plain, masked, parse_url

RUNS = "linkrun"
LINK_VARIABLES = "env:LINK_KEY_"
"""What references to keys begin with that are given over HTTP."""

RunStatus = Literal["new", "running", "waiting", "failed", "off"]


class LinkConfig(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What somebody wants to be copied. This registry is one end, `remote` the other."""

    mode: Mode
    remote: str
    only: str = "/"
    renames: tuple[str, ...] = ()
    every: float = 60.0
    """Seconds between two pulls; `follow` and `push` do not need it."""
    adopt: bool = False
    authority: str = ""
    """Who is responsible for what was written here, for a push."""
    off: bool = False
    key: str = ""
    """Where the key for the other end is: `env:NAME` or `file:PATH`, never the key itself."""

    def link(self, link_id: str, home: str, settings: Settings) -> Link:
        """The link; at the target of a push its name has to be unlike those of other registries."""
        policy = ConflictPolicy(adopts=self.adopt, keeps_edits=settings.foreign_edits == "flag")
        name = f"{home}:{link_id}" if self.mode == "push" else link_id
        return Link(id=name, scope=parse_scope(self.only, self.renames), policy=policy)


class LinkRun(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a link is doing."""

    status: RunStatus = "new"
    error: str = ""
    at: str = ""


def check(link_id: str, config: LinkConfig, settings: Settings, *, files: bool) -> None:
    """Refuse a link that could not run; files are only for somebody who has the store at hand."""
    if not is_entity_id(link_id):
        raise BadFlag(f"{link_id[:80]!r} is no name for a link.", remedy="Letters, digits and - . _ ~ : @.")
    parse_scope(config.only, config.renames)
    if not 0.1 <= config.every <= 1e7:
        raise BadFlag("the time between two pulls is at least 0.1 seconds.")
    if "://" not in config.remote and not files:
        raise BadFlag("the other end must be a service, http(s)://….")
    if "://" in config.remote:
        check_host(config.remote, settings, files=files)
    if config.key:
        check_key(config.key, files=files)


def check_key(reference: str, *, files: bool) -> None:
    """Refuse a key that is not a reference.

    Over HTTP it names a variable that is meant for links: whoever manages them must not have other secrets of the
    service sent to a host.
    """
    if not reference.startswith(REFERENCES):
        raise BadFlag("the key of a link is kept by reference.", remedy="Write env:NAME or file:PATH.")
    if not files and not reference.startswith(LINK_VARIABLES):
        raise BadFlag(f"over HTTP the key of a link is in a variable, {LINK_VARIABLES}….")


def check_host(remote: str, settings: Settings, *, files: bool) -> None:
    """Refuse a host that the settings do not name."""
    parts = parse_url(remote)
    if parts is None:
        raise BadFlag("the address of the other end is no URL.")
    if parts.has_password:
        remedy = "Take it out; USER:PASSWORD may be in the variable or file that the key of the link names."
        raise BadFlag("the address of the other end has a password, and that is kept by reference.", remedy=remedy)
    if parts.scheme not in ("http", "https"):
        if files and parts.scheme in ("sqlite", "postgresql", "postgres"):
            return
        raise BadFlag("the other end must be a service, http(s)://….")
    host, place = parts.host, parts.host_and_port.lower()
    if not host or not is_plain(remote):
        raise BadFlag("the address of the other end has no host, or characters that no URL has.")
    if not ({"*"} | host_names(host, port_of(parts))) & {one.lower() for one in settings.link_hosts}:
        remedy = "The setting link_hosts names the hosts that links may reach."
        raise BadFlag(f"{place} is no host that links may reach.", remedy=remedy)


def configured(tx: Transaction) -> dict[str, LinkConfig]:
    """All links."""
    return {link_id: msgspec.json.decode(body, type=LinkConfig) for link_id, body in tx.records(LINKS)}


def put_link(tx: Transaction, link_id: str, config: LinkConfig) -> None:
    """Create or replace a link; how far it was is kept."""
    tx.put_record(LINKS, link_id, msgspec.json.encode(config))
    put_run(tx, link_id, LinkRun(status="off" if config.off else "new"))


def remove_link(tx: Transaction, link_id: str) -> bool:
    """Remove a link and what is known of it; what it brought stays. Whether it was there."""
    is_there = tx.record(LINKS, link_id) is not None
    for kind in (LINKS, RUNS, STATES):
        tx.delete_record(kind, link_id)
    return is_there


def put_run(tx: Transaction, link_id: str, run: LinkRun) -> None:
    """Note how a link is doing."""
    tx.put_record(RUNS, link_id, msgspec.json.encode(run))


def run_of(tx: Transaction, link_id: str) -> LinkRun:
    """How a link is doing."""
    stored = tx.record(RUNS, link_id)
    return msgspec.json.decode(stored, type=LinkRun) if stored else LinkRun()


def described(tx: Transaction, link_id: str, config: LinkConfig) -> dict[str, Any]:
    """A link with how it is doing, without secrets."""
    shown = msgspec.to_builtins(msgspec.structs.replace(config, remote=masked(config.remote)))
    run = run_of(tx, link_id)
    state = read_state(tx.record(STATES, link_id) or b"")
    found = {
        "status": run.status,
        "error": run.error,
        "at": state.at or run.at,
        "cursor": state.cursor,
        "resyncs": state.resyncs,
        "refused": state.refused,
        "kept": state.kept,
    }
    return {"id": link_id, **shown, **{name: value for name, value in found.items() if value}}
