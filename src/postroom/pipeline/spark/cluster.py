"""Masters of clusters: where they are, by which address their machines reach this one, and which paths they see."""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from lxml import etree

from postroom.errors import BadFlag, MissingSystem, ServiceUnreachable
from postroom.pipeline.local_paths import local_path, scheme_of
from postroom.settings import Settings

CONNECT = "sc://"
CONNECT_PORT = 15002
CONNECT_TIMEOUT_S = 5.0
# A master that is being restarted comes back within this time.
MASTER_TIMEOUT_S = 20.0
_PORTS = {"http": 80, "https": 443}
_KNOWN = ("local", "spark://", "yarn", "k8s://", CONNECT)
_PROXIES = ("http_proxy", "https_proxy", "grpc_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
_HADOOP = ("YARN_CONF_DIR", "HADOOP_CONF_DIR")

Address = tuple[str, int]


def is_local(master: str) -> bool:
    """Whether Spark runs on this machine alone; `local-cluster` is a cluster, though all of it is here."""
    return master.startswith("local") and not master.startswith("local-cluster")


def check_master(master: str, environ: Mapping[str, str] | None = None) -> None:
    """Say that a master cannot be one, or that nobody answers there; Spark takes more than a minute for that."""
    environ = os.environ if environ is None else environ
    if not master.startswith(_KNOWN):
        raise BadFlag(
            "there is no such master.", place=master, remedy=f"A master is {', '.join(_KNOWN[:-1])} or {_KNOWN[-1]}…"
        )
    if master == "yarn" and not any(environ.get(name) for name in _HADOOP):
        raise MissingSystem(
            "neither HADOOP_CONF_DIR nor YARN_CONF_DIR is set.",
            place=master,
            remedy="Set one of them to the folder that has the cluster's yarn-site.xml.",
        )
    addresses = master_addresses(master, environ)
    if master.startswith(("k8s://", CONNECT)) and any(environ.get(name) for name in _PROXIES):
        return  # only the proxy knows whether somebody is there
    deadline = time.monotonic() + MASTER_TIMEOUT_S
    while addresses and not any(_answers(address) for address in addresses):
        if time.monotonic() >= deadline:
            raise ServiceUnreachable(
                "no master answers there.", place=master, remedy="Is it running, and is that its port?"
            )
        time.sleep(0.5)


def master_addresses(master: str, environ: Mapping[str, str] | None = None) -> list[Address]:
    """Hosts and ports of a master; empty where nobody can tell."""
    environ = os.environ if environ is None else environ
    if master == "yarn":
        return _resource_managers(environ)
    if master.startswith("local"):
        return []
    text = master.removeprefix("k8s://").removeprefix("spark://").removeprefix(CONNECT).partition(";")[0]
    found: list[Address] = []
    for part in text.split(","):
        default = CONNECT_PORT if master.startswith(CONNECT) else 443 if master.startswith("k8s://") else 7077
        try:
            parts = urlsplit(part if "://" in part else f"//{part}")
            port = parts.port or _PORTS.get(parts.scheme, default)
        except ValueError:
            raise BadFlag("this is no address of a master.", place=master) from None
        if parts.hostname:
            found.append((parts.hostname, port))
    return found


def driver_address(master: str, environ: Mapping[str, str] | None = None) -> str:
    """The address from which this machine reaches a master; empty where nobody can tell, and Spark has to guess."""
    for host, port in master_addresses(master, environ):
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
            with socket.socket(family, kind, protocol) as probe:
                probe.connect(address)  # over UDP this sends nothing: it only chooses a way
                return str(probe.getsockname()[0])
        except OSError:
            continue
    return ""


def can_bind(host: str) -> bool:
    """Whether a name or address is one of this machine's own, and not that of a gateway before it."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.bind(address)
            return True
    except OSError:
        return False


def check_shared(path: str | Path, kind: str, settings: Settings) -> None:
    """Refuse a path of this machine that the workers of a cluster may not see."""
    if scheme_of(path) not in ("", "file"):
        return
    found = local_path(path, kind)
    # Links are not followed: a worker has this path, wherever it leads there.
    if any(found.is_relative_to(local_path(shared, "a shared path")) for shared in settings.shared_paths):
        return
    raise BadFlag(
        f"{kind} on this machine's own disk cannot be seen by the workers of a cluster.",
        place=str(path),
        remedy="Give an address that all machines reach; or say --shared-paths FOLDER (the setting shared_paths) for a "
        "folder that all of them have mounted at the same path.",
    )


def _answers(address: Address) -> bool:
    try:
        with socket.create_connection(address, CONNECT_TIMEOUT_S):
            return True
    except OSError:
        return False


def _resource_managers(environ: Mapping[str, str]) -> list[Address]:
    """The resource managers of YARN, as the configuration of Hadoop names them."""
    folder = next((environ[name] for name in _HADOOP if environ.get(name)), "")
    values = _hadoop_values(Path(folder) / "yarn-site.xml") if folder else {}
    ids = [part.strip() for part in values.get("yarn.resourcemanager.ha.rm-ids", "").split(",") if part.strip()]
    found: list[Address] = []
    for suffix in [f".{name}" for name in ids] or [""]:
        address = values.get(f"yarn.resourcemanager.address{suffix}", "")
        host, _, port = address.rpartition(":")
        if not host:
            host, port = values.get(f"yarn.resourcemanager.hostname{suffix}", ""), "8032"
        if re.fullmatch(r"[\w.-]+", host) and port.isdigit():
            found.append((host, int(port)))
    return found


def _hadoop_values(file: Path) -> dict[str, str]:
    try:
        root = etree.parse(file, etree.XMLParser(resolve_entities=False, no_network=True)).getroot()
    except (OSError, etree.XMLSyntaxError):
        return {}
    return {each.findtext("name", "").strip(): each.findtext("value", "").strip() for each in root.iter("property")}
