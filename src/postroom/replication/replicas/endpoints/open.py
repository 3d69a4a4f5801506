"""From an address to an end of a link."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from postroom.catalog.open_store import open_store
from postroom.catalog.service_client import masked
from postroom.errors import SourceUnknown
from postroom.replication.replicas.endpoints.client import ReplicaClient
from postroom.replication.replicas.endpoints.detect_service import DetectedService
from postroom.replication.replicas.endpoints.endpoint import ReplicaSource, ReplicaTarget
from postroom.replication.replicas.endpoints.files import FileSource, FileTarget
from postroom.replication.replicas.endpoints.messagecatalog import MessageCatalogEndpoint
from postroom.replication.replicas.endpoints.state_file import StateFile
from postroom.replication.replicas.endpoints.store import StoreEndpoint
from postroom.settings import Settings
from postroom.urls import STORE_SCHEMES, parse_url, scheme_of

HTTP = ("http", "https")
_REMEDY = "Give a file, a folder, http(s)://…, or sqlite:///path.db."


def open_source(address: str, settings: Settings, *, plain: bool = False, authority: str = "") -> ReplicaSource:
    """Where units come from. `plain`: use nothing but the specification's API; `authority`: of files and stores."""
    scheme = scheme_of(address)
    if scheme in HTTP and is_catalog(address):
        return MessageCatalogEndpoint(ReplicaClient(address, settings), StateFile(notebook_path(address)))
    if scheme in HTTP:
        return DetectedService(ReplicaClient(address, settings), plain=plain)
    if scheme in STORE_SCHEMES:
        return StoreEndpoint(open_store(address, create=False), masked(address), authority)
    if scheme:
        raise SourceUnknown(f"a catalog cannot be read from {scheme}://.", place=masked(address), remedy=_REMEDY)
    return FileSource(Path(address), settings, authority)


def open_target(address: str, settings: Settings, *, plain: bool = False, reads: bool = False) -> ReplicaTarget:
    """Where units go; with `reads` it is only to be looked at."""
    scheme = scheme_of(address)
    if scheme in HTTP and is_catalog(address):
        return MessageCatalogEndpoint(ReplicaClient(address, settings), StateFile(notebook_path(address)))
    if scheme in HTTP:
        return DetectedService(ReplicaClient(address, settings), StateFile(notebook_path(address)), plain=plain)
    if scheme in STORE_SCHEMES:
        return StoreEndpoint(open_store(address, create=not reads), masked(address))
    if scheme:
        raise SourceUnknown(f"nothing can be written to {scheme}://.", place=masked(address), remedy=_REMEDY)
    return FileSource(Path(address), settings) if reads else FileTarget(Path(address), settings)


def is_catalog(address: str) -> bool:
    """Whether an address is that of a message catalog: S002 gives its path that name."""
    parts = parse_url(address)
    return parts is not None and parts.path.rstrip("/").endswith("/messagecatalog")


def notebook_path(address: str) -> Path:
    """Where the notebook of a service is that keeps none itself: in the user's state folder."""
    folder = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    name = hashlib.blake2b(masked(address).encode(), digest_size=10).hexdigest()
    return Path(folder) / "postroom" / f"{name}.links"
