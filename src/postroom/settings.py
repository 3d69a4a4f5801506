"""Settings: flags first, then `POSTROOM_*` variables, then `postroom.toml`, then the defaults below."""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from postroom.errors import BadSetting, UnknownSetting
from postroom.urls import masked

PREFIX = "POSTROOM_"
FILE = "postroom.toml"

Megabytes = Annotated[int, Meta(ge=1, le=4096)]


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """All settings, typed, with their defaults."""

    db: Annotated[
        str,
        Meta(
            description="Store of the registry: sqlite:///path.db or postgresql://host/database. Empty: a file in your "
            "data folder."
        ),
    ] = ""
    host: Annotated[str, Meta(description="Address the service listens on.")] = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535, description="Port of the service; 0 picks a free one.")] = 8080
    workers: Annotated[int, Meta(ge=1, le=64, description="Server processes.")] = 1
    model: Annotated[str, Meta(description="Model of a new registry: messaging, none, or a model file.")] = "messaging"
    registry_id: Annotated[
        str, Meta(description="Id of a new registry (`registryid`). Empty: one that nobody else has.")
    ] = ""
    lake: Annotated[
        str,
        Meta(
            description="Lake that the web pages show, read-only: a folder or an address that `postroom sort` filled. "
            "Empty: none."
        ),
    ] = ""
    access: Annotated[
        Literal["off", "on"],
        Meta(
            description="Whether requests need credentials and grants: on, or off, where everybody who reaches the "
            "service may do everything."
        ),
    ] = "off"
    access_file: Annotated[
        str,
        Meta(description="YAML file with the grants, instead of those in the store; it is read again when it changes."),
    ] = ""
    schema_registry_port: Annotated[
        int,
        Meta(
            ge=-1,
            le=65535,
            description="Port on which the schema registry API (/confluent) is at the root; 0 picks a free one. -1: "
            "none.",
        ),
    ] = -1
    schema_registry_group: Annotated[
        str,
        Meta(
            description="Schema group whose schemas are the subjects of the default context of the schema registry API."
        ),
    ] = "default"
    insecure: Annotated[bool, Meta(description="Allow listening on other addresses than loopback with access off.")] = (
        False
    )
    oidc_issuer: Annotated[
        str, Meta(description="URL of the OpenID provider whose tokens count. Empty: no tokens do.")
    ] = ""
    oidc_audience: Annotated[
        str, Meta(description="Audience (aud) that tokens for this service have; needed beside oidc_issuer.")
    ] = ""
    oidc_client_id: Annotated[
        str, Meta(description="Client id for people who sign in with a browser. Empty: they cannot.")
    ] = ""
    oidc_client_secret: Annotated[str, Meta(description="Secret of that client, where the provider gave it one.")] = ""
    oidc_scope: Annotated[
        str, Meta(description="What the provider is asked for about them; some tell groups only when asked.")
    ] = "openid profile email"
    session_hours: Annotated[
        int, Meta(ge=1, le=720, description="How long somebody stays signed in with a browser, in hours.")
    ] = 8
    oidc_user_claim: Annotated[str, Meta(description="Claim of a token that names the user.")] = "sub"
    oidc_groups_claim: Annotated[
        str,
        Meta(
            description="Claim of a token whose values are subjects of grants (claim:VALUE); dots lead into objects, "
            "as in realm_access.roles."
        ),
    ] = "groups"
    oidc_skew_s: Annotated[
        int, Meta(ge=0, le=300, description="How far the provider's clock may differ from ours, in seconds.")
    ] = 30
    sign_in_failures: Annotated[
        int,
        Meta(
            ge=0,
            le=100_000,
            description="How often a minute one address may fail to sign in with one key, before it has to wait; ten "
            "times as often with different ones. 0 sets no limit.",
        ),
    ] = 10
    requests_per_minute: Annotated[
        int,
        Meta(
            ge=0,
            le=10_000_000,
            description="How many requests a minute one principal may send to a server process; 0 sets no limit.",
        ),
    ] = 0
    audit_kept_days: Annotated[
        int,
        Meta(ge=0, le=36500, description="Days after which records of sign-ins and refusals are forgotten; 0: never."),
    ] = 90
    tls_cert: Annotated[
        str, Meta(description="Certificate (chain) in PEM, to serve HTTPS. It is read anew when the file changes.")
    ] = ""
    tls_key: Annotated[str, Meta(description="Private key of the certificate in PEM, without a password.")] = ""
    allow_fetch: Annotated[
        tuple[str, ...], Meta(description="Hosts that references may be fetched from. None by default.")
    ] = ()
    allowed_hosts: Annotated[
        tuple[str, ...],
        Meta(
            description="Names that the service may be asked for (Host); `*.example.com` stands for all below, `*` for "
            "any. Empty: those of this machine on loopback, any elsewhere."
        ),
    ] = ()
    trusted_proxies: Annotated[
        tuple[str, ...],
        Meta(description="Addresses of proxies whose X-Forwarded-* headers are believed. None by default."),
    ] = ()
    cors_origins: Annotated[
        tuple[str, ...],
        Meta(
            description="Web origins whose pages may call the service; `*` lets all of them read, none of them write. "
            "None by default."
        ),
    ] = ()
    cache_mb: Annotated[Megabytes, Meta(description="Memory for answers that are kept, in megabytes.")] = 64
    upload_timeout_s: Annotated[
        float, Meta(gt=0, description="How long a request body may take to arrive, in seconds.")
    ] = 60.0
    request_timeout_s: Annotated[
        float,
        Meta(gt=0, description="How long the service works on a request that writes nothing, in seconds."),
    ] = 60.0
    send_timeout_s: Annotated[
        float,
        Meta(gt=0, description="How long a client may read nothing of its answer until it is dropped, in seconds."),
    ] = 60.0
    drain_s: Annotated[
        int,
        Meta(
            ge=0,
            le=3600,
            description="How long the service goes on after SIGTERM, not ready, so that balancers go elsewhere, in "
            "seconds.",
        ),
    ] = 0
    stop_timeout_s: Annotated[
        int,
        Meta(
            ge=1,
            le=3600,
            description="How long requests may take to be answered once the service stops, in seconds.",
        ),
    ] = 15
    key: Annotated[
        str,
        Meta(
            description="API key, or token, for the service that a command talks to: itself, env:NAME, file:PATH, "
            "or none. Empty: what `postroom login` has kept."
        ),
    ] = ""
    actor_header: Annotated[
        str,
        Meta(description="Header in which a trusted proxy says who asks, to be logged with changes. None by default."),
    ] = ""
    changes_kept_days: Annotated[
        int, Meta(ge=0, le=36500, description="Days after which changes are forgotten; 0: they are kept for ever.")
    ] = 0
    changes_kept: Annotated[
        int, Meta(ge=0, le=1_000_000_000, description="Most changes that are kept; 0 sets no limit.")
    ] = 0
    history_kept: Annotated[
        Literal["always", "with_changes"],
        Meta(
            description="How long superseded bodies are kept: always, or as long as the changes that show them. Those "
            "of message definitions that are there, their versions in the message catalog, are kept either way."
        ),
    ] = "always"
    changes_name_attributes: Annotated[
        bool, Meta(description="Whether change events say which attributes changed.")
    ] = True
    correlation_header: Annotated[
        Literal["when_read", "always"],
        Meta(
            description="When answers to writes name their events (xRegistry-xregcorrelationid): always, or as soon "
            "as anybody has read the changes or subscribed."
        ),
    ] = "when_read"
    write_wait_s: Annotated[
        float, Meta(gt=0, description="How long a write waits for others before it is told to come again, in seconds.")
    ] = 10.0
    max_entities: Annotated[
        int, Meta(ge=0, le=100_000_000, description="Most entities that one request may write; 0 sets no limit.")
    ] = 100_000
    max_streams: Annotated[
        int, Meta(ge=0, le=10_000, description="Most clients that may follow changes as a stream, per server process.")
    ] = 100
    min_free_mb: Annotated[
        int,
        Meta(
            ge=0, le=1_000_000, description="Free space on the store's disk below which /readyz says that it is full."
        ),
    ] = 16
    max_body_mb: Annotated[Megabytes, Meta(description="Largest request body the service reads, in megabytes.")] = 16
    max_document_mb: Annotated[Megabytes, Meta(description="Largest document read from a file, in megabytes.")] = 64
    max_record_mb: Annotated[Megabytes, Meta(description="Largest record (one line of a stream), in megabytes.")] = 64
    max_records: Annotated[
        int, Meta(ge=1, le=10_000_000, description="Most records that one request may have matched or made.")
    ] = 10_000
    max_depth: Annotated[int, Meta(ge=8, le=512, description="Deepest nesting of a document.")] = 128
    timeout_s: Annotated[
        float, Meta(gt=0, description="How long a request to another service may take, in seconds.")
    ] = 30.0
    assert_formats: Annotated[
        bool, Meta(description="Whether `format` in a JSON Schema (date-time, email, …) is checked or only a remark.")
    ] = False
    schema_id_bytes: Annotated[
        Literal[4, 8],
        Meta(
            description="How many bytes the schema ids in front of payloads have: 4, as Confluent's serialisers write "
            "them, or 8, as Apicurio's may."
        ),
    ] = 4
    schema_registry: Annotated[
        str,
        Meta(
            description="URL of a schema registry whose subjects tell which versions of schemas have which ids, for "
            "commands that read payloads or make them. Empty: the catalog alone tells."
        ),
    ] = ""
    schema_registry_key: Annotated[
        str,
        Meta(description="USER:PASSWORD for that schema registry, or a token: itself, env:NAME or file:PATH."),
    ] = ""
    subject_names: Annotated[
        Literal["any", "topic", "record", "topic_record"],
        Meta(
            description="Which subjects of that registry are those of a schema that is none of its own: TOPIC-value, "
            "the name of the record, TOPIC-RECORD, or any of these that there are."
        ),
    ] = "any"
    write_schema_ids: Annotated[
        bool,
        Meta(
            description="Whether payloads that are made begin with the id of their schema, as serialisers of schema "
            "registries write it."
        ),
    ] = False
    write_rules: Annotated[
        Literal["lenient", "strict"],
        Meta(
            description="Whether a write that breaks a rule of messages, schemas or endpoints, what `lint` calls an "
            "error, is accepted (lenient) or refused (strict)."
        ),
    ] = "lenient"
    strict_compatibility: Annotated[
        bool,
        Meta(
            description="Whether JSON Schemas are compared for payloads that already have members which only the newer "
            "schema declares, so that adding an optional member to an open object is incompatible."
        ),
    ] = False
    nulls: Annotated[
        Literal["strict", "absent"],
        Meta(description="What a null in an optional payload member means: strict (an error) or absent."),
    ] = "strict"
    keep_undeclared: Annotated[
        bool,
        Meta(
            description="Whether landed rows keep headers, properties (`_extra`) and payload members (`_rescued`) that "
            "nobody declared."
        ),
    ] = True
    keep_records: Annotated[
        bool,
        Meta(
            description="Whether a lake keeps the exact records of landed rows in `_records`, for `reprocess` and for "
            "audits. Dead letters have theirs in any case."
        ),
    ] = False
    times: Annotated[
        Literal["typed", "text"],
        Meta(
            description="What times that a payload schema declares are in new tables: typed (timestamp, date, "
            "microseconds of a duration) or text. A table stays as it began."
        ),
    ] = "typed"
    sink_hosts: Annotated[
        tuple[str, ...],
        Meta(
            description="Hosts that events of subscriptions may go to; `*.example.com` stands for all below, `*` for "
            "any. None by default."
        ),
    ] = ()
    sink_private: Annotated[
        bool, Meta(description="Allow sinks at private and loopback addresses, and sinks without TLS.")
    ] = False
    sink_handshake: Annotated[
        bool, Meta(description="Ask an HTTP sink for its consent (web hook validation) before it gets events.")
    ] = True
    webhook_origin: Annotated[
        str, Meta(description="Name by which HTTP sinks know this service. Empty: the host of the registry's URL.")
    ] = ""
    webhook_secret: Annotated[
        str, Meta(description="Key that deliveries over HTTP are signed with. Empty: they are not signed.")
    ] = ""
    delivery_patience_s: Annotated[
        float,
        Meta(gt=0, description="How long an event is tried before its subscription waits for a person, in seconds."),
    ] = 86400.0
    inbound: Annotated[
        Literal["accept", "refuse"],
        Meta(description="Whether other catalogs may push into this one, or none: a governed hub refuses."),
    ] = "accept"
    foreign_edits: Annotated[
        Literal["refuse", "flag"],
        Meta(description="What becomes of an edit of an entity that belongs to another catalog: refused, or flagged."),
    ] = "refuse"
    link_hosts: Annotated[
        tuple[str, ...],
        Meta(description="Hosts that the service's own links may reach; `*` means any. None by default."),
    ] = ()
    master: Annotated[
        str,
        Meta(description="Where Spark runs. Empty: as spark-submit or the present session says, otherwise local[*]."),
    ] = ""
    storage: Annotated[
        tuple[str, ...],
        Meta(
            description="Options of object stores that lakes, checkpoints and files lie in, as KEY=VALUE: endpoint, "
            "region, timeout … Beside them the usual variables hold: AWS_…, AZURE_…, GOOGLE_…"
        ),
    ] = ()
    driver_host: Annotated[
        str,
        Meta(
            description="Name or address by which Spark's executors reach this machine, where the master is elsewhere. "
            "Empty: the address from which this machine reaches the master."
        ),
    ] = ""
    shared_paths: Annotated[
        tuple[str, ...],
        Meta(
            description="Folders that every machine of the cluster has mounted at the same path. Others are refused "
            "where the master is elsewhere."
        ),
    ] = ()
    engine: Annotated[
        str,
        Meta(
            description="What Spark's workers sort with, where the master is elsewhere: an archive of `postroom pack`, "
            "or installed, when their own Python has Postroom. Empty: an archive is made, kept and sent."
        ),
    ] = ""
    worker_python: Annotated[
        str,
        Meta(
            description="Python on Spark's workers, where the master is elsewhere. Empty: as PYSPARK_PYTHON or "
            "spark.pyspark.python say, otherwise python3.N of this version."
        ),
    ] = ""
    worker_wait_s: Annotated[
        float,
        Meta(gt=0, description="How long workers of a cluster may take to begin, in seconds."),
    ] = 45.0
    jars: Annotated[
        str,
        Meta(description="Folder with the Java libraries to read Kafka with. Empty: they are fetched once and kept."),
    ] = ""
    log_format: Annotated[
        Literal["auto", "text", "json"],
        Meta(description="How log lines look: auto is text on a terminal and JSON lines otherwise."),
    ] = "auto"
    access_log: Annotated[
        str,
        Meta(
            description="File that gets a JSON line for each request to the service, or - for standard error. Empty: "
            "requests are not logged."
        ),
    ] = ""
    otlp_endpoint: Annotated[
        str,
        Meta(
            description="URL of an OpenTelemetry collector (OTLP over HTTP) that gets traces of requests. Empty: there "
            "are none."
        ),
    ] = ""
    debug: Annotated[bool, Meta(description="Show the traceback behind an error.")] = False


class SettingOrigin(msgspec.Struct, frozen=True):
    """One setting with its value and where the value came from."""

    name: str
    value: Any
    source: str
    description: str


FIELDS = {field.name: field for field in msgspec.structs.fields(Settings)}
SECRETS = frozenset({"key", "oidc_client_secret", "schema_registry_key", "storage", "webhook_secret"})
HIDDEN = "…"


def load_settings(
    flags: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Settings:
    """The settings that hold for a command; flags that are None were not given."""
    values = {name: value for name, (value, _) in _collect(flags, environ, folder).items()}
    return Settings(**values)


def explain_settings(environ: Mapping[str, str] | None = None, folder: Path | None = None) -> list[SettingOrigin]:
    """Each setting with its value and its origin, for `postroom settings`."""
    found = _collect(None, environ, folder)
    settings = Settings(**{name: value for name, (value, _) in found.items()})
    return [
        SettingOrigin(name, displayed(settings, name), found[name][1] if name in found else "default", describe(name))
        for name in FIELDS
    ]


def displayed(settings: Settings, name: str) -> Any:
    """The value of a setting as people may see it."""
    value = getattr(settings, name)
    if value and name in SECRETS:
        return HIDDEN
    return masked(value) if name in ("db", "schema_registry") else value


def describe(name: str) -> str:
    """The sentence that explains a setting."""
    info = msgspec.inspect.type_info(FIELDS[name].type)
    while isinstance(info, msgspec.inspect.Metadata):
        if info.extra_json_schema and "description" in info.extra_json_schema:
            return str(info.extra_json_schema["description"])
        info = info.type
    return ""


def allowed(name: str) -> str:
    """The values that a setting accepts, as a phrase."""
    info: Any = _plain_type(name)
    if isinstance(info, msgspec.inspect.LiteralType):
        return "one of " + ", ".join(map(str, info.values))
    if isinstance(info, msgspec.inspect.IntType):
        return f"a whole number from {info.ge} to {info.le}"
    phrases: dict[type, str] = {
        msgspec.inspect.FloatType: "a number greater than 0",
        msgspec.inspect.BoolType: "true or false",
        msgspec.inspect.VarTupleType: "a list of texts",
    }
    return phrases.get(type(info), "a text")


def _plain_type(name: str) -> msgspec.inspect.Type:
    info = msgspec.inspect.type_info(FIELDS[name].type)
    while isinstance(info, msgspec.inspect.Metadata):
        info = info.type
    return info


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return PREFIX + name.upper()


def _collect(
    flags: Mapping[str, Any] | None, environ: Mapping[str, str] | None, folder: Path | None
) -> dict[str, tuple[Any, str]]:
    found: dict[str, tuple[Any, str]] = {}
    path = (folder or Path.cwd()) / FILE
    for name, value in _read_file(path).items():
        _known(name, str(path))
        found[name] = (_convert(name, value, f"{path}: {name}"), FILE)
    for key, text in (os.environ if environ is None else environ).items():
        if not key.startswith(PREFIX):
            continue
        name = key.removeprefix(PREFIX).lower()
        _known(name, key)
        found[name] = (_convert(name, _split(name, text), key), key)
    for name, value in (flags or {}).items():
        if value is not None and value != ():
            found[name] = (_convert(name, value, "--" + name.replace("_", "-")), "flag")
    return found


def _read_file(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSetting(f"this is not valid TOML: {error}.", place=str(path)) from None
    except OSError as error:
        raise BadSetting(f"cannot be read: {error.strerror}.", place=str(path)) from None


def _known(name: str, place: str) -> None:
    if name in FIELDS:
        return
    close = difflib.get_close_matches(name, FIELDS, n=1)
    hint = f"Did you mean {close[0]}?" if close else "`postroom settings` lists them all."
    raise UnknownSetting(f"there is no setting {name!r}.", place=place, remedy=hint)


def _split(name: str, text: str) -> Any:
    is_list = isinstance(FIELDS[name].default, tuple)
    return [part.strip() for part in text.split(",") if part.strip()] if is_list else text


def _convert(name: str, value: Any, place: str) -> Any:
    if isinstance(value, str) and FIELDS[name].default in (True, False) and isinstance(FIELDS[name].default, bool):
        value = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False, "": False}.get(
            value.lower(), value
        )
    try:
        return msgspec.convert(value, FIELDS[name].type, strict=False)
    except msgspec.ValidationError:
        shown = "this" if name in SECRETS else repr(value)
        raise BadSetting(f"{shown} does not fit; {name} is {allowed(name)}.", place=place) from None
