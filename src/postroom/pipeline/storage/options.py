"""Options of object stores, from variables of the environment and settings: endpoint, region, credentials, time limits.

They have the names that obstore and delta-rs (both by the Rust crate object_store) know. What is not said here both
find by themselves, such as the role of a machine in a cloud.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from postroom.errors import BadFlag, BadSetting


class Cloud(NamedTuple):
    """One kind of store: how its options begin, and the variables of the environment that count."""

    prefix: str
    variables: tuple[str, ...]


AWS = Cloud(
    "aws_",
    (
        *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION"),
        *("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ALLOW_HTTP", "AWS_VIRTUAL_HOSTED_STYLE_REQUEST"),
        *("AWS_SKIP_SIGNATURE", "AWS_REQUEST_PAYER"),
    ),
)
AZURE = Cloud(
    "azure_storage_",
    (
        *(
            "AZURE_STORAGE_ACCOUNT_NAME",
            "AZURE_STORAGE_ACCOUNT_KEY",
            "AZURE_STORAGE_SAS_KEY",
            "AZURE_STORAGE_SAS_TOKEN",
        ),
        *("AZURE_STORAGE_TOKEN", "AZURE_STORAGE_ENDPOINT", "AZURE_STORAGE_USE_EMULATOR", "AZURE_STORAGE_ALLOW_HTTP"),
        *("AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_TENANT_ID"),
        *("AZURE_STORAGE_CLIENT_ID", "AZURE_STORAGE_CLIENT_SECRET", "AZURE_STORAGE_TENANT_ID"),
    ),
)
GOOGLE = Cloud(
    "google_",
    (
        *("GOOGLE_SERVICE_ACCOUNT", "GOOGLE_SERVICE_ACCOUNT_PATH", "GOOGLE_SERVICE_ACCOUNT_KEY"),
        *("GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_SKIP_SIGNATURE", "GOOGLE_BASE_URL"),
    ),
)
CLOUDS = {"s3": AWS, "s3a": AWS, "abfs": AZURE, "abfss": AZURE, "az": AZURE, "gs": GOOGLE}

_PREFIXES = ("aws_", "azure_storage_", "azure_", "google_")
_SAME = {
    "endpoint_url": "endpoint",
    "endpoint_url_s3": "endpoint",
    "default_region": "region",
    "sas_token": "sas_key",
    "service_account_path": "service_account",
}
# What concerns the client, whatever store it speaks to.
_CLIENT = ("allow_http", "allow_invalid_certificates", "connect_timeout", "pool_idle_timeout", "proxy_url", "timeout")
_RETRIES = ("max_retries", "retry_timeout")
_DEFAULTS = {"connect_timeout": "5s", "timeout": "30s", "max_retries": "10", "retry_timeout": "120s"}
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0}


def parse_options(texts: Iterable[str]) -> dict[str, str]:
    """Options that were written as KEY=VALUE; what is wrong is told without the value."""
    options: dict[str, str] = {}
    for text in texts:
        name, mark, value = text.partition("=")
        if not mark or not name.strip():
            raise BadFlag("an option of storage is written KEY=VALUE.", place=name.strip() if mark else "--storage")
        options[name.strip().lower()] = value.strip()
    return options


def resolve_options(
    scheme: str, given: Mapping[str, str], environ: Mapping[str, str] | None = None
) -> tuple[tuple[str, str], ...]:
    """All options for one kind of store, by their full names: those given, then those of the environment."""
    cloud = CLOUDS[scheme]
    found = dict(_DEFAULTS)
    for name in cloud.variables:
        value = (os.environ if environ is None else environ).get(name)
        if value:
            found[_full_name(name.lower(), cloud)] = value
    found |= {_full_name(name, cloud): value for name, value in given.items() if _concerns(name, cloud)}
    endpoint = found.get(f"{cloud.prefix}endpoint", "")
    if endpoint and not endpoint.startswith(("http://", "https://")):
        raise BadSetting("an endpoint begins with https:// or http://.", place=endpoint)
    if endpoint.startswith("http://"):
        found.setdefault("allow_http", "true")
    if cloud is GOOGLE:
        _take_key(found)
    return tuple(sorted(found.items()))


def _concerns(name: str, cloud: Cloud) -> bool:
    """Whether an option is for this kind of store; those of others may stand beside it in the settings."""
    return not name.startswith(_PREFIXES) or name.startswith(cloud.prefix.partition("_")[0] + "_")


def _full_name(name: str, cloud: Cloud) -> str:
    short = next((name.removeprefix(prefix) for prefix in _PREFIXES if name.startswith(prefix)), name)
    short = _SAME.get(short, short)
    return short if short in _CLIENT or short in _RETRIES else cloud.prefix + short


def _take_key(options: dict[str, str]) -> None:
    """Take the key of a Google service account out of its file, which workers elsewhere do not have."""
    for name in ("google_service_account", "google_application_credentials"):
        path = Path(options.get(name, ""))
        if options.get(name) and "google_service_account_key" not in options:
            try:
                key = path.read_text()
                kind = msgspec.json.decode(key)
            except (OSError, msgspec.DecodeError):
                raise BadSetting("this file with credentials cannot be read.", place=str(path)) from None
            if isinstance(kind, dict) and kind.get("type") == "service_account":
                options["google_service_account_key"] = key
                del options[name]


def client_options(options: Mapping[str, str]) -> dict[str, Any]:
    """What obstore wants to know of the client."""
    taken: dict[str, Any] = {name: options[name] for name in _CLIENT if name in options}
    for name in ("allow_http", "allow_invalid_certificates"):
        if name in taken:
            taken[name] = taken[name].lower() in ("1", "true", "yes")
    return taken


def retry_options(options: Mapping[str, str]) -> dict[str, Any]:
    """How often and how long obstore tries again."""
    return {
        "max_retries": int(options["max_retries"]),
        "retry_timeout": timedelta(seconds=_seconds(options["retry_timeout"])),
    }


def store_options(options: Mapping[str, str]) -> dict[str, str]:
    """What obstore wants to know of the store itself."""
    return {name: value for name, value in options.items() if name not in (*_CLIENT, *_RETRIES)}


def _seconds(text: str) -> float:
    unit = next((unit for unit in ("ms", "s", "m") if text.endswith(unit)), "")
    try:
        return float(text.removesuffix(unit)) * _SECONDS.get(unit, 1.0)
    except ValueError:
        raise BadSetting("a time is written 30s or 2m.", place="retry_timeout") from None
