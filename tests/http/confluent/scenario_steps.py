"""What the sentences of public scenarios mean: requests to a schema registry, and what their answers have to be.

The sentences are those of the suite of github.com/axonops/axonops-schema-registry. Paths may be given in them with
values that an earlier answer had, as `{{name}}`.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from tests.http.confluent.gherkin import Scenario, Step
from tests.http.confluent.subject_client import MEDIA_TYPE, avro
from tests.http.requests import AsgiClient, Reply

SUBJECT, KIND, NUMBER = r'subject "(?P<subject>[^"]*)"', r'"(?P<kind>[^"]*)"', r"(?P<version>\d+)"
REFERENCE = r'with reference "(?P<name>[^"]*)" from subject "(?P<source>[^"]*)" version (?P<number>\d+)'
LEVEL, MODE, ID = r'"(?P<level>[^"]*)"', r'"(?P<mode>[^"]*)"', r"(?P<id>\S+)"
VERSIONS, COMPATIBILITY = "/subjects/{subject}/versions", "/compatibility/subjects/{subject}/versions"

PREPARED = (
    (rf"{SUBJECT} has(?: {KIND})? schema:", VERSIONS),
    (rf"{SUBJECT} has {KIND} schema {REFERENCE}:", VERSIONS),
)
"""Schemas that are registered before the scenario begins: the registry has to take them."""

REQUESTS = (
    (r"the schema registry is running", "GET", "/"),
    (r'I (?P<method>GET|POST|PUT|DELETE|PATCH) "(?P<path>[^"]*)"(?: with body:)?', "{method}", "{path}"),
    (r'I POST "(?P<path>[^"]*)" with raw body "(?P<raw>[^"]*)"', "POST", "{path}"),
    (rf"I register a(?: {KIND})? schema under {SUBJECT}(?: with references)?:", "POST", VERSIONS),
    (rf"I lookup (?:a {KIND} )?schema in {SUBJECT}:", "POST", "/subjects/{subject}"),
    (rf"I lookup schema in {SUBJECT} with deleted:", "POST", "/subjects/{subject}?deleted=true"),
    (rf"I check compatibility of (?:{KIND} )?schema against {SUBJECT}:", "POST", f"{COMPATIBILITY}/latest"),
    (rf"I check compatibility of {KIND} schema {REFERENCE} against {SUBJECT}:", "POST", f"{COMPATIBILITY}/latest"),
    (rf"I check compatibility of (?:{KIND} )?schema against all versions of {SUBJECT}:", "POST", COMPATIBILITY),
    (
        rf"I check compatibility of (?:{KIND} )?schema against {SUBJECT} version {NUMBER}:",
        "POST",
        COMPATIBILITY + "/{version}",
    ),
    (rf"I get version {NUMBER} of {SUBJECT}", "GET", VERSIONS + "/{version}"),
    (rf"I get the latest version of {SUBJECT}", "GET", f"{VERSIONS}/latest"),
    (rf"I get the raw schema for {SUBJECT} version {NUMBER}", "GET", VERSIONS + "/{version}/schema"),
    (rf"I get the referenced by for {SUBJECT} version {NUMBER}", "GET", VERSIONS + "/{version}/referencedby"),
    (rf"I list versions of {SUBJECT}", "GET", VERSIONS),
    (r"I list all subjects", "GET", "/subjects"),
    (r"I list subjects with deleted", "GET", "/subjects?deleted=true"),
    (r"I list all schemas", "GET", "/schemas"),
    (r"I get the schema types", "GET", "/schemas/types"),
    (r"I get the contexts", "GET", "/contexts"),
    (r"I get the cluster ID", "GET", "/v1/metadata/id"),
    (r"I get the server version", "GET", "/v1/metadata/version"),
    (r"I get the stored schema by ID", "GET", "/schemas/ids/{{{{schema_id}}}}"),
    (r"I get the subjects for the stored schema ID", "GET", "/schemas/ids/{{{{schema_id}}}}/subjects"),
    (rf"I get schema by ID {ID}", "GET", "/schemas/ids/{id}"),
    (rf"I get the raw schema by ID {ID}", "GET", "/schemas/ids/{id}/schema"),
    (rf"I get the subjects for schema ID {ID}", "GET", "/schemas/ids/{id}/subjects"),
    (rf"I get versions for schema ID {ID}", "GET", "/schemas/ids/{id}/versions"),
    (rf"I delete {SUBJECT}", "DELETE", "/subjects/{subject}"),
    (rf"I permanently delete {SUBJECT}", "DELETE", "/subjects/{subject}?permanent=true"),
    (rf"I delete version {NUMBER} of {SUBJECT}", "DELETE", VERSIONS + "/{version}"),
    (rf"I permanently delete version {NUMBER} of {SUBJECT}", "DELETE", VERSIONS + "/{version}?permanent=true"),
    (rf"the global compatibility level is {LEVEL}", "PUT", "/config"),
    (rf"I set the global (?:config|compatibility level) to {LEVEL}", "PUT", "/config"),
    (rf"{SUBJECT} has compatibility level {LEVEL}", "PUT", "/config/{subject}"),
    (rf"I set the config for {SUBJECT} to {LEVEL}", "PUT", "/config/{subject}"),
    (rf"I get the config for {SUBJECT}", "GET", "/config/{subject}"),
    (rf"I delete the config for {SUBJECT}", "DELETE", "/config/{subject}"),
    (r"I get the global config", "GET", "/config"),
    (r"I delete the global config", "DELETE", "/config"),
    (rf"the global mode is {MODE}", "PUT", "/mode?force=true"),
    (rf"I set the global mode to {MODE}", "PUT", "/mode?force=true"),
    (rf"{SUBJECT} has mode {MODE}", "PUT", "/mode/{subject}?force=true"),
    (rf"I set the mode for {SUBJECT} to {MODE}", "PUT", "/mode/{subject}?force=true"),
    (rf"I get the mode for {SUBJECT}", "GET", "/mode/{subject}"),
    (rf"I delete the mode for {SUBJECT}", "DELETE", "/mode/{subject}"),
    (r"I get the global mode", "GET", "/mode"),
)

Request = tuple[str, str, Any]
"""Method, path and body."""

NOTHING = (r"no subjects exist", r"the audit log should contain an event:")
"""Each scenario has a registry of its own, and of Confluent's the suite wants no audit log either."""


class UnknownSentence(Exception):
    """The suite says something new: a phrase is missing here."""


class ScenarioRun:
    """One scenario against one service: the last answer, and what was kept of earlier ones."""

    def __init__(self, client: AsgiClient, runner: asyncio.Runner) -> None:
        self._client = client
        self._runner = runner
        self.kept: dict[str, Any] = {}
        self.together: list[Reply] = []
        self.writers = 0
        self.reply = Reply(0, [], b"")

    def play(self, scenario: Scenario) -> None:
        """Take all steps; the first that does not hold raises an AssertionError."""
        for step in scenario.steps:
            try:
                self._take(step)
            except (AssertionError, KeyError, TypeError, ValueError) as error:
                answer = self.reply.body[:300].decode(errors="replace")
                raise AssertionError(f"{step.sentence}: {error!r}; {self.reply.status} {answer}") from error

    def _take(self, step: Step) -> None:
        for phrase, path in PREPARED:
            if found := re.fullmatch(phrase, step.sentence):
                self._request("POST", path, found.groupdict(), step)
                assert self.reply.status == 200
                return
        for phrase, method, path in REQUESTS:
            if found := re.fullmatch(phrase, step.sentence):
                self._request(method, path, found.groupdict(), step)
                return
        for phrase, check in CHECKS:
            if found := re.fullmatch(phrase, step.sentence):
                check(self, *found.groups())
                return
        if step.sentence not in NOTHING:
            raise UnknownSentence(step.sentence)

    def _request(self, method: str, path: str, words: dict[str, Any], step: Step) -> None:
        self.reply = self.ask(method.format(**words), self._resolved(path.format(**words)), _body(words, step))

    def ask(self, method: str, path: str, body: Any = b"") -> Reply:
        """The answer of the schema registry to a request."""
        return self._runner.run(self._send(method, path, body))

    def ask_together(self, requests: list[Request]) -> None:
        """Ask several at once, and keep their answers."""

        async def gathered() -> list[Reply]:
            return await asyncio.gather(*(self._send(*request) for request in requests))

        self.together = self._runner.run(gathered())

    def metrics(self) -> list[str]:
        """The lines of what the service tells Prometheus."""
        return self._runner.run(self._client.send("GET", "/metrics")).body.decode().splitlines()

    async def _send(self, method: str, path: str, body: Any) -> Reply:
        headers = {"Content-Type": MEDIA_TYPE, "Accept": MEDIA_TYPE}
        return await self._client.send(method, "/confluent" + quote(path, safe="/%?&=:+,;@!$'()*~"), body, headers)

    def _resolved(self, path: str) -> str:
        for name, value in self.kept.items():
            path = path.replace("{{" + name + "}}", str(value))
        return path

    @property
    def members(self) -> dict[str, Any]:
        """The JSON object that came back."""
        found = self.reply.json
        assert isinstance(found, dict), "no JSON object"
        return found

    @property
    def items(self) -> list[Any]:
        """The JSON array that came back."""
        found = self.reply.json
        assert isinstance(found, list), "no JSON array"
        return found


def _body(words: dict[str, Any], step: Step) -> Any:
    if words.get("raw") is not None:
        return words["raw"].encode()
    if words.get("level") is not None:
        return {"compatibility": words["level"]}
    if words.get("mode") is not None:
        return {"mode": words["mode"]}
    if step.text is None:
        return b""
    kind = {} if words.get("kind") is None else {"schemaType": words["kind"]}
    if step.sentence.endswith(("with body:", "with references:")):
        body = json.loads(step.text)
        return {**body, **kind} if kind else body
    if words.get("name") is not None:
        kind["references"] = [{"name": words["name"], "subject": words["source"], "version": int(words["number"])}]
    return {"schema": step.text, **kind}


def _status(run: ScenarioRun, status: str) -> None:
    assert run.reply.status == int(status)


def _error_code(run: ScenarioRun, code: str) -> None:
    assert run.members["error_code"] == int(code)


def _error_message(run: ScenarioRun, pattern: str) -> None:
    assert re.search(pattern, run.members["message"])


def _contains(run: ScenarioRun, text: str) -> None:
    assert text in run.reply.body.decode()


def _lacks(run: ScenarioRun, text: str) -> None:
    assert text not in run.reply.body.decode()


def _is_json(run: ScenarioRun) -> None:
    assert run.reply.json is not None


def _has_member(run: ScenarioRun, name: str) -> None:
    assert name in run.members


def _has_no_member(run: ScenarioRun, name: str) -> None:
    assert name not in run.members


def _member(run: ScenarioRun, name: str, value: str) -> None:
    assert run.members[name] == value


def _member_as_json(run: ScenarioRun, name: str, value: str) -> None:
    found, expected = run.members[name], json.loads(value)
    assert (type(found), found) == (type(expected), expected)


def _member_is_array(run: ScenarioRun, name: str, length: str | None) -> None:
    assert isinstance(run.members[name], list)
    assert length is None or len(run.members[name]) == int(length)


def _keep(run: ScenarioRun, name: str, key: str) -> None:
    run.kept[key] = run.members[name]


def _equals_kept(run: ScenarioRun, name: str, key: str) -> None:
    assert run.members[name] == run.kept[key]


def _differs_from_kept(run: ScenarioRun, name: str, key: str) -> None:
    assert run.members[name] != run.kept[key]


def _kept_is_greater(run: ScenarioRun, key: str, number: str) -> None:
    assert run.kept[key] > int(number)


def _length(run: ScenarioRun, length: str) -> None:
    assert len(run.items) == int(length)


def _array_contains(run: ScenarioRun, text: str) -> None:
    assert text in map(str, run.items)


def _array_lacks(run: ScenarioRun, text: str) -> None:
    assert text not in map(str, run.items)


def _array_contains_number(run: ScenarioRun, number: str) -> None:
    assert int(number) in run.items


def _array_contains_kept(run: ScenarioRun, key: str) -> None:
    assert run.kept[key] in run.items


def _is_number(run: ScenarioRun, number: str) -> None:
    assert run.reply.json == int(number)


def _header(run: ScenarioRun, name: str, text: str) -> None:
    assert text in run.reply.headers[name.lower()]


def _compatible(run: ScenarioRun, negation: str) -> None:
    assert run.reply.status == 200
    assert run.members["is_compatible"] is (negation == "")


def _metric(run: ScenarioRun, name: str, value: str | None) -> None:
    found = [line.split()[-1] for line in run.metrics() if re.match(rf"{name}[ {{]", line)]
    assert found, f"there is no metric {name}"
    assert value is None or float(found[0]) == float(value)


def _register_apart(run: ScenarioRun, count: str) -> None:
    def request(number: int) -> Request:
        return "POST", f"/subjects/apart-{number}/versions", {"schema": avro(f"Oven{number}", "id")}

    run.ask_together([request(number) for number in range(int(count))])


def _register_same(run: ScenarioRun, count: str, subject: str) -> None:
    run.ask_together([("POST", f"/subjects/{subject}/versions", {"schema": avro("Oven", "id")})] * int(count))


def _register_different(run: ScenarioRun, count: str, subject: str) -> None:
    path = f"/subjects/{subject}/versions"
    run.ask_together([("POST", path, {"schema": avro(f"Oven{number}", "id")}) for number in range(int(count))])


def _write_and_read(run: ScenarioRun, writers: str, readers: str, subject: str) -> None:
    path = f"/subjects/{subject}/versions"
    run.writers = int(writers)
    for turn in range(3):
        bodies = [{"schema": avro(f"Oven{number}Of{turn}", "id")} for number in range(run.writers)]
        reads = [("GET", f"{path}/latest", b"")] * int(readers)
        run.ask_together([*(("POST", path, body) for body in bodies), *reads])


def _prepare_apart(run: ScenarioRun, count: str) -> None:
    _register_apart(run, count)
    _all_succeed(run)


def _delete_apart(run: ScenarioRun, count: str) -> None:
    run.ask_together([("DELETE", f"/subjects/apart-{number}", b"") for number in range(int(count))])


def _all_have_status(run: ScenarioRun, status: str) -> None:
    assert {reply.status for reply in run.together} == {int(status)}


def _all_succeed(run: ScenarioRun) -> None:
    _all_have_status(run, "200")


def _none_fails(run: ScenarioRun) -> None:
    assert max(reply.status for reply in run.together) < 500


def _ids_differ(run: ScenarioRun) -> None:
    assert len({reply.json["id"] for reply in run.together}) == len(run.together)


def _ids_agree(run: ScenarioRun) -> None:
    assert len({reply.json["id"] for reply in run.together}) == 1


def _readers_got_schemas(run: ScenarioRun) -> None:
    assert all(reply.status != 200 or reply.json["schema"] for reply in run.together[run.writers :])


def _count_versions(run: ScenarioRun, subject: str, count: str) -> None:
    run.reply = run.ask("GET", f"/subjects/{subject}/versions")
    assert len(run.items) == int(count)


def _is_empty(run: ScenarioRun) -> None:
    run.reply = run.ask("GET", "/subjects")
    assert run.items == []


TEXT = r'"([^"]*)"'

CHECKS: tuple[tuple[str, Callable[..., None]], ...] = (
    (r"the response status should be (\d+)", _status),
    (r"the response should have error code (\d+)", _error_code),
    (rf"the response should contain error message matching {TEXT}", _error_message),
    (rf"the response (?:body )?should contain {TEXT}", _contains),
    (rf"the response (?:body )?should not contain {TEXT}", _lacks),
    (r"the response should be valid JSON", _is_json),
    (rf"the response should have field {TEXT}", _has_member),
    (rf"the response should not have field {TEXT}", _has_no_member),
    (rf"the response field {TEXT} should be {TEXT}", _member),
    (rf"the response field {TEXT} should be (\d+|true|false)", _member_as_json),
    (rf"the response field {TEXT} should be an array(?: of length (\d+))?", _member_is_array),
    (rf"I store the response field {TEXT} as {TEXT}", _keep),
    (rf"the response field {TEXT} should equal stored {TEXT}", _equals_kept),
    (rf"the response field {TEXT} should not equal stored {TEXT}", _differs_from_kept),
    (rf"the stored {TEXT} should be greater than (\d+)", _kept_is_greater),
    (r"the response should be an array of length (\d+)", _length),
    (rf"the response array should contain {TEXT}", _array_contains),
    (rf"the response array should not contain {TEXT}", _array_lacks),
    (r"the response array should contain integer (\d+)", _array_contains_number),
    (rf"the response array should contain stored integer {TEXT}", _array_contains_kept),
    (r"the response should be an integer with value (\d+)", _is_number),
    (rf"the response header {TEXT} should contain {TEXT}", _header),
    (r"the compatibility check should be (in)?compatible", lambda run, negation: _compatible(run, negation or "")),
    (rf"the Prometheus metric {TEXT} should exist", lambda run, name: _metric(run, name, None)),
    (rf"the Prometheus metric {TEXT} should have value (\d+)", _metric),
    (r"(\d+) goroutines each register a unique Avro schema to separate subjects", _register_apart),
    (rf"(\d+) goroutines register the same Avro schema to subject {TEXT}", _register_same),
    (rf"(\d+) goroutines attempt to register schemas to subject {TEXT}", _register_different),
    (
        rf"(\d+) writer goroutines add versions and (\d+) reader goroutines read latest from subject {TEXT}",
        _write_and_read,
    ),
    (r"(\d+) subjects each with one Avro schema", _prepare_apart),
    (r"(\d+) goroutines each soft-delete their own subject", _delete_apart),
    (r"all concurrent results should succeed", _all_succeed),
    (r"all concurrent results should have status (\d+)", _all_have_status),
    (r"no concurrent results should have a 500 status", _none_fails),
    (r"all returned schema IDs should be unique", _ids_differ),
    (r"all returned schema IDs should be identical", _ids_agree),
    (r"all reader responses should contain a valid schema", _readers_got_schemas),
    (rf"subject {TEXT} should have exactly (\d+) versions?", _count_versions),
    (r"GET /subjects should return an empty array", _is_empty),
)
"""Sentences about answers, and those that take several requests at once."""
