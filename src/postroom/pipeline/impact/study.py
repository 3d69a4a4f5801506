"""The impact of a change: judge the messages of a lake by a proposed catalog, and compare with what became of them."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from postroom.catalog.catalog import Catalog, open_catalog
from postroom.catalog.lint import lint_source
from postroom.documents.diff.change import CatalogChange
from postroom.documents.diff.compare import differences
from postroom.documents.lint.findings import Finding
from postroom.errors import BadFlag
from postroom.messages.definitions.catalog_tree import find_message
from postroom.messages.matching.explain import explain_match
from postroom.messages.matching.outcome import Match, Reason
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.impact.affected import CatalogChanges, place_of, schema_places
from postroom.pipeline.impact.judge_task import (
    JUDGED,
    MOST_IN_RECORD,
    ImpactTask,
    MessageVerdict,
    MessageVerdicts,
    judge_records,
    open_proposed,
    record_batches,
    run_impact,
)
from postroom.pipeline.impact.report import DefinitionImpact, ForecastTable, ImpactReport, MessageSample
from postroom.pipeline.impact.snapshot import LakeSnapshot
from postroom.pipeline.impact.stored_messages import Comparison, Counted, StoredMessages
from postroom.pipeline.impact.totals import LANDED, Drawn, ImpactTotals
from postroom.pipeline.lake.commit_plan import TablePlans
from postroom.pipeline.lake.lake import Lake, Place, open_lake
from postroom.pipeline.lake.text_tables import text_tables
from postroom.pipeline.sources.dataframe import record_lines
from postroom.pipeline.spark.cluster import check_shared
from postroom.pipeline.spark.worker_calls import call_workers
from postroom.pipeline.spark.workers import prepare_workers, runs_here
from postroom.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Samples = Literal["shown", "masked", "off"]

SHOWN_CHARACTERS = 300
# Reasons that say under `expected` what stands in the message.
_TELLING_EXPECTED = ("variable_conflict", "payload_additional_properties")


class ImpactStudy:
    """A question that was prepared: which messages have to be judged is known, and none is judged yet."""

    def __init__(
        self,
        lake: Lake,
        new: Catalog,
        old: Catalog | None = None,
        *,
        since: datetime | None = None,
        sample: int | None = None,
        samples: Samples = "shown",
        names: tuple[str, str] = ("", ""),
    ) -> None:
        if sample is not None and sample < 1:
            raise BadFlag("a sample has at least one message.", remedy="Leave it out to judge all messages.")
        self._lake = lake
        self._new, self._old = new, old
        self._since, self._samples, self._names = since, samples, names
        compiled = old.compiled if old is not None else None
        snapshot = LakeSnapshot(lake)
        self._comparison = Comparison(snapshot, new.compiled, compiled)
        self._stored = StoredMessages(snapshot, self._comparison, since, sample)
        self._job, self._compiled = _job(lake, new), new.compiled.encode()

    @property
    def messages(self) -> int:
        """How many messages there are to judge."""
        return int(self._stored.landed.num_rows + self._stored.dead.num_rows)

    def report(self, spark: SparkSession | None = None) -> ImpactReport:
        """Judge them, in this process or on Spark, and say what would become of them."""
        messages, verdicts, schemas = self.judged(spark)
        stored = self._stored
        drawn = Drawn((stored.landed.num_rows, stored.judgeable), (stored.dead.num_rows, stored.letters))
        totals = ImpactTotals(messages, verdicts, drawn)
        changes, findings = self._static()
        return ImpactReport(
            lake=self._lake.url,
            catalog=self._new.digest,
            against=self._old.digest if self._old is not None else "",
            since=self._since,
            landed=sum(one.landed for one in stored.counts.values()),
            unaffected=sum(one.unaffected for one in stored.counts.values()),
            without_record=sum(one.without_record for one in stored.counts.values()),
            judgeable=stored.judgeable,
            judged=stored.landed.num_rows,
            letters=stored.letters,
            letters_judged=stored.dead.num_rows,
            same=totals.estimate(lambda fate: fate.stays),
            dying=totals.estimate(lambda fate: fate.is_dying),
            moving=totals.estimate(lambda fate: fate.is_moving),
            reviving=totals.estimate(lambda fate: fate.is_reviving),
            definitions=self._definitions(totals, changes),
            deaths=totals.deaths(self._explain),
            moves=totals.moves(),
            revivals=totals.revivals(),
            tables=self.forecast(schemas),
            producers=totals.producers(),
            changes=changes,
            findings=findings,
        )

    def judged(
        self, spark: SparkSession | None = None
    ) -> tuple[pa.Table, list[MessageVerdict], dict[str, tuple[str, bytes]]]:
        """Each message with the number of its verdict by either catalog (`base`, `next`), the verdicts, and the columns
        of the tables that messages would land in, by folder."""
        messages = pa.concat_tables([_marked(self._stored.landed, False), _marked(self._stored.dead, True)])
        numbers = self._stored.verdicts
        found, schemas = self._judge(spark, messages, self._new, numbers)
        by_old = messages.column("by_old")
        if self._old is not None and pc.any(by_old).as_py():
            earlier, _ = self._judge(spark, messages.filter(by_old), self._old, numbers)
            base = pc.if_else(by_old, _looked_up(messages, earlier), messages.column("base"))
            messages = messages.set_column(messages.schema.get_field_index("base"), "base", base)
        messages = messages.append_column("next", _looked_up(messages, found))
        # What came out of its record differently than before was read by another version or with other settings.
        is_known = pc.and_(pc.is_valid(messages.column("next")), pc.is_valid(messages.column("base")))
        return messages.filter(is_known), list(numbers), schemas

    def _judge(
        self, spark: SparkSession | None, messages: pa.Table, catalog: Catalog, numbers: dict[MessageVerdict, int]
    ) -> tuple[pa.Table, dict[str, tuple[str, bytes]]]:
        groups = self._stored.tasks(messages)
        job, compiled, storage = _job(self._lake, catalog), catalog.compiled.encode(), self._lake.storage
        if spark is None or not groups:
            answers = [judge_records(ImpactTask(job, compiled, group), storage) for group in groups]
        else:
            if not runs_here(spark):
                check_shared(self._lake.url, "a lake", catalog.settings)
                prepare_workers(spark, catalog.settings)
            argument = pickle.dumps((job, compiled, groups, storage))
            done = call_workers(spark.range(0, len(groups), 1, len(groups)), run_impact, argument)
            answers = [msgspec.msgpack.decode(answer, type=MessageVerdicts) for answer in done]
        parts = [JUDGED.empty_table()]
        schemas: dict[str, tuple[str, bytes]] = {}
        for answer in answers:
            table = pa.ipc.open_stream(answer.messages).read_all()
            ours = pa.array([numbers.setdefault(one, len(numbers)) for one in answer.verdicts], pa.int32())
            verdicts = pc.take(ours, table.column("verdict"))
            parts.append(table.set_column(1, JUDGED.field("verdict"), verdicts))
            schemas |= answer.schemas
        return pa.concat_tables(parts), schemas

    def _explain(self, chosen: list[tuple[int, MessageVerdict]]) -> list[MessageSample | None]:
        """Some messages explained, as the settings allow it; the records of all are looked up together."""
        if self._samples == "off":
            return [None] * len(chosen)
        lines: dict[int, bytes] = {}
        for part in self._stored.records(message for message, _ in chosen):
            for batch in record_batches(part, self._lake.storage):
                records = record_lines(batch.drop_columns(["source", "position", "record_id"]))
                lines |= dict(zip(batch.column("position").to_pylist(), records, strict=True))
        return [self._sample(lines[message // MOST_IN_RECORD], message, verdict) for message, verdict in chosen]

    def _sample(self, line: bytes, message: int, verdict: MessageVerdict) -> MessageSample:
        engine, _ = open_proposed(self._compiled, self._job)
        match = engine.sort_exactly(line)[message % MOST_IN_RECORD].match
        if match.outcome != verdict.outcome:  # its table cannot hold it
            reason = Reason(verdict.message, verdict.at, verdict.code, "values that the table's columns can hold")
            match = Match("invalid", verdict.message, {}, (), (reason,))
        if self._samples == "masked":
            match = msgspec.structs.replace(match, reasons=tuple(map(_masked, match.reasons)), variables={})
            line = b""
        constraints = self._new.compiled.constraints(reason.message for reason in match.reasons)
        record = line.decode(errors="replace")
        shown = record if len(record) <= SHOWN_CHARACTERS else record[:SHOWN_CHARACTERS] + "…"
        return MessageSample(explain_match(match, constraints), shown)

    def forecast(self, schemas: dict[str, tuple[str, bytes]]) -> list[ForecastTable]:
        """What would become of tables, by the plan that a batch has."""
        plans = TablePlans(self._lake, self._job, sorted(schemas))
        found = []
        for folder in sorted(schemas):
            xid, schema = schemas[folder]
            _, change = plans.target(folder, schema, xid)
            if change is not None:
                found.append(ForecastTable(change.table, xid, change.kind, change.detail))
        return found

    def _static(self) -> tuple[list[CatalogChange], list[Finding]]:
        """What a comparison of the catalogs says, and what lint says of the new one and not of the old one."""
        if self._old is None:
            return [], _lint(self._names[0], self._new.settings)
        changes = differences(self._old.tree, self._new.tree, self._new.settings.strict_compatibility)
        known = {(one.code, one.pointer) for one in _lint(self._names[1], self._old.settings)}
        found = [one for one in _lint(self._names[0], self._new.settings) if (one.code, one.pointer) not in known]
        return changes, found

    def _definitions(self, totals: ImpactTotals, changes: list[CatalogChange]) -> list[DefinitionImpact]:
        """Those definitions that changed, or whose messages fare otherwise."""
        latest = self._comparison.latest()
        names = set(latest.changed if latest is not None else ())
        for fate in totals.fates:
            if not fate.stays and fate.before != fate.after:
                names |= {fate.before.message if fate.before.outcome == LANDED else fate.after.message}
                names |= {fate.after.message} if fate.after.outcome == LANDED else set()
        names |= {xid for xid, counted in self._stored.counts.items() if counted.without_record}
        by_definition = self._changes_by_definition(changes)
        found = [self._definition(totals, xid, latest, by_definition.get(xid, [])) for xid in sorted(names - {""})]
        return sorted(found, key=lambda one: (-one.dying.count, -one.moving.count, one.definition))

    def _definition(
        self, totals: ImpactTotals, xid: str, latest: CatalogChanges | None, changes: list[CatalogChange]
    ) -> DefinitionImpact:
        counted = self._stored.counts.get(xid, Counted())
        mine = [fate for fate in totals.fates if fate.before.outcome == LANDED and fate.before.message == xid]
        coming = [fate for fate in totals.fates if fate.after.outcome == LANDED and fate.after.message == xid]
        estimate = totals.drawn.estimate
        becomes = ""
        if any(fate.after.outcome == "ambiguous" for fate in mine):
            becomes = "ambiguous"
        elif mine and not counted.unaffected and not coming and latest is not None and latest.kind(xid) != "removed":
            becomes = "" if any(fate.after.message == xid for fate in mine) else "unreachable"
        return DefinitionImpact(
            definition=xid,
            change=latest.kind(xid) if latest is not None else "unknown",
            landed=counted.landed,
            unaffected=counted.unaffected,
            without_record=counted.without_record,
            judged=sum(fate.messages for fate in mine),
            same=estimate([fate for fate in mine if fate.stays]),
            dying=estimate([fate for fate in mine if fate.is_dying]),
            moving=estimate([fate for fate in mine if fate.is_moving]),
            arriving=estimate([fate for fate in coming if fate.is_moving]),
            reviving=estimate([fate for fate in coming if fate.is_reviving]),
            becomes=becomes,
            deprecated=self._is_deprecated(xid),
            changes=changes,
        )

    def _is_deprecated(self, xid: str) -> bool:
        """Whether the new catalog calls a definition deprecated, or the old one did before it went."""
        trees = (catalog.tree for catalog in (self._new, self._old) if catalog is not None)
        found = next((message for tree in trees if (message := find_message(tree, xid)) is not None), None)
        return found is not None and bool(found.message.get("deprecated"))

    def _changes_by_definition(self, changes: list[CatalogChange]) -> dict[str, list[CatalogChange]]:
        """What changed about definitions, and about the schemas that they refer to."""
        found: dict[str, list[CatalogChange]] = {}
        for catalog in (self._old, self._new):
            if catalog is not None:
                places = {place_of(one.xid): [one.xid] for one in catalog.definitions} | schema_places(
                    catalog.definitions
                )
                for change in changes:
                    parts = change.place.split("/")
                    for xid in places.get("/".join(parts[:5]), ()):
                        if change not in found.setdefault(xid, []):
                            found[xid].append(change)
        return found


def impact(
    new: str | Path | Catalog,
    *,
    lake: Place,
    against: str | Path | Catalog | None = None,
    since: datetime | None = None,
    sample: int | None = None,
    samples: Samples = "shown",
    spark: SparkSession | None = None,
    storage_options: Mapping[str, str] | None = None,
) -> ImpactReport:
    """What a proposed catalog would do to the messages of a lake: landed rows by their kept records, and dead letters.

    It is compared with the catalog `against`, or with what became of each message. Only messages `since` a moment are
    looked at, and of those that may fare otherwise at most `sample` rows and as many letters, drawn at random, are
    judged. `samples` in the report are `shown`, `masked` (without values) or `off`. Nothing is written to the lake.
    """
    return prepare_study(
        new, lake=lake, against=against, since=since, sample=sample, samples=samples, storage_options=storage_options
    ).report(spark)


def prepare_study(
    new: str | Path | Catalog,
    *,
    lake: Place,
    against: str | Path | Catalog | None = None,
    since: datetime | None = None,
    sample: int | None = None,
    samples: Samples = "shown",
    names: tuple[str, str] = ("", ""),
    storage_options: Mapping[str, str] | None = None,
) -> ImpactStudy:
    """Find out which messages of a lake have to be judged, for a caller who then decides where.

    `names` are where catalogs that are open already came from, for lint.
    """
    proposed = new if isinstance(new, Catalog) else open_catalog(str(new))
    before = against if isinstance(against, Catalog) or against is None else open_catalog(str(against))
    named = [
        name if isinstance(one, Catalog) else str(one or "") for one, name in zip((new, against), names, strict=True)
    ]
    return ImpactStudy(
        open_lake(lake, storage_options),
        proposed,
        before,
        since=since,
        sample=sample,
        samples=samples,
        names=(named[0], named[1]),
    )


def _job(lake: Lake, catalog: Catalog) -> Job:
    settings = catalog.settings
    return Job(
        lake.url,
        catalog.digest,
        settings.nulls,
        "impact",
        0,
        datetime.now(UTC),
        settings.max_record_mb,
        keep_undeclared=settings.keep_undeclared,
        times=settings.times,
        text_tables=text_tables(lake),
    )


def _marked(messages: pa.Table, is_letter: bool) -> pa.Table:
    return messages.append_column("is_letter", pa.repeat(is_letter, messages.num_rows))


def _looked_up(messages: pa.Table, judged: pa.Table) -> pa.ChunkedArray:
    """The numbers of the verdicts of messages; null where there is none."""
    places = pc.index_in(messages.column("message"), judged.column("message"))
    return pc.take(judged.column("verdict"), places)


def _lint(source: str, settings: Settings) -> list[Finding]:
    return lint_source(source, settings) if source else []


def _masked(reason: Reason) -> Reason:
    """A reason without values of the message."""
    expected = "…" if reason.code in _TELLING_EXPECTED else reason.expected
    return msgspec.structs.replace(reason, found="…", expected=expected)
