"""The public scenarios that AxonOps checks its schema registry and Confluent's by, asked of our mount.

AXONOPS_FEATURES names the folder `tests/bdd/features` of a checkout of github.com/axonops/axonops-schema-registry; of
its commit 1e0f16d, 1,547 of 1,596 scenarios are right. `scenario_differences.toml` says why the others are not.
"""

from __future__ import annotations

import asyncio
import os
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from postroom.catalog.open_store import open_store
from postroom.http.server.app import create_app
from postroom.settings import Settings
from tests.http.confluent.gherkin import Scenario, read_scenarios
from tests.http.confluent.scenario_steps import ScenarioRun, UnknownSentence
from tests.http.requests import AsgiClient

GUIDE = Path(__file__).parents[3] / "docs" / "how-to" / "schema-registry.md"
DIFFERENCES = Path(__file__).with_name("scenario_differences.toml")
NOT_FOR_CONFLUENT = frozenset(
    [
        *("@operational", "@import", "@axonops-only", "@contexts", "@pending-impl", "@data-contracts", "@analysis"),
        *("@auth", "@oidc", "@jwt", "@mtls", "@kms", "@mcp", "@audit", "@audit-outputs"),
        *("@memory", "@postgres", "@mysql", "@cassandra"),
    ]
)
"""Tags of the scenarios that the suite leaves out where it is run against Confluent's schema registry."""


@pytest.fixture(scope="module")
def scenarios() -> list[Scenario]:
    named = os.environ.get("AXONOPS_FEATURES")
    if not named:
        pytest.skip("NOT HERE: axonops/axonops-schema-registry (AXONOPS_FEATURES); its scenarios did not run")
    return [one for one in read_scenarios(Path(named)) if not one.tags & NOT_FOR_CONFLUENT]


def play(scenario: Scenario, database: Path) -> str | None:
    """What is wrong with the answers of a new registry, if anything is."""
    with open_store(f"sqlite:///{database}") as store, asyncio.Runner() as runner:
        try:
            ScenarioRun(AsgiClient(create_app(store, Settings())), runner).play(scenario)
        except AssertionError as error:
            return str(error)
    return None


@pytest.fixture(scope="module")
def wrong(scenarios: list[Scenario], tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What is answered otherwise, and how."""
    folder = tmp_path_factory.mktemp("scenarios")
    found = {}
    seen: Counter[tuple[str, str]] = Counter()
    for number, scenario in enumerate(scenarios):
        seen[scenario.feature, scenario.title] += 1
        again = f" ({count})" if (count := seen[scenario.feature, scenario.title]) > 1 else ""
        if why := play(scenario, folder / f"{number}.db"):
            found[f"{scenario.feature}, {scenario.title}{again}"] = why
    return found


def test_answers_differ_only_where_that_is_argued(wrong: dict[str, str]) -> None:
    kinds = tomllib.loads(DIFFERENCES.read_text()).values()
    argued = {scenario for kind in kinds for scenario in kind["scenarios"]}
    assert {name: why for name, why in wrong.items() if name not in argued} == {}
    assert argued - wrong.keys() == set(), "these are right: take them off the list"


def test_nearly_all_scenarios_are_right(scenarios: list[Scenario], wrong: dict[str, str]) -> None:
    assert len(scenarios) > 1500
    assert len(wrong) <= 0.05 * len(scenarios)


def test_the_guide_says_how_many_are_right(scenarios: list[Scenario], wrong: dict[str, str]) -> None:
    page = " ".join(GUIDE.read_text().split())
    for number in (len(scenarios), len(scenarios) - len(wrong), len(wrong)):
        assert f" {number:,} " in page or f" {number:,}:" in page


BAKERY = """
@bakery
Feature: Ovens
  Background:
    Given the global compatibility level is "BACKWARD"

  Scenario Outline: The level of a subject
    When I set the config for subject "ovens" to "<level>"
    Then the response field "compatibility" should be "<level>"
    Examples:
      | level |
      | NONE  |
      | FULL  |

  @old @slow
  Scenario: An oven is found by its id
    Given subject "ovens" has "JSON" schema:
      \"\"\"
      {"type": "object",
        "title": "Oven"}
      \"\"\"
    And I store the response field "id" as "oven"
    # What was registered above
    When I GET "/schemas/ids/{{oven}}"
    Then the response status should be 200
    And the response should contain "Oven"
    And the audit log should contain an event:
      | subject | ovens |

  Scenario: There is no version 2
    When 3 goroutines register the same Avro schema to subject "ovens"
    Then all returned schema IDs should be identical
    And subject "ovens" should have exactly 2 versions

  Scenario: A new sentence
    When I warm up the ovens
"""


@pytest.fixture
def bakery(tmp_path: Path) -> list[Scenario]:
    (tmp_path / "ovens").mkdir()
    (tmp_path / "ovens" / "bakery.feature").write_text(BAKERY)
    return read_scenarios(tmp_path)


def test_scenarios_are_read_from_feature_files(bakery: list[Scenario]) -> None:
    none, full, found, *_ = bakery
    assert [none.title, full.title] == ["The level of a subject (NONE)", "The level of a subject (FULL)"]
    assert [step.sentence for step in full.steps] == [
        'the global compatibility level is "BACKWARD"',
        'I set the config for subject "ovens" to "FULL"',
        'the response field "compatibility" should be "FULL"',
    ]
    assert (found.feature, found.tags) == ("ovens/bakery.feature", {"@bakery", "@old", "@slow"})
    assert found.steps[1].text == '{"type": "object",\n  "title": "Oven"}'


def test_scenarios_are_right_or_say_at_which_step_they_are_wrong(bakery: list[Scenario], tmp_path: Path) -> None:
    *right, wrong, unknown = bakery
    assert [play(one, tmp_path / f"{number}.db") for number, one in enumerate(right)] == [None] * 3
    why = play(wrong, tmp_path / "wrong.db")
    assert why is not None
    assert why.startswith('subject "ovens" should have exactly 2 versions: ')
    assert why.endswith("; 200 [1]")
    with pytest.raises(UnknownSentence, match="I warm up the ovens"):
        play(unknown, tmp_path / "unknown.db")
