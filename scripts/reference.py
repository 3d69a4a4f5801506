"""Write the reference pages that repeat what the program knows: commands, settings, errors, metrics,
protocol options.

`python scripts/reference.py` writes them, `python scripts/reference.py --check` only says which are out of date.
"""

from __future__ import annotations

import argparse
import html
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from postroom.cli.command import ExampleCommand
from postroom.cli.main import all_commands, main
from postroom.errors import PostroomError
from postroom.http.access.routes import ACCESS, ENTITIES, ROLES, SERVICES, Route
from postroom.http.operations.metric_table import FAMILIES, REQUEST_BUCKETS
from postroom.pipeline.monitoring import sort_metrics
from postroom.prometheus_text import MetricFamily
from postroom.protocols.protocol import Option, Wire
from postroom.protocols.protocol_table import PROTOCOLS
from postroom.registry.problems import PROBLEMS
from postroom.settings import FIELDS, FILE, describe, variable

REFERENCE = Path(__file__).resolve().parent.parent / "docs" / "reference"
NOTE = "<!-- Written by scripts/reference.py from the program itself: change it there. -->"
SHARED_OPTIONS = ("verbose", "quiet", "help")
EXAMPLES_ARE_TESTED = "<!-- test: skip, tests/docs/test_help.py runs the example of every command -->"


def commands_page() -> str:
    """Every command with its arguments, options and example."""
    context = click.Context(main, info_name="postroom")
    opening = """
        # Commands

        `postroom COMMAND --help` prints the same. `postroom --version` prints the version.

        Every command ends with one of these exit codes:

        | exit code | meaning |
        |---|---|
        | 0 | done |
        | 1 | a negative answer: not every message landed, … |
        | 2 | bad usage or bad input |
        | 3 | a system that the command needs is not there |
        | 130 | interrupted from the keyboard |

        An error is one sentence on stderr; [Errors](errors.md) lists them. A flag marked *setting* can also be given
        as a variable or in a file; [Settings](settings.md) has the names.
    """
    sections = [_command(name, command, context) for name, command in all_commands().items()]
    return _page(inspect.cleandoc(opening), *sections)


def settings_page() -> str:
    """Every setting with its variable, type, default and the commands that take it as a flag."""
    opening = f"""
        # Settings

        A setting comes from the first of these that names it:

        1. a flag of the command, where the command has one;
        2. the environment variable;
        3. `{FILE}` in the current folder, as `name = value`;
        4. the default.

        A list is separated by commas in a variable and is an array in `{FILE}`. A name that no setting has is an
        error, in the file as well as after `POSTROOM_`. `postroom settings` lists what holds and who said so;
        [Configure it](../how-to/configure.md) shows how to use them.
    """
    takers = _commands_by_setting()
    return _page(inspect.cleandoc(opening), *(_setting(name, takers.get(name, [])) for name in FIELDS))


def errors_page() -> str:
    """Every error a command can end with, and every way in which a registry refuses a request."""
    opening = """
        # Errors

        A command that cannot do its work prints one sentence on stderr: `postroom:`, the place (a file with line and
        column, a JSON pointer, a URL), what is wrong, and what to do where that is known. `POSTROOM_DEBUG=1` shows the
        traceback behind it. In Python the same errors are exceptions; all derive from `postroom.PostroomError` and
        carry `code`, `sentence`, `place` and `remedy`.
    """
    problems = """
        ## Answers of the registry

        The service answers a refused request with a JSON object: `type` (a URI that ends with the code below), `title`,
        `status`, `subject` (the entity) and, where they help, `detail`, `args` and `pointer`.
    """
    rows = [(f"`{name}`", kind.status, kind.title.replace("{{}}", "{}")) for name, kind in sorted(PROBLEMS.items())]
    return _page(
        inspect.cleandoc(opening),
        *(_error_family(family) for family in PostroomError.__subclasses__() if family.__module__ == "postroom.errors"),
        inspect.cleandoc(problems),
        _table(("code", "status", "title"), rows),
    )


PROTOCOL_NOTES = {
    "HTTP": "`method` is for requests and `status` for responses: a definition has one of them.",
    "AMQP/1.0": """
        `message-id` and `correlation-id` may have the types `ulong`, `uuid`, `binary`, `string` and `uritemplate`. A
        value of `message-id` makes sense for a template only. Symbols of AMQP are any ASCII text; the type `symbol` of
        definitions is letters, digits and `_`, and the names of application properties, annotations and footers are
        to be such.
    """,
    "MQTT/3.1.1": "It has no user properties, so a CloudEvent travels in structured mode only.",
    "MQTT/5.0": "`qos` is 0, 1 or 2, and `payload_format` 0 or 1. A user property may be there several times.",
    "KAFKA": """
        `key` is text in UTF-8 and `key_base64` the same bytes in base64: a definition has one of them, and meets
        records that have either.
    """,
    "NATS": "",
}


def protocol_options_page() -> str:
    """Every option of every protocol with its type."""
    opening = """
        # Protocol options

        The members of `protocoloptions` in a message definition, and of `metadata` in a record, for each protocol. A
        member is described by its value, or by an object with `value`, `type`, `required` and the like, as
        [Constraints](catalog-documents.md#constraints) explains.

        The type is the one that a member has where the definition states none. A `uritemplate` is text that may have
        placeholders; so may every `string`. Members that are *not compared* are written by `make` and never decide
        whether a message fits, because brokers change them on the way. Names with values are a list of objects with
        `name` and `value`, or a map.
    """
    return _page(inspect.cleandoc(opening), *map(_protocol, PROTOCOLS))


def _protocol(wire: Wire) -> str:
    others = [f"`{spelling}`" for spelling in wire.spellings if spelling != wire.name]
    spellings = f"Also written {', '.join(others)}. " if others else ""
    rows = [row for option in wire.options for row in _option_rows(option)]
    table = _table(("member", "type", "compared", "also read"), rows)
    return "\n\n".join(
        part for part in (f"## {wire.name}", _wrapped(spellings + _prose(PROTOCOL_NOTES[wire.name])), table) if part
    )


def _option_rows(option: Option) -> Iterator[tuple[str, str, str, str]]:
    compared = "yes" if option.decides else "not compared"
    kinds = {"named": "names with values", "section": "map"}
    aliases = ", ".join(f"`{alias}`" for alias in option.aliases if alias != option.name)
    yield f"`{option.name}`", kinds.get(option.shape, f"`{option.type}`"), compared, aliases
    for member, member_type in option.members.items():
        yield f"`{option.name}.{member}`", f"`{member_type}`", compared, ""


def access_page() -> str:
    """What each route needs, from the data that a test asks every route with."""
    opening = """
        # Access

        What a request needs where [access is on](../how-to/letting-others-in.md): who gets an answer (yes), and with
        which status the others are refused. *nobody* has no credentials, or those of `anonymous` where that has no
        grant; *any* has good credentials; the others have that role on what the last column names. Roles hold the
        lesser ones: `own` has `write`, and `write` has `read`; `admin` has all of them everywhere. What may not be read
        answers 404, like what is not there. `HEAD` and `OPTIONS` need what `GET` needs;
        only browsers that ask whether pages of [`cors_origins`](settings.md#cors_origins) may ask need nothing.
    """
    sections = {"Entities": ENTITIES, "Services": SERVICES, "Doors": ACCESS}
    tables = [f"## {title}\n\n{_routes_table(routes)}" for title, routes in sections.items()]
    more = """
        ## Grants {#grants}

        `GET /-/grants` answers `{"grants": [{"subject": …, "role": …, "prefix": …}]}`: those that one may manage, and
        those that one has. `POST` adds the grants of such a body, `PUT` replaces all that one may manage by them, and
        `DELETE /-/grants?subject=…&role=…&prefix=…` removes one. What would leave nobody to administer the registry is
        refused.

        ## Keys {#keys}

        `POST /-/keys` takes `{"id": …, "grants": [{"role": …, "prefix": …}], "expires": "90d"}` and answers with the
        key, once. `POST /-/keys/ID/rotate` gives it another secret, `DELETE /-/keys/ID` ends it. `GET /-/keys` lists
        all keys with the first digits of their secrets, their grants, and when they were used last.

        ## Who am I {#session}

        `GET /-/session` answers with the principal of the request and the prefixes that it may read, write and own; in
        a browser where somebody signed in also with `csrf`, what writes have to send in `X-CSRF-Token`.

        ## Signing in with a browser {#browser}

        Where [`oidc_client_id`](settings.md#oidc_client_id) is set. `GET /-/login?next=PATH` leads to the OpenID
        provider, `/-/callback` is where it sends people back, and from there they get to PATH, which is one of this
        service. `POST /-/logout` ends the session. A sign-in that fails is answered with 401, one that fails because of
        the provider with 503; with `Accept: text/html` as a page, otherwise as a problem.

        `GET /-/sessions` lists one's own sessions, or all of them for administrators. `DELETE
        /-/sessions?principal=user:NAME` ends those of somebody, in all server processes.

        ## What happened {#audit}

        `GET /-/audit` answers `{"records": [{"time": …, "event": …, "principal": …, "address": …, "method": …,
        "path": …, "detail": …, "count": …}]}`, newest first. What is empty is left out, as is a count of 1. The query
        selects: `since=2026-11-18T06:00:00Z`, `event=`, `principal=`, `address=`, `limit=` (100 by default, at most
        1000).

        | event | is |
        |---|---|
        | `signin` | somebody came in, by a key, a token, a proxy or a browser; once an hour from one address |
        | `signout` | somebody ended their session |
        | `refused` | credentials that are wrong or over, or too many requests |
        | `forbidden` | what somebody wanted and may not do |
        | `changed` | keys, grants or sessions changed |
    """
    return _page(inspect.cleandoc(opening), *tables, inspect.cleandoc(more))


def _routes_table(routes: Iterable[Route]) -> str:
    """Every route by every role."""
    rows = [
        (
            ", ".join(f"`{path}`" for path in route.path.split(", ")),
            ", ".join(route.methods),
            *(str(route.answer(role) or "yes") for role in ROLES),
            route.on,
        )
        for route in routes
    ]
    titles = ["any" if role == "credentials" else role for role in ROLES]
    return _table(("path", "methods", *titles, "on"), rows)


def metrics_page() -> str:
    """Every metric of the service."""
    opening = """
        # Metrics

        `GET /metrics` (also `/-/metrics`) has these, in the text format of Prometheus.
        [Operate it](../how-to/operate.md#metrics) shows how to scrape them, and what to watch.

        A label `route` is a template, such as `/{grouptype}/{groupid}`, never a path: the number of series does not
        depend on what clients ask for. `status` is the status code, 499 where the client left before there was an
        answer. `pid` is the process: with several `workers`, whichever is scraped answers for all of them, and sums
        what has no `pid`. What the store knows (changes, deliveries, states of links) is the same in every process
        on one store: take its maximum, not its sum.
    """
    bounds = ", ".join(f"{bound:g}" for bound in REQUEST_BUCKETS)
    buckets = f"## Buckets\n\nHistograms have buckets up to these numbers of seconds: {bounds}."
    sort = """
        ## A sort that follows its sources

        `postroom sort --follow --metrics-port PORT` answers with these. [Keep a stream
        running](../how-to/running-streams.md) shows how.
    """
    return _page(
        inspect.cleandoc(opening),
        _metric_table(FAMILIES),
        _wrapped_section(buckets),
        inspect.cleandoc(sort),
        _metric_table(sort_metrics.FAMILIES),
    )


def _metric_table(families: Iterable[MetricFamily]) -> str:
    rows = [
        (f"`{one.name}`", one.type, ", ".join(f"`{label}`" for label in one.labels) or "-", one.help)
        for one in families
    ]
    return _table(("metric", "type", "labels", "meaning"), rows)


def _wrapped_section(text: str) -> str:
    title, _, body = text.partition("\n\n")
    return f"{title}\n\n{_wrapped(body)}"


PAGES: dict[str, Callable[[], str]] = {
    "access.md": access_page,
    "commands.md": commands_page,
    "settings.md": settings_page,
    "errors.md": errors_page,
    "metrics.md": metrics_page,
    "protocol-options.md": protocol_options_page,
}


def run(arguments: Sequence[str] | None = None) -> int:
    """Write or check the pages; 1 when a checked page is out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a page is out of date")
    check = parser.parse_args(arguments).check
    stale = [name for name, page in PAGES.items() if _differs(REFERENCE / name, page())]
    for name in stale:
        if check:
            print(f"docs/reference/{name} is out of date; `make docs` writes it anew.", file=sys.stderr)
        else:
            REFERENCE.mkdir(parents=True, exist_ok=True)
            (REFERENCE / name).write_text(PAGES[name](), encoding="utf-8")
    return 1 if check and stale else 0


def _differs(path: Path, text: str) -> bool:
    return not path.exists() or path.read_text(encoding="utf-8") != text


def _command(name: str, command: click.Command, parent: click.Context) -> str:
    context = click.Context(command, info_name=name, parent=parent, **command.context_settings)
    parts = [f"## postroom {name}", _prose(command.help), f"```text\n{_usage(command, context)}\n```"]
    parts.append(_table(("option", "meaning"), _options(command, context)))
    if isinstance(command, ExampleCommand) and command.example:
        shown = "\n".join(f"$ {line}" for line in command.example.splitlines())
        parts.append(f"{EXAMPLES_ARE_TESTED}\n```console\n{shown}\n```")
    return "\n\n".join(parts)


def _usage(command: click.Command, context: click.Context) -> str:
    return " ".join([context.command_path, *command.collect_usage_pieces(context)])


def _options(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    # What every command has comes last; sorting keeps the order of the rest.
    for parameter in sorted(command.get_params(context), key=lambda given: given.name in SHARED_OPTIONS):
        record = parameter.get_help_record(context)
        if record is not None and record[1]:
            yield _code(record[0]), record[1]


def _commands_by_setting() -> dict[str, list[str]]:
    takers: dict[str, list[str]] = {}
    for name, command in all_commands().items():
        for parameter in command.params:
            if isinstance(parameter, click.Option) and f"[setting {parameter.name}" in (parameter.help or ""):
                takers.setdefault(str(parameter.name), []).append(name)
    return takers


def _setting(name: str, takers: list[str]) -> str:
    default = FIELDS[name].default
    flag = "--" + name.replace("_", "-")
    rows = [
        ("variable", f"`{variable(name)}`"),
        ("type", _type(msgspec.inspect.type_info(FIELDS[name].type))),
        (
            "default",
            f"`{str(default).lower() if isinstance(default, bool) else default}`" if default else _empty(default),
        ),
    ]
    if takers:
        links = (f"[`{taker}`](commands.md#postroom-{taker.replace(' ', '-')})" for taker in takers)
        rows.append(("flag", f"`{flag}` of {', '.join(links)}"))
    return f"## {name}\n\n{describe(name)}\n\n" + "\n".join(f"- {label}: {value}" for label, value in rows)


def _empty(default: Any) -> str:
    return "`false`" if default is False else "`0`" if default == 0 and default != () else "empty"


def _type(info: msgspec.inspect.Type) -> str:
    if isinstance(info, msgspec.inspect.Metadata):
        return _type(info.type)
    if isinstance(info, msgspec.inspect.LiteralType):
        return " or ".join(f"`{value}`" for value in info.values)
    if isinstance(info, msgspec.inspect.VarTupleType):
        return "list of texts"
    if isinstance(info, msgspec.inspect.IntType):
        return f"whole number{_range(info)}"
    if isinstance(info, msgspec.inspect.FloatType):
        return f"number{_range(info)}"
    return "`true` or `false`" if isinstance(info, msgspec.inspect.BoolType) else "text"


def _range(info: msgspec.inspect.IntType | msgspec.inspect.FloatType) -> str:
    if info.ge is not None and info.le is not None:
        return f" from {info.ge} to {info.le}"
    return f" greater than {info.gt}" if info.gt is not None else ""


def _error_family(family: type[PostroomError]) -> str:
    rows = [(f"`{kind.code}`", f"`{kind.__name__}`", _prose(kind.__doc__)) for kind in _below(family)]
    title = _prose(family.__doc__).rstrip(".")
    return f"## Exit code {family.exit_code}: {title[0].lower()}{title[1:]}\n\n" + _table(
        ("code", "in Python", "meaning"), rows
    )


def _below(family: type[PostroomError]) -> Iterator[type[PostroomError]]:
    for kind in family.__subclasses__():
        yield kind
        yield from _below(kind)


def _wrapped(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), 120)


def _prose(text: str | None) -> str:
    return inspect.cleandoc(text or "").strip()


def _table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [columns, ["---"] * len(columns), *([_cell(value) for value in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |".replace("| --- ", "|---").replace("--- |", "---|") for line in lines)


def _cell(value: object) -> str:
    return " ".join(str(value).replace("|", "&#124;").split())


def _code(text: str) -> str:
    # Renderers disagree on how a bar is written in a code span of a table; they agree on HTML.
    return f"<code>{html.escape(text)}</code>" if "|" in text else f"`{text}`"


def _page(*parts: str) -> str:
    return "\n\n".join([NOTE, *(part.strip() for part in parts)]) + "\n"


if __name__ == "__main__":
    sys.exit(run())
