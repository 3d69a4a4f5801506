"""What a change of the catalog may do to messages: a file of limits, and what a report has against them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

import msgspec

from postroom.errors import DocumentBroken, DocumentRefused, FileMissing
from postroom.pipeline.impact.report import DefinitionImpact, ImpactReport, estimated

# A number of messages, or a share of them such as "0.5%".
Limit = int | str
_SHARE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*%\Z")
_LIMITED = ("dying", "moving", "without_record")


class ImpactRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits for definitions whose xids fit a pattern (`*` stands for anything); what is left out, others say."""

    definitions: str
    dying: Limit | None = None
    moving: Limit | None = None
    without_record: Limit | None = None
    ambiguous: bool | None = None
    unreachable: bool | None = None
    breaking_on_paper: bool | None = None


class ImpactPolicy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits for all definitions, and rules for some, of which the first that fits counts.

    `replaced_tables` says whether tables may get a successor; `deprecated`, whether definitions that are called so are
    judged like others or exempt.
    """

    dying: Limit = 0
    moving: Limit = 0
    without_record: Limit = "100%"
    ambiguous: bool = True
    unreachable: bool = True
    breaking_on_paper: bool = True
    replaced_tables: bool = True
    deprecated: Literal["exempt", "judged"] = "judged"
    rules: list[ImpactRule] = []


def read_policy(path: str | Path) -> ImpactPolicy:
    """The policy of a TOML file."""
    place = str(path)
    try:
        members: dict[str, Any] = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        policy = msgspec.convert(members, ImpactPolicy)
    except FileNotFoundError:
        raise FileMissing("there is no such file.", place=place) from None
    except OSError as error:
        raise FileMissing(f"cannot be read: {error.strerror}.", place=place) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DocumentBroken(f"this is not valid TOML: {error}.", place=place) from None
    except msgspec.ValidationError as error:
        names = ", ".join(ImpactPolicy.__struct_fields__)
        raise DocumentRefused(f"{error}.", place=place, remedy=f"A policy has {names}.") from None
    for limits in (policy, *policy.rules):
        for name in _LIMITED:
            limit = getattr(limits, name)
            if isinstance(limit, str) and _SHARE.match(limit) is None:
                raise DocumentRefused(
                    f"{name} is {limit!r}, which is no limit.",
                    place=place,
                    remedy='Write a number, or a share like "1%".',
                )
    return policy


def complaints(report: ImpactReport, policy: ImpactPolicy) -> list[str]:
    """What in a report is against a policy; of a sample, what is certain at 95%."""
    return [*_of_definitions(report, policy), *_of_tables(report, policy)]


def _of_definitions(report: ImpactReport, policy: ImpactPolicy) -> Iterator[str]:
    for one in report.definitions:
        if one.deprecated and policy.deprecated == "exempt":
            continue
        limits = _for(one, policy)
        for words, limit, found in (
            ("would die", limits.dying, one.dying),
            ("would land elsewhere", limits.moving, one.moving),
            ("could not be judged", limits.without_record, estimated(one.without_record, 0, 0)),
        ):
            if found.low > _most(limit, one):
                yield f"{one.definition}: {found} of {one.landed:,} messages {words}, and the limit is {limit}."
        if (one.becomes == "ambiguous" and not limits.ambiguous) or (
            one.becomes == "unreachable" and not limits.unreachable
        ):
            yield f"{one.definition} becomes {one.becomes}."
        if one.breaking_on_paper and not limits.breaking_on_paper:
            yield f"{one.definition} is broken on paper."


def _for(definition: DefinitionImpact, policy: ImpactPolicy) -> ImpactPolicy:
    """The limits for a definition: those of its rule, and of all where that says nothing."""
    rule = next((rule for rule in policy.rules if fnmatchcase(definition.definition, rule.definitions)), None)
    if rule is None:
        return policy
    stated = {name: limit for name, limit in msgspec.structs.asdict(rule).items() if limit is not None}
    stated.pop("definitions")
    return msgspec.structs.replace(policy, **stated)


def _of_tables(report: ImpactReport, policy: ImpactPolicy) -> Iterator[str]:
    exempt = {one.definition for one in report.definitions if one.deprecated and policy.deprecated == "exempt"}
    for table in report.tables:
        if table.kind == "replaced" and not policy.replaced_tables and table.definition not in exempt:
            yield f"{table.definition} would go on in the table {table.table}: {table.detail}."


def _most(limit: Limit, definition: DefinitionImpact) -> float:
    if isinstance(limit, int):
        return limit
    share = _SHARE.match(limit)
    return float(share[1]) / 100 * definition.landed if share else 0
