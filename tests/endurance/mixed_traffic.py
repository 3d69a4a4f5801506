"""Mixed traffic on a service with one worker, and its memory: `python -m tests.endurance.mixed_traffic --minutes 30`.

After the first five minutes, or the first third of a shorter run, memory stays within 1.1 of what it was then.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import httpx

from tests.endurance.service_client import SETTINGS
from tests.endurance.write_storm import EventLog
from tests.http.running_service import serving
from tests.replication.subscriptions.receivers import Receiver

CLIENTS = 8
GROUPS, MESSAGES = 20, 100
SAMPLE_SECONDS = 2.0
PAUSE_SECONDS = 0.002
WARM_MINUTES = 5.0
MOST = 1.1
EVENT = {"specversion": "1.0", "id": "1", "source": "/ovens/1", "type": "oven.g3.m7", "data": {"degrees": 180}}


class Client:
    """Asks for this and that, one request at a time, and counts the answers."""

    def __init__(self, number: int, url: str) -> None:
        self._random = random.Random(number)
        self._client = httpx.Client(base_url=url, timeout=60)
        self._etag = ""
        self.statuses: Counter[int] = Counter()

    def run(self, until: float) -> None:
        """Go on until a time."""
        kinds = [self.read, self.read, self.read, self.read_unchanged, self.replace, self.change, self.add_version]
        kinds += [self.read_collection, self.filter, self.match, self.make_and_delete, self.read_changes, self.miss]
        rare: list[Callable[[], httpx.Response]] = [self.export, self.import_group]
        with self._client:
            while time.monotonic() < until:
                ask = self._random.choice(rare if self._random.random() < 0.01 else kinds)
                self.statuses[ask().status_code] += 1
                time.sleep(PAUSE_SECONDS)

    def _group(self) -> str:
        return f"/messagegroups/g{self._random.randrange(GROUPS)}"

    def _message(self) -> str:
        return f"{self._group()}/messages/m{self._random.randrange(MESSAGES)}"

    def _name(self) -> str:
        return f"Oven {self._random.random()}"

    def read(self) -> httpx.Response:
        return self._client.get(self._message())

    def read_unchanged(self) -> httpx.Response:
        answer = self._client.get("/model", headers={"If-None-Match": self._etag} if self._etag else {})
        self._etag = answer.headers.get("etag", "")
        return answer

    def read_collection(self) -> httpx.Response:
        return self._client.get(f"{self._group()}/messages")

    def filter(self) -> httpx.Response:
        return self._client.get("/messagegroups", params={"filter": f"messages.name={self._name()}"})

    def export(self) -> httpx.Response:
        return self._client.get("/export")

    def replace(self) -> httpx.Response:
        path = self._message()
        _, _, group, _, number = path.split("/")
        return self._client.put(path, json=message(group, number, self._name()))

    def change(self) -> httpx.Response:
        return self._client.patch(self._group(), json={"name": self._name()})

    def add_version(self) -> httpx.Response:
        schema = {"type": "object", "title": self._name()}
        body = {"format": "JsonSchema/draft-07", "schema": schema, "versionid": f"v{self._random.randrange(20)}"}
        return self._client.post(f"/schemagroups/g/schemas/s{self._random.randrange(20)}$details", json=body)

    def make_and_delete(self) -> httpx.Response:
        path = f"{self._group()}/messages/new{self._random.random()}"
        self.statuses[self._client.put(path, json={"name": self._name()}).status_code] += 1
        return self._client.delete(path)

    def import_group(self) -> httpx.Response:
        group = self._random.randrange(GROUPS)
        return self._client.put(f"/messagegroups/g{group}", json={"messages": members(group)})

    def match(self) -> httpx.Response:
        return self._client.post("/match", json=EVENT)

    def read_changes(self) -> httpx.Response:
        return self._client.get("/changes", params={"after": "last", "limit": "10"})

    def miss(self) -> httpx.Response:
        return self._client.get(f"/messagegroups/none{self._random.random()}")


def message(group: str, number: str, name: str) -> dict[str, object]:
    kind = {"type": {"value": f"oven.{group}.{number}"}, "source": {"type": "uritemplate", "value": "/ovens/{oven}"}}
    return {"name": name, "envelope": "CloudEvents/1.0", "envelopemetadata": kind, "description": "What an oven did. "}


def members(group: int) -> dict[str, object]:
    return {f"m{n}": message(f"g{group}", f"m{n}", f"Message {n}") for n in range(MESSAGES)}


def memory_of(process: int) -> int:
    """What a process has in memory, in megabytes; its own pages, for those of files come and go."""
    status = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("RssAnon")) // 1024


def run(minutes: float) -> int:
    """Send traffic, look at the memory now and then, and say what was seen; 1 where it grew or something failed."""
    warm = min(WARM_MINUTES, minutes / 3) * 60
    # Nobody is refused: writers wait their turn on a busy machine, too.
    settings = {**SETTINGS, "POSTROOM_WRITE_WAIT_S": "60", "POSTROOM_CHANGES_KEPT": "5000"}
    with (
        tempfile.TemporaryDirectory(prefix="postroom-traffic-") as folder,
        serving(f"sqlite:///{folder}/registry.db", "--workers", "1", **settings) as found,
    ):
        process, url = found
        receiver, begun = Receiver(), time.monotonic()
        tree = {f"g{group}": {"messages": members(group)} for group in range(GROUPS)}
        assert httpx.patch(url, json={"messagegroups": tree}, timeout=120).status_code == 200
        assert httpx.post(f"{url}/subscriptions", json={"sink": receiver.url, "protocol": "HTTP"}).status_code == 201
        threading.Thread(target=EventLog().run, args=(url,), daemon=True).start()
        clients = [Client(number, url) for number in range(CLIENTS)]
        threads = [threading.Thread(target=one.run, args=(begun + minutes * 60,), daemon=True) for one in clients]
        for thread in threads:
            thread.start()
        before, after = [memory_of(process.pid)], [memory_of(process.pid)]
        while any(thread.is_alive() for thread in threads):
            time.sleep(SAMPLE_SECONDS)
            seconds = time.monotonic() - begun
            receiver.asked.clear()
            (before if seconds <= warm else after).append(memory_of(process.pid))
            if len(before + after) % 30 == 0:
                done = sum(sum(one.statuses.values()) for one in clients)
                print(f"{seconds / 60:5.1f} min   {(before + after)[-1]} MB   {done:,} requests", flush=True)
        receiver.close()
    statuses = sum((one.statuses for one in clients), Counter[int]())
    failed = {status: count for status, count in statuses.items() if status >= 500}
    ratio = max(after) / max(before)
    shown = json.dumps(dict(sorted(statuses.items())))
    print(f"{minutes:g} minutes, {statuses.total():,} requests {shown}")
    print(f"memory: {max(before)} MB in the first {warm / 60:g} minutes, {max(after)} MB after them, {ratio:.2f} ×")
    return 1 if failed or ratio > MOST or not statuses else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    sys.exit(run(parser.parse_args().minutes))
