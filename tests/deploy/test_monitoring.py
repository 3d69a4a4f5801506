"""The dashboard and the alerts name only metrics, labels and values that a running service really has."""

from __future__ import annotations

import json
import re
from typing import Any, get_args

import httpx
import pytest
import yaml
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from postroom.http.operations.metric_table import FAMILIES
from postroom.replication.subscriptions.delivery_progress import DeliveryStatus
from tests.deploy.serve_command import DEPLOY
from tests.http.running_service import serving

OF_SCRAPES = {"job", "instance"}
"""Labels that Prometheus adds to what it scrapes."""
LABELS = {family.name.removesuffix("_total"): {*family.labels} for family in FAMILIES}
WORDS = "sum min max rate topk histogram_quantile label_values"
SUFFIXES = {"histogram": ("_bucket", "_sum", "_count"), "counter": ("_total",), "gauge": ("",)}

_SELECTOR = re.compile(r"\b([a-z]\w*)(?:\{([^}]*)\}|(?=\[)|(?=\s*(?:[)><=,/*]|$)))")
_BY = re.compile(r"\bby \(([^)]*)\)")
_MATCHER = re.compile(r'(\w+)(=~|=)"([^"]*)"')


def dashboard() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((DEPLOY / "grafana-dashboard.json").read_text())
    return found


def rules() -> list[dict[str, Any]]:
    [group] = yaml.safe_load((DEPLOY / "prometheus-alerts.yaml").read_text())["groups"]
    return list(group["rules"])


def panels() -> list[dict[str, Any]]:
    return [panel for panel in dashboard()["panels"] if panel["type"] != "row"]


def expressions() -> list[str]:
    shown = [target["expr"] for panel in panels() for target in panel["targets"]]
    chosen = [one["query"]["query"] for one in dashboard()["templating"]["list"] if one["type"] == "query"]
    return [*shown, *chosen, *(rule["expr"] for rule in rules())]


@pytest.fixture(scope="module")
def metrics(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Metric]:
    """What `/metrics` of a service has that was written to and read from, by the names of its samples."""
    with serving(f"sqlite:///{tmp_path_factory.mktemp('registry')}/registry.db") as (_, url):
        httpx.put(f"{url}/messagegroups/ovens", json={})
        for _ in range(3):
            httpx.get(f"{url}/messagegroups/ovens")
        families = list(text_string_to_metric_families(httpx.get(f"{url}/metrics").text))
    return {family.name + suffix: family for family in families for suffix in SUFFIXES[family.type]}


def faults(expression: str, metrics: dict[str, Metric]) -> list[str]:
    """What an expression names that is not there."""
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
        labels = LABELS[metrics[name].name] | OF_SCRAPES | ({"le"} if name.endswith("_bucket") else set())
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


@pytest.mark.parametrize("expression", expressions())
def test_what_an_expression_names_is_there(expression: str, metrics: dict[str, Metric]) -> None:
    assert faults(expression, metrics) == []
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


def test_a_histogram_is_asked_for_quantiles_by_its_buckets() -> None:
    for expression in expressions():
        if "histogram_quantile" in expression:
            assert re.search(r"histogram_quantile\([\d.]+, sum by \(le[,)]", expression)
            assert "_bucket{" in expression


def test_the_dashboard_shows_every_metric_but_those_that_only_explain_others() -> None:
    text = " ".join(expressions())
    unseen = {family.name for family in FAMILIES if family.name not in text}
    assert unseen == {
        "postroom_change_log_newest_timestamp_seconds",
        "postroom_delivered_events_total",
        "postroom_delivery_lag_changes",
        "process_start_time_seconds",
    }


def test_panels_have_ids_titles_and_places_of_their_own() -> None:
    everything = dashboard()["panels"]
    assert len({panel["id"] for panel in everything}) == len(everything)
    assert len({panel["title"] for panel in everything}) == len(everything)
    cells: set[tuple[int, int]] = set()
    for panel in everything:
        place = panel["gridPos"]
        own = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not cells & own, panel["title"]
        assert place["x"] + place["w"] <= 24
        cells |= own


def test_panels_ask_the_data_source_job_and_instance_that_were_chosen() -> None:
    names = {one["name"] for one in dashboard()["templating"]["list"]}
    assert names == {"datasource", "job", "instance"}
    for panel in panels():
        assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
        for target in panel["targets"]:
            selectors = re.findall(r"\{([^}]*)\}", target["expr"])
            assert selectors
            assert all(one.startswith('job="$job",instance=~"$instance"') for one in selectors)
            assert set(re.findall(r"\$(\w+)", target["expr"])) <= names


def test_alerts_say_what_happened_how_bad_it_is_and_after_how_long() -> None:
    assert len({rule["alert"] for rule in rules()}) == len(rules())
    for rule in rules():
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert rule["annotations"]["summary"].endswith(".")
        assert re.fullmatch(r"\d+m", rule.get("for", "0m"))
        shown = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
        grouped = {label.strip() for found in _BY.findall(rule["expr"]) for label in found.split(",")}
        assert shown <= grouped | ({"instance"} if rule["expr"].startswith("up{") else set())


def test_the_page_says_what_to_do_about_each_alert() -> None:
    page = (DEPLOY.parent / "docs" / "how-to" / "running.md").read_text()
    assert re.findall(r"^\| `(Postroom\w+)` \|", page, re.MULTILINE) == [rule["alert"] for rule in rules()]
