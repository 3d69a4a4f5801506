"""`postroom impact`: what a change of the catalog would have done to real messages."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click
import msgspec

from postroom.cli.command import key_option, postroom_command, registry_option, setting, settings_from, storage_options
from postroom.cli.output import print_json, print_table, progress
from postroom.cli.tidy import AGE
from postroom.errors import BadFlag

if TYPE_CHECKING:
    from postroom.catalog.catalog import Catalog
    from postroom.pipeline.impact.report import Estimate, ImpactReport
    from postroom.pipeline.impact.study import ImpactStudy, Samples
    from postroom.settings import Settings

SAMPLE = 100_000
# So many messages are judged before Spark has even started.
WITHOUT_SPARK = 100_000
SHOWN_DEATHS = 5


@postroom_command(example="postroom impact proposed.yaml --against ovens.yaml --lake lake")
@click.argument("new")
@click.option("--lake", required=True, metavar="PLACE", help="Folder or address that `postroom sort` filled.")
@click.option("--against", metavar="OLD", help="Compare with this catalog, not with what became of each message.")
@click.option("--endpoint", metavar="XID", help="Only by the messages of this endpoint, of both catalogs.")
@click.option("--since", type=AGE, metavar="AGE", help="Only messages that came so long ago at most: 7d, 12h, 30m.")
@click.option("--sample", type=click.IntRange(1), metavar="N", help=f"Judge so many at most. [default {SAMPLE:,}]")
@click.option("--all", "is_all", is_flag=True, help="Judge all messages that may fare otherwise.")
@click.option(
    "--samples",
    type=click.Choice(["shown", "masked", "off"]),
    default="shown",
    show_default=True,
    help="Show one message of each kind, without its values, or none.",
)
@click.option("--policy", metavar="FILE", help="What a change may do, as TOML; without it no message may die or move.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of tables.")
@click.option("--markdown", "as_markdown", is_flag=True, help="A comment in Markdown instead of tables.")
@click.option("--sarif", "as_sarif", is_flag=True, help="SARIF 2.1.0, for code hosts and editors, instead of tables.")
@setting("nulls", "strict|absent")
@setting("master", "URL")
@key_option
@registry_option
@setting("storage", "KEY=VALUE")
def command(
    new: str,
    lake: str,
    against: str | None,
    endpoint: str | None,
    since: timedelta | None,
    sample: int | None,
    is_all: bool,
    samples: Samples,
    policy: str | None,
    as_json: bool,
    as_markdown: bool,
    as_sarif: bool,
    nulls: str | None,
    master: str | None,
    storage: tuple[str, ...],
) -> int:
    """Say what a catalog would do to the messages of a lake; nothing is written there.

    Landed messages are judged by the exact records that the lake keeps (the setting keep_records), dead letters always,
    by the same rules as `postroom sort`. A message that the change cannot concern is not judged again. Of a sample,
    numbers are intervals that hold with 95% confidence. Exit 1 when that is against the policy: unless --policy says
    more, no message may die or land elsewhere.
    """
    from postroom.pipeline.spark.session import require_spark

    require_spark()
    from postroom.catalog.catalog import open_catalog
    from postroom.pipeline.impact.policy import ImpactPolicy, complaints, read_policy
    from postroom.pipeline.impact.study import prepare_study

    if sample is not None and is_all:
        raise BadFlag("--sample and --all do not go together.", remedy="Give one of them.")
    limits = ImpactPolicy() if policy is None else read_policy(policy)
    settings = settings_from(nulls=nulls, master=master)
    quiet = logging.getLogger("postroom").level >= logging.ERROR

    def opened(source: str) -> Catalog:
        catalog = open_catalog(source, settings=settings)
        return catalog.for_endpoint(endpoint) if endpoint else catalog

    with progress("looking for messages that the change concerns", quiet):
        study = prepare_study(
            opened(new),
            lake=lake,
            against=None if against is None else opened(against),
            since=None if since is None else datetime.now(UTC) - since,
            sample=None if is_all else sample or SAMPLE,
            samples=samples,
            names=(new, against or ""),
            storage_options=storage_options(storage),
        )
    report = _judged(study, settings, quiet)
    against_policy = complaints(report, limits)
    if as_json:
        print_json(msgspec.to_builtins(report) | {"complaints": against_policy})
    elif as_sarif:
        from postroom.documents.lint.sarif import sarif
        from postroom.pipeline.impact.findings import CODES, impact_findings

        print_json(sarif(impact_findings(report, new, settings, against_policy), "postroom impact", CODES))
    elif as_markdown:
        from postroom.pipeline.impact.markdown import markdown

        click.echo(markdown(report, against_policy), nl=False)
    else:
        print_impact(report)
        for complaint in against_policy if policy else ():
            click.echo(f"against the policy: {complaint}")
    return 1 if against_policy else 0


def _judged(study: ImpactStudy, settings: Settings, quiet: bool) -> ImpactReport:
    from postroom.pipeline.spark.session import spark_session

    if study.messages <= WITHOUT_SPARK:
        with progress(f"judging {study.messages:,} messages", quiet):
            return study.report()
    with (
        progress(f"judging {study.messages:,} messages on Spark, which takes some seconds to start", quiet),
        spark_session(settings.master) as spark,
    ):
        return study.report(spark)


def print_impact(report: ImpactReport) -> None:
    """What would become of messages, for people."""
    from postroom.pipeline.impact.sentences import judged_sentences, paper_sentences

    for sentence in judged_sentences(report):
        click.echo(sentence)
    if report.deaths:
        deaths = [(one.definition, one.outcome, one.code, one.at, _cell(one.messages)) for one in report.deaths]
        print_table("Would die", ("definition", "outcome", "reason", "at", "messages"), deaths)
        for line in _explained(report):
            click.echo(line)
    if report.moves:
        moves = [(one.definition, one.to, _cell(one.messages)) for one in report.moves]
        print_table("Would land elsewhere", ("definition", "lands in", "messages"), moves)
    if report.revivals:
        revivals = [(one.outcome, one.code, one.to, _cell(one.messages)) for one in report.revivals]
        print_table("Dead letters that would land", ("outcome", "reason", "lands in", "letters"), revivals)
    if report.tables:
        tables = [(one.table, one.kind.replace("_", " "), one.detail) for one in report.tables]
        print_table("Tables", ("table", "what", "detail"), tables)
    if report.producers:
        columns = ("sent by", "read from", "dying", "moving", "last seen")
        producers = [
            (one.origin, one.source, one.dying, one.moving, f"{one.last_seen:%Y-%m-%d %H:%M}" if one.last_seen else "")
            for one in report.producers
        ]
        print_table("Who sent them", columns, producers)
    for sentence in paper_sentences(report):
        click.echo(sentence)


def _cell(messages: Estimate) -> int | str:
    return messages.count if messages.is_exact else str(messages)


def _explained(report: ImpactReport) -> Iterator[str]:
    for death in report.deaths[:SHOWN_DEATHS]:
        if death.sample is not None:
            yield death.sample.explained
            if death.sample.record:
                yield f"           {death.sample.record}"
    if len(report.deaths) > SHOWN_DEATHS:
        yield f"… and {len(report.deaths) - SHOWN_DEATHS:,} more kinds (--json lists all)."
