"""The dead letters of a lake: by reason, with their counts over time, the definitions concerned and one of each."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from postroom.http.server.response import Response
from postroom.messages.matching.outcome import OUTCOMES
from postroom.registry.problems import RegistryProblem
from postroom.ui.lake.lake_commands import LakeUnreadable, ask_lake, lake_page, require_lake, typed, unreadable
from postroom.ui.page import PageRequest
from postroom.ui.rendering.charts import TimeChart, time_charts

MOST_GROUPS = 100
MOST_MESSAGES = 8
MOST_DYING = 5


def answer_dead_letters(page: PageRequest) -> Response:
    """All groups of dead letters, the most frequent first."""
    lake, outcome = require_lake(page), page.query.get("outcome", "")
    command = ("dead", "--outcome", known_outcome(outcome, page)) if outcome else ("dead",)
    try:
        (groups,) = ask_lake(page, command)
    except LakeUnreadable as error:
        return unreadable(page, lake, error)
    charts = time_charts([[(_second(one["from"]), one["letters"]) for one in group["times"]] for group in groups])
    return lake_page(
        page,
        "lake_dead.html",
        "/-/lake/dead",
        groups,
        outcome=outcome,
        outcomes=[one for one in OUTCOMES if one != "landed"],
        total=sum(group["letters"] for group in groups),
        groups=[_shown(lake, *pair) for pair in zip(groups[:MOST_GROUPS], charts, strict=False)],
        more=max(0, len(groups) - MOST_GROUPS),
        command=typed(*command, "--lake", lake),
    )


def answer_dying(page: PageRequest) -> Response:
    """What died last, by reason: a part of the first page."""
    lake = require_lake(page)
    try:
        (groups,) = ask_lake(page, ("dead",))
    except LakeUnreadable as error:
        return unreadable(page, lake, error)
    newest = sorted(groups, key=lambda one: str(one["last_seen"]), reverse=True)[:MOST_DYING]
    total = sum(group["letters"] for group in groups)
    return lake_page(page, "lake_dying.html", "/-/lake/dead", newest, groups=newest, total=total)


def known_outcome(text: str, page: PageRequest) -> str:
    """One of the outcomes of dead letters."""
    if text not in OUTCOMES or text == "landed":
        detail = f"there is no outcome {text[:40]!r} of dead letters"
        raise RegistryProblem("bad_request", page.request.path, error_detail=detail)
    return text


def condition_of(outcome: str, code: str) -> str:
    """The SQL condition of the letters of a group."""
    return f"outcome = '{outcome}' AND coalesce(reasons[1].code, '') = '{code}'"


def _shown(lake: str, group: dict[str, Any], chart: TimeChart) -> dict[str, Any]:
    messages = sorted(group["messages"].items(), key=lambda one: (-one[1], one[0]))
    where = condition_of(group["outcome"], group["code"])
    return group | {
        "chart": chart,
        "messages": messages[:MOST_MESSAGES],
        "more": max(0, len(messages) - MOST_MESSAGES),
        "command": typed("dead", "--lake", lake, "--where", where),
    }


def _second(time: str) -> int:
    return int(datetime.fromisoformat(time).astimezone(UTC).timestamp())
