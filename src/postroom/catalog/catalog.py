"""Catalogs opened from any source: match records, make messages."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from typing import Any

import msgspec

from postroom.catalog.sources import read_source
from postroom.catalog.subjects.schema_registry import read_schemas, registry_of
from postroom.catalog.subjects.subject_versions import SubjectVersions
from postroom.errors import DefinitionRefused, MessageUnknown, RecordRefused
from postroom.messages.definitions.catalog_tree import Tree, endpoint_messages
from postroom.messages.definitions.compile import compile_catalog
from postroom.messages.definitions.definition import CompiledCatalog, Definition
from postroom.messages.engine import Engine
from postroom.messages.gc_pause import no_garbage_collection
from postroom.messages.making.make import Maker
from postroom.messages.matching.dispatch import Handler, MessageDispatcher, Otherwise
from postroom.messages.matching.explain import explain_match
from postroom.messages.matching.outcome import Match
from postroom.messages.matching.record_input import as_record, taken_in
from postroom.protocols.cloudevents import Malformed
from postroom.protocols.records import Record, render_record
from postroom.settings import Settings, load_settings

log = logging.getLogger(__name__)


class MessageTemplate:
    """A definition used as a template."""

    def __init__(self, maker: Maker) -> None:
        self.maker = maker
        self.definition = maker.definition

    def make(
        self,
        values: Mapping[str, Any] | None = None,
        /,
        *,
        data: Any = None,
        protocol: str = "",
        mode: str = "",
        seed: int | None = None,
        **more: Any,
    ) -> dict[str, Any]:
        """A conformant record: constants set, placeholders filled, the payload checked.

        Placeholders are given by name, or in a mapping where a name is taken (`data`, `mode`, …).
        """
        variables = {**(values or {}), **more}
        rng = None if seed is None else random.Random(seed)  # noqa: S311 - sample data, no secrets
        return render_record(self.maker.make(variables, data, protocol=protocol, mode=mode, rng=rng))


class Catalog:
    """The message definitions of a catalog, resolved and compiled."""

    def __init__(
        self,
        tree: Tree,
        *,
        settings: Settings | None = None,
        compiled: CompiledCatalog | None = None,
        subjects: SubjectVersions | None = None,
    ) -> None:
        self.tree = tree
        self.settings = settings or Settings()
        self.refused: list[DefinitionRefused] = []
        if compiled is None:
            whole = tree if subjects is None else subjects.added_to(tree)
            compiled, self.refused = compile_catalog(whole, _fetcher(self.settings))
            compiled = compiled if subjects is None else subjects.known_to(compiled)
            compiled = msgspec.structs.replace(
                compiled,
                assert_formats=self.settings.assert_formats,
                schema_id_bytes=self.settings.schema_id_bytes,
            )
        self.compiled = compiled
        self._definitions = {definition.xid: definition for definition in compiled.definitions}

    @cached_property
    def engine(self) -> Engine:
        """The engine that sorts by this catalog."""
        return self.engine_like(None)

    def engine_like(self, other: Engine | None, max_batch: int | None = None) -> Engine:
        """An engine of its own; one for an earlier state of the catalog makes it quick."""
        return Engine(
            self.compiled,
            nulls=self.settings.nulls,
            max_record_mb=self.settings.max_record_mb,
            max_batch=max_batch,
            like=other,
        )

    @property
    def definitions(self) -> tuple[Definition, ...]:
        """All usable definitions."""
        return self.compiled.definitions

    @property
    def digest(self) -> str:
        """A short name for exactly these definitions."""
        return self.compiled.digest

    def match(self, record: Any) -> Match:
        """Which definition a record fits; a batch gives the match of its first message (`match_all` gives all)."""
        return (self.engine.match_line(record) if type(record) is bytes else self.match_all(record))[0]

    def match_all(self, record: Any) -> list[Match]:
        """One match per message of the record: a line, a dict, a `Record` or a row of a DataFrame. Never raises."""
        if type(record) is bytes:  # a line, as most are given
            return self.engine.match_line(record)
        try:
            line = taken_in(record)
        except RecordRefused as error:
            broken = Malformed("", "record_broken", "a record or a CloudEvent", error.sentence)
            return [self.engine.judged(broken).match]
        if isinstance(line, Record):
            return [result.match for result in self.engine.sort(line)]
        return self.engine.match_line(line)

    def explain(self, match: Match) -> str:
        """What became of a message and what would make it fit, in words; rules of a base message are named with it."""
        return explain_match(match, self.compiled.constraints(reason.message for reason in match.reasons))

    def dispatcher(
        self, handlers: Mapping[str, Handler], otherwise: Otherwise | None = None
    ) -> Callable[[Any], list[Any]]:
        """A function that takes records and calls the handler of the definition each message fits.

        Handlers are named by xid (or id, where only one definition has it) and get a `DispatchedMessage`; `otherwise`
        gets the match and the record of every message that has no handler or does not land.
        """
        named = {self._find(name).xid: handler for name, handler in handlers.items()}
        dispatch = MessageDispatcher(self.engine, named, otherwise)
        return lambda record: dispatch(as_record(record))

    def message(self, xid: str) -> MessageTemplate:
        """The definition with that xid (or id, where only one has it), as a template."""
        return MessageTemplate(Maker(self._find(xid), self.engine, schema_ids=self.settings.write_schema_ids))

    def _find(self, name: str) -> Definition:
        found = self._definitions.get("/" + name.strip("/"))
        if found is not None:
            return found
        named = [definition for definition in self.definitions if definition.id == name]
        if len(named) == 1:
            return named[0]
        if named:
            choices = ", ".join(definition.xid for definition in named[:5])
            raise MessageUnknown(f"several messages are called {name!r}: {choices}.", remedy="Give the whole xid.")
        refused = next((error for error in self.refused if name in error.place), None)
        if refused is not None:
            raise refused
        raise MessageUnknown(f"the catalog has no message {name!r}.", remedy=self._suggestion(name))

    def _suggestion(self, name: str) -> str:
        import difflib

        ids = {definition.id: definition.xid for definition in self.definitions}
        close = difflib.get_close_matches(name.rpartition("/")[2], ids, n=1)
        return f"Did you mean {ids[close[0]]}?" if close else f"It has {len(ids)} messages."

    def for_endpoint(self, xid: str) -> Catalog:
        """The contract of an endpoint: its own messages, those of its message groups, and those that either borrow."""
        xids = endpoint_messages(self.tree, xid)
        chosen = tuple(definition for definition in self.definitions if definition.xid in xids)
        compiled = msgspec.structs.replace(self.compiled, definitions=chosen, endpoint="/" + xid.strip("/"))
        return Catalog(self.tree, settings=self.settings, compiled=compiled)


def _fetcher(settings: Settings) -> Callable[[str], str | None] | None:
    """A function that fetches schemas and base messages from the allowed hosts; None where none is allowed."""
    if not settings.allow_fetch:
        return None
    from postroom.outbound.client import allowed_fetcher
    from postroom.outbound.policy import FetchRefused

    fetcher = allowed_fetcher(settings.allow_fetch, settings.timeout_s, settings.max_document_mb)

    @cache
    def fetch(url: str) -> str | None:
        try:
            return fetcher(url).decode("utf-8-sig")
        except (FetchRefused, UnicodeDecodeError) as error:
            log.warning("%s", error)
            return None

    return fetch


def open_catalog(
    source: str, *, settings: Settings | None = None, key: str = "", subjects: SubjectVersions | None = None
) -> Catalog:
    """Open a catalog: a file, a folder, `http(s)://…` or `sqlite:///…`.

    `key` is for a service that wants one: the key itself, `env:NAME` or `file:PATH`. `subjects` are those of the schema
    registry that the settings name, where they were read before.
    """
    chosen = settings or load_settings()
    if key:
        chosen = msgspec.structs.replace(chosen, key=key)
    if subjects is None and chosen.schema_registry:
        subjects = SubjectVersions(read_schemas(registry_of(chosen)), chosen)
    with no_garbage_collection():
        return Catalog(read_source(str(source), chosen), settings=chosen, subjects=subjects)
