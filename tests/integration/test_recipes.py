"""The programs of docs/protocols.md do what the page says, against real brokers."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.brokers import Broker

pytestmark = pytest.mark.xdist_group("brokers")

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "protocols.md").read_text()

RECIPES = [
    ("kafka", "kafka_desk.py", "localhost:9092", "order.paid {'country': 'no', 'order': 'O4711'}"),
    ("mosquitto", "mqtt_desk.py", '"localhost", 1883', "station.tampered {'depot': 'oslo', 'station': 'S7'}"),
    ("nats", "nats_desk.py", "localhost:4222", "order.cancelled {'country': 'no', 'order': 'O4711'}"),
    ("artemis", "amqp_desk.py", "localhost:5672", "repair.reported {'workshop': 'W1'}"),
]


@pytest.mark.parametrize(("name", "title", "address", "says"), RECIPES, ids=[recipe[1] for recipe in RECIPES])
def test_it_runs(
    request: pytest.FixtureRequest, tmp_path: Path, name: str, title: str, address: str, says: str
) -> None:
    broker: Broker = request.getfixturevalue(name)
    (program,) = re.findall(rf'```python title="{re.escape(title)}"\n(.*?)```', PAGE, re.DOTALL)
    assert address in program
    ours = f'"127.0.0.1", {broker.port}' if "," in address else broker.address
    (tmp_path / title).write_text(program.replace(address, ours))
    command = [sys.executable, tmp_path / title]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stderr
    head, _, rest = done.stdout.strip().partition(" /messagegroups/")
    assert (head, rest.partition("/messages/")[2]) == ("landed", says)
