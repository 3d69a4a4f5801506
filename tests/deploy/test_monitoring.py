"""The dashboards and the alerts name only metrics, labels and values that a service, or a sort, really has."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, get_args

import httpx
import pytest
import yaml
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from postroom.http.operations.metric_table import FAMILIES
from postroom.pipeline.lake.ledger import LedgerEntry
from postroom.pipeline.lake.manifest import SchemaChange
from postroom.pipeline.monitoring import sort_metrics
from postroom.pipeline.sources.lag import Lag
from postroom.prometheus_text import MetricFamily
from postroom.replication.subscriptions.delivery_progress import DeliveryStatus
from tests.deploy.serve_command import DEPLOY
from tests.http.running_service import serving

OF_SCRAPES = {"job", "instance"}
"""Labels that Prometheus adds to what it scrapes."""


class Monitored(NamedTuple):
    """What is monitored: its metrics, its files in deploy/, and what the dashboard does not show."""

    families: tuple[MetricFamily, ...]
    dashboard_file: str
    alerts_file: str
    unseen: frozenset[str]

    @property
    def labels(self) -> dict[str, set[str]]:
        return {family.name.removesuffix("_total"): {*family.labels} for family in self.families}

    @property
    def dashboard(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((DEPLOY / self.dashboard_file).read_text())
        return found

    @property
    def rules(self) -> list[dict[str, Any]]:
        [group] = yaml.safe_load((DEPLOY / self.alerts_file).read_text())["groups"]
        return list(group["rules"])

    @property
    def panels(self) -> list[dict[str, Any]]:
        return [panel for panel in self.dashboard["panels"] if panel["type"] != "row"]

    @property
    def expressions(self) -> list[str]:
        shown = [target["expr"] for panel in self.panels for target in panel["targets"]]
        chosen = [one["query"]["query"] for one in self.dashboard["templating"]["list"] if one["type"] == "query"]
        return [*shown, *chosen, *(rule["expr"] for rule in self.rules)]


SERVICE = Monitored(
    FAMILIES,
    "grafana-dashboard.json",
    "prometheus-alerts.yaml",
    frozenset(
        {
            "postroom_change_log_newest_timestamp_seconds",
            "postroom_delivered_events_total",
            "postroom_delivery_lag_changes",
            "process_start_time_seconds",
        }
    ),
)
SORT = Monitored(
    sort_metrics.FAMILIES,
    "grafana-dashboard-sort.json",
    "prometheus-alerts-sort.yaml",
    frozenset({"process_start_time_seconds"}),
)
BOTH = pytest.mark.parametrize("monitored", [SERVICE, SORT], ids=["service", "sort"])

WORDS = "sum min max rate increase delta min_over_time time topk histogram_quantile label_values on"
SUFFIXES = {"histogram": ("_bucket", "_sum", "_count"), "counter": ("_total",), "gauge": ("",)}

_SELECTOR = re.compile(r"\b([a-z]\w*)(?:\{([^}]*)\}|(?=\[)|(?=\s*(?:[)><=,/*]|$)))")
_BY = re.compile(r"\bby \(([^)]*)\)")
_MATCHER = re.compile(r'(\w+)(=~|=)"([^"]*)"')


@pytest.fixture(scope="module")
def metrics(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Metric]:
    """What `/metrics` of a service has that was written to and read from, by the names of its samples."""
    with serving(f"sqlite:///{tmp_path_factory.mktemp('registry')}/registry.db") as (_, url):
        httpx.put(f"{url}/messagegroups/ovens", json={})
        for _ in range(3):
            httpx.get(f"{url}/messagegroups/ovens")
        return by_sample(httpx.get(f"{url}/metrics").text)


@pytest.fixture(scope="module")
def metrics_of_sort() -> dict[str, Metric]:
    """What the port of a `sort` has that had a batch and is behind, by the names of its samples."""
    now = datetime.now(UTC)
    kept = sort_metrics.SortMetrics()
    kept.report(
        LedgerEntry(
            run="r", batch=0, source="inbox", catalog="c", read=3, landed={"/messagegroups/a/messages/b": 2},
            dead={"invalid": 1}, changes=(SchemaChange("a/b", "replaced"),), started=now, committed=now,
        )
    )  # fmt: skip
    kept.report(
        LedgerEntry(
            run="t", batch=0, source="tidy", catalog="c", read=0, landed={}, dead={}, changes=(), started=now,
            committed=now, kind="tidy",
        )
    )  # fmt: skip
    kept.behind({"inbox": Lag(files=3, bytes=9)})
    return by_sample(kept.text())


def by_sample(text: str) -> dict[str, Metric]:
    families = text_string_to_metric_families(text)
    return {family.name + suffix: family for family in families for suffix in SUFFIXES[family.type]}


def faults(expression: str, metrics: dict[str, Metric], monitored: Monitored = SERVICE) -> list[str]:
    """What an expression names that is not there."""
    known = monitored.labels
    used: set[str] = set()
    wrong: list[str] = []
    grouping = {label.strip() for found in _BY.findall(expression) for label in found.split(",")}
    bare = re.sub(r"label_values\((.*), \w+\)", r"label_values(\1)", _BY.sub("", expression))
    for name, selector in _SELECTOR.findall(bare):
        if name == "up":
            continue
        if name not in metrics:
            wrong.append(f"no metric {name}")
            continue
        labels = known[metrics[name].name] | OF_SCRAPES | ({"le"} if name.endswith("_bucket") else set())
        used |= labels
        for label, operator, text in _MATCHER.findall(selector):
            if label not in labels:
                wrong.append(f"{name} has no label {label}")
            elif operator == "=" and label not in OF_SCRAPES and text not in values(metrics[name], label):
                wrong.append(f"{name} has never {label}={text}")
    wrong += [f"nothing has the label {label} to group by" for label in grouping - used]
    words = set(re.findall(r"\b[a-z]\w*(?= ?\()", bare)) - set(WORDS.split())
    return wrong + [f"no function {word}" for word in words]


def values(family: Metric, label: str) -> set[str]:
    if (family.name, label) == ("postroom_subscriptions", "status"):
        return set(get_args(DeliveryStatus))
    return {sample.labels[label] for sample in family.samples}


@pytest.mark.parametrize("expression", SERVICE.expressions)
def test_what_an_expression_names_is_there(expression: str, metrics: dict[str, Metric]) -> None:
    assert faults(expression, metrics) == []


@pytest.mark.parametrize("expression", SORT.expressions)
def test_what_an_expression_about_sorts_names_is_there(expression: str, metrics_of_sort: dict[str, Metric]) -> None:
    assert faults(expression, metrics_of_sort, SORT) == []


@pytest.mark.parametrize("expression", [*SERVICE.expressions, *SORT.expressions])
def test_an_expression_is_whole(expression: str) -> None:
    assert _SELECTOR.search(expression), "it names something"
    for opened, closed in ("()", "[]", "{}"):
        assert expression.count(opened) == expression.count(closed)


@pytest.mark.parametrize(
    ("expression", "fault"),
    [
        ("sum(rate(postroom_requests_total[5m]))", "no metric postroom_requests_total"),
        ("rate(postroom_cache_requests[5m])", "no metric postroom_cache_requests"),
        ("max(postroom_streams)> 1 and postroom_stream > 1", "no metric postroom_stream"),
        ('sum(postroom_streams{pool="cheap"})', "postroom_streams has no label pool"),
        ('postroom_cache_requests_total{result="found"}', "postroom_cache_requests_total has never result=found"),
        ('max(postroom_subscriptions{status="lost"})', "postroom_subscriptions has never status=lost"),
        ("sum by (route) (postroom_streams)", "nothing has the label route to group by"),
        ("average(postroom_streams)", "no function average"),
    ],
)
def test_a_name_that_is_not_there_is_noticed(expression: str, fault: str, metrics: dict[str, Metric]) -> None:
    assert fault in faults(expression, metrics)


@BOTH
def test_a_histogram_is_asked_for_quantiles_by_its_buckets(monitored: Monitored) -> None:
    for expression in monitored.expressions:
        if "histogram_quantile" in expression:
            assert re.search(r"histogram_quantile\([\d.]+, sum by \(le[,)]", expression)
            assert re.search(r"_bucket[{\[]", expression)


@BOTH
def test_the_dashboard_shows_every_metric_but_those_that_only_explain_others(monitored: Monitored) -> None:
    text = " ".join(monitored.expressions)
    assert {family.name for family in monitored.families if family.name not in text} == monitored.unseen


@BOTH
def test_panels_have_ids_titles_and_places_of_their_own(monitored: Monitored) -> None:
    everything = monitored.dashboard["panels"]
    assert len({panel["id"] for panel in everything}) == len(everything)
    assert len({panel["title"] for panel in everything}) == len(everything)
    cells: set[tuple[int, int]] = set()
    for panel in everything:
        place = panel["gridPos"]
        own = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not cells & own, panel["title"]
        assert place["x"] + place["w"] <= 24
        cells |= own


@BOTH
def test_panels_ask_the_data_source_job_and_instance_that_were_chosen(monitored: Monitored) -> None:
    names = {one["name"] for one in monitored.dashboard["templating"]["list"]}
    assert names == {"datasource", "job", "instance"}
    for panel in monitored.panels:
        assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
        for target in panel["targets"]:
            selectors = re.findall(r"\{([^}]*)\}", target["expr"])
            assert selectors
            assert all(one.startswith('job="$job",instance=~"$instance"') for one in selectors)
            assert set(re.findall(r"\$(\w+)", target["expr"])) <= names


@BOTH
def test_alerts_say_what_happened_how_bad_it_is_and_after_how_long(monitored: Monitored) -> None:
    assert len({rule["alert"] for rule in monitored.rules}) == len(monitored.rules)
    for rule in monitored.rules:
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert rule["annotations"]["summary"].endswith(".")
        assert re.fullmatch(r"\d+m", rule.get("for", "0m"))
        shown = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
        grouped = {label.strip() for found in _BY.findall(rule["expr"]) for label in found.split(",")}
        assert shown <= grouped | ({"instance"} if rule["expr"].startswith("up{") else set())


@pytest.mark.parametrize(("monitored", "page"), [(SERVICE, "running.md"), (SORT, "running-streams.md")])
def test_the_page_says_what_to_do_about_each_alert(monitored: Monitored, page: str) -> None:
    text = Path(DEPLOY.parent / "docs" / "how-to" / page).read_text()
    assert re.findall(r"^\| `(Postroom\w+)` \|", text, re.MULTILINE) == [rule["alert"] for rule in monitored.rules]
