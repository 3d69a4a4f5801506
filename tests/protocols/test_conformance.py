"""The scenarios of the CloudEvents conformance suite, where it is beside the checkout, and our own in the same form."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
import yaml

from postroom.catalog.catalog import Catalog
from postroom.protocols.cloudevents import Malformed, Message, unwrap, wrap
from postroom.protocols.records import JSON_EVENT, Record
from tests.protocols.gherkin import Scenario, Step, read_feature

OWN = Path(__file__).parent / "features"


class Play:
    """Acts out the steps of a scenario."""

    def __init__(self) -> None:
        self.protocol = ""
        self.headers: Any = None
        self.payload = b""
        self.message: Message | None = None

    def act(self, scenario: Scenario) -> None:
        for step in scenario.steps:
            action = self._ACTIONS[step.words.partition(" ")[2].rstrip(":")]
            action(self, step)
        assert self.message is not None

    def _http_request(self, step: Step) -> None:
        head, _, body = step.text.partition("\n\n")
        split = [line.partition(":") for line in head.splitlines()[1:]]
        self.protocol, self.payload = "HTTP", body.encode()
        self.headers = [{"name": name.strip(), "value": value.strip()} for name, _, value in split]

    def _kafka_payload(self, step: Step) -> None:
        self.protocol, self.payload = "KAFKA", step.text.encode()

    def _kafka_headers(self, step: Step) -> None:
        self.headers = step.pairs

    def _parse(self, step: Step) -> None:
        (message,) = unwrap(Record(self.protocol, {"headers": self.headers}, self.payload))
        assert isinstance(message, Message), message
        self.message = message

    def _attributes(self, step: Step) -> None:
        assert self.message is not None
        assert self.message.attributes == step.pairs

    def _data(self, step: Step) -> None:
        assert self.message is not None
        assert json.loads(self.message.body) == json.loads(step.text)

    _ACTIONS: ClassVar[dict[str, Callable[[Play, Step], None]]] = {
        "an HTTP request": _http_request,
        "a Kafka message with payload": _kafka_payload,
        "Kafka headers": _kafka_headers,
        "parsed as HTTP request": _parse,
        "parsed as Kafka message": _parse,
        "the attributes are": _attributes,
        "the data is equal to the following JSON": _data,
    }


@pytest.mark.parametrize(
    "scenario",
    [scenario for path in sorted(OWN.glob("*.feature")) for scenario in read_feature(path)],
    ids=lambda scenario: scenario.name,
)
def test_our_scenarios(scenario: Scenario) -> None:
    Play().act(scenario)


@pytest.mark.parametrize(("binding", "count"), [("http", 4), ("kafka", 3)])
def test_the_scenarios_of_the_suite(shared: Path, binding: str, count: int) -> None:
    path = shared / "suites" / "cloudevents-conformance" / f"{binding}-protocol-binding.feature"
    scenarios = read_feature(path)
    for scenario in scenarios:
        Play().act(scenario)
    assert len(scenarios) >= count


def events(folder: Path, version: str) -> list[tuple[dict[str, Any], bytes]]:
    """The events of the suite of one version: attributes, with extensions among them, and data."""
    paths = [
        folder / f"{version}.yaml",
        *(folder / version.replace("v03", "v0.3").replace("v1", "v1.0")).glob("*.yaml"),
    ]
    found = []
    for path in paths:
        # As texts: `specversion: 1.0` is not a number.
        for event in yaml.load_all(path.read_text(), Loader=yaml.BaseLoader):
            attributes = dict(event["ContextAttributes"])
            found.append((attributes | attributes.pop("Extensions", {}), event["Data"].encode()))
    return found


@pytest.mark.parametrize("mode", ["binary", "structured"])
@pytest.mark.parametrize("protocol", ["HTTP", "KAFKA", "AMQP/1.0", "MQTT/5.0", "NATS"])
def test_the_events_of_the_suite_travel(shared: Path, protocol: str, mode: str) -> None:
    found = events(shared / "suites" / "cloudevents-conformance", "v1")
    assert len(found) >= 8
    for attributes, data in found:
        (message,) = unwrap(wrap(protocol, {}, attributes, data, mode))
        assert isinstance(message, Message)
        assert message.attributes == attributes
        same = message.body == data
        assert same or json.loads(message.body) == json.loads(data)


@pytest.mark.feature("MSG-057")
def test_events_of_version_0_3_do_not_land(shared: Path) -> None:
    """A definition is for CloudEvents/1.0, and the outcome says that the version is the reason."""
    catalog = Catalog(
        {
            "messagegroups": {
                "suite": {
                    "messages": {
                        kind: {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": kind}}}
                        for kind in ("com.example.someevent", "io.cloudevents.minimum")
                    }
                }
            }
        }
    )
    found = events(shared / "suites" / "cloudevents-conformance", "v03")
    assert len(found) >= 7
    for attributes, data in found:
        structured = json.dumps({**attributes, "data": data.decode()}).encode()
        (refused,) = unwrap(Record("HTTP", {"headers": {"content-type": JSON_EVENT}}, structured))
        assert isinstance(refused, Malformed)
        assert (refused.code, refused.found) == ("specversion_unknown", "0.3")
        binary = catalog.match(Record("KAFKA", {"headers": {f"ce_{n}": v for n, v in attributes.items()}}, data))
        assert (binary.outcome, binary.reasons[0].at, binary.reasons[0].found) == (
            "invalid",
            "/envelopemetadata/specversion",
            "0.3",
        )
