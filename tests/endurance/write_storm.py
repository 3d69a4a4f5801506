"""Writers that keep a service busy and remember every answer, and what has to be there when it was killed."""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import httpx

FORMAT = "JsonSchema/draft-07"

Body = dict[str, Any]


class NotAnswered(Exception):
    """Whether a write was done is not known."""


class Writer:
    """Writes to groups of its own and remembers every acknowledged answer, and the one write it never heard back of."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.random = random.Random(number)
        self.serial = 0
        self.count = 0
        self.known: dict[str, Body] = {}
        """Acknowledged entities by xid, as they were answered."""
        self.epochs: dict[str, int] = {}
        """Epochs of groups, which move with their members too."""
        self.pending: tuple[str, str, Body] | None = None
        """Method, xid and body of the write in flight when the server died."""
        self.client = httpx.Client()

    def run(self, url: str) -> None:
        with httpx.Client(base_url=url, timeout=30) as self.client:
            try:
                while True:
                    self.random.choice(self._choices())()
            except (httpx.HTTPError, NotAnswered):
                return

    def _choices(self) -> list[Callable[[], None]]:
        choices = [self.make_group, self.post_version]
        if self._of_kind("messagegroups", 2):
            choices += [self.rename_group, self.make_message, self.make_message]
        if self._of_kind("messages", 4):
            choices += [self.replace_message, self.patch_message, self.patch_message, self.delete_message]
        if len(self._of_kind("messagegroups", 2)) > 6:
            choices += [self.delete_group]
        if self._of_kind("versions", 6):
            choices += [self.patch_version, self.delete_newest_version]
        return choices

    def _of_kind(self, plural: str, parts: int) -> list[str]:
        return [xid for xid in self.known if xid.count("/") == parts and xid.split("/")[-2] == plural]

    def _any(self, plural: str, parts: int) -> str:
        return self.random.choice(self._of_kind(plural, parts))

    def _name(self) -> str:
        self.serial += 1
        return f"writer {self.number}, write {self.serial}"

    def _send(self, method: str, xid: str, body: Body) -> Body:
        self.pending = (method, xid, body)
        answer = self.client.request(method, xid, json=body if method != "DELETE" else None)
        if answer.status_code == 503:
            raise NotAnswered
        assert answer.status_code in (200, 201, 204), answer.text
        self.pending = None
        self.count += 1
        return relative(answer.json()) if answer.content else {}

    def make_group(self) -> None:
        self.serial += 1
        xid = f"/messagegroups/w{self.number}-{self.serial}"
        messages = {f"m{n}": {"name": self._name()} for n in range(3)}
        made = self._send("PUT", f"{xid}?inline=messages", {"name": self._name(), "messages": messages})
        self.take_group(made)

    def take_group(self, made: Body) -> None:
        for message in made.pop("messages").values():
            self.known[message["xid"]] = message
        self.known[made["xid"]] = made
        self.epochs[made["xid"]] = made["epoch"]

    def rename_group(self) -> None:
        xid = self._any("messagegroups", 2)
        self.known[xid] = self._send("PATCH", xid, {"name": self._name(), "epoch": self.epochs[xid]})
        self.epochs[xid] = self.known[xid]["epoch"]

    def make_message(self) -> None:
        group = self._any("messagegroups", 2)
        self.serial += 1
        xid = f"{group}/messages/n{self.serial}"
        self.known[xid] = self._send("PUT", xid, {"name": self._name()})
        self.epochs[group] += 1

    def replace_message(self) -> None:
        xid = self._any("messages", 4)
        self.known[xid] = self._send("PUT", xid, {"name": self._name(), "labels": {"by": str(self.number)}})

    def patch_message(self) -> None:
        xid = self._any("messages", 4)
        self.known[xid] = self._send("PATCH", xid, {"name": self._name(), "epoch": self.known[xid]["epoch"]})

    def delete_message(self) -> None:
        xid = self._any("messages", 4)
        self._send("DELETE", xid, {})
        self.forget(xid)

    def delete_group(self) -> None:
        xid = self._any("messagegroups", 2)
        self._send("DELETE", xid, {})
        self.forget(xid)

    def post_version(self) -> None:
        schema = {"type": "object", "title": self._name()}
        body = {"format": FORMAT, "name": self._name(), "schema": schema}
        made = self._send("POST", f"{self.schema}$details", body)
        self.known[made["xid"]] = {**made, "schema": schema}

    def patch_version(self) -> None:
        xid = self._any("versions", 6)
        self.known[xid] = self._send("PATCH", f"{xid}$details?inline=schema", {"name": self._name()})

    def delete_newest_version(self) -> None:
        xid = max(self._of_kind("versions", 6), key=lambda xid: int(xid.rpartition("/")[2]))
        self._send("DELETE", xid, {})
        self.forget(xid)

    @property
    def schema(self) -> str:
        return f"/schemagroups/w{self.number}/schemas/oven"

    def forget(self, gone: str) -> None:
        for xid in [xid for xid in self.known if xid == gone or xid.startswith(gone + "/")]:
            del self.known[xid]
            self.epochs.pop(xid, None)
        if "/messages/" in gone:
            self.epochs[gone.partition("/messages/")[0]] += 1

    def settle(self, found: dict[str, Body]) -> bool:
        """The write in flight happened wholly or not at all; take over what it was. Whether it happened."""
        if self.pending is None:
            return False
        method, target, body = self.pending
        xid = target.partition("?")[0].removesuffix("$details")
        self.pending = None
        now = found.get(xid)
        if method == "DELETE":
            happened = now is None
            if happened:
                self.forget(xid)
        elif method == "POST":
            new = [one for one in found if one.startswith(xid + "/versions/") and one not in self.known]
            happened = bool(new)
            assert len(new) <= 1
            self.known.update((one, found[one]) for one in new)
            assert [found[one]["name"] for one in new] == [body["name"]] * happened
        else:
            happened = now is not None and now["name"] == body["name"]
            if happened:
                self._take_over(xid, body, found)
        return happened

    def _take_over(self, xid: str, body: Body, found: dict[str, Body]) -> None:
        now, before = found[xid], self.known.get(xid)
        if before is not None:
            previous = self.epochs.get(xid, before["epoch"])
            assert now["epoch"] == previous + 1
        for one, message in body.get("messages", {}).items():
            assert found[f"{xid}/messages/{one}"]["name"] == message["name"]
            self.known[f"{xid}/messages/{one}"] = found[f"{xid}/messages/{one}"]
        self.known[xid] = now
        if "/messages/" not in xid and "/versions/" not in xid:
            self.epochs[xid] = now["epoch"]
        elif before is None:
            self.epochs[xid.partition("/messages/")[0]] += 1

    def check(self, found: dict[str, Body]) -> None:
        """What is there is what was acknowledged: nothing missing, nothing more, nothing different."""
        mine = {xid for xid in found if f"/w{self.number}-" in xid or xid.startswith(self.schema + "/versions/")}
        assert mine == set(self.known)
        for xid, acknowledged in self.known.items():
            if xid in self.epochs:
                assert found[xid]["epoch"] == self.epochs[xid]
                assert found[xid]["name"] == acknowledged["name"]
            else:
                assert entity(found[xid]) == entity(acknowledged)


def relative(body: Any) -> Any:
    """A body without the server's own address."""
    if isinstance(body, dict):
        urls = {name for name in body if name == "self" or name.endswith("url")}
        return {name: relative(value) for name, value in body.items() if name not in urls}
    return body


def entity(body: Body) -> Body:
    """What belongs to one entity alone: another Version may become the default, collections have members."""
    return {name: value for name, value in body.items() if name not in ("isdefault", "meta", "versions")}


def everything(url: str) -> dict[str, Body]:
    """All entities of a running registry by xid."""
    root = relative(httpx.get(url, params={"inline": "*"}, timeout=60).json())
    found: dict[str, Body] = {}
    for group in (*root["messagegroups"].values(), *root["schemagroups"].values()):
        found[group["xid"]] = group
        for plural in ("messages", "schemas"):
            for resource in group.get(plural, {}).values():
                found[resource["xid"]] = resource
                if plural == "schemas":
                    found.update((version["xid"], version) for version in resource["versions"].values())
    return found


class EventLog:
    """Follows the changes of a service by its stream, from where it was, as long as there is one to follow."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self._after = ""

    def run(self, url: str) -> None:
        """Read events until the connection ends."""
        headers = {"Accept": "text/event-stream", **({"Last-Event-ID": self._after} if self._after else {})}
        with suppress(httpx.HTTPError), httpx.stream("GET", f"{url}/changes", headers=headers, timeout=60) as stream:
            place = ""
            for line in stream.iter_lines():
                name, _, value = line.partition(": ")
                if name == "id":
                    place = value
                elif name == "data":
                    self.ids.append(json.loads(value)["id"])
                elif not line and place:  # a frame that is cut short moves nothing
                    self._after = place


class Storm:
    """Writers and followers of a registry, and the notes of what became of what was in flight."""

    def __init__(self, writers: int, seed: int) -> None:
        self.writers = [Writer(number) for number in range(writers)]
        self.follower = EventLog()
        self.happened = Counter[bool]()
        self._moments = random.Random(seed)

    @property
    def acknowledged(self) -> int:
        """How many writes were acknowledged so far."""
        return sum(writer.count for writer in self.writers)

    def rage(self, url: str, strike: Callable[[], None], follows: bool = True) -> None:
        """Write until a moment left to chance; then somebody strikes, and nobody is answered any more."""
        threads = [threading.Thread(target=writer.run, args=(url,), daemon=True) for writer in self.writers]
        enough = self.acknowledged + self._moments.randint(21, 60)
        for thread in threads:
            thread.start()
        if follows:
            self.follow(url)
        while self.acknowledged < enough and any(thread.is_alive() for thread in threads):
            time.sleep(0.001)
        strike()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()

    def follow(self, url: str) -> None:
        """Follow the changes in a thread."""
        threading.Thread(target=self.follower.run, args=(url,), daemon=True).start()

    def check(self, url: str) -> None:
        """What was acknowledged is there; what was in flight is there wholly, or not at all."""
        found = everything(url)
        for writer in self.writers:
            if writer.pending:
                self.happened[writer.settle(found)] += 1
            writer.check(found)


def event_ids(url: str) -> list[str]:
    """The ids of all events that the change log gives, in their order."""
    ids: list[str] = []
    page: Body = {"cursor": "", "more": True}
    while page["more"]:
        after = {"after": page["cursor"]} if page["cursor"] else {}
        page = httpx.get(f"{url}/changes", params={"limit": "1000", **after}, timeout=60).json()
        ids += [event["id"] for event in page["events"]]
    return ids
