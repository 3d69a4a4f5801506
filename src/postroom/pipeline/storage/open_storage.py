"""Open the storage that a path or an address names."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path

from postroom.errors import ExtraMissing, LakeRefused
from postroom.pipeline.local_paths import local_path, scheme_of
from postroom.pipeline.storage.folder import FolderStorage
from postroom.pipeline.storage.interface import Storage
from postroom.pipeline.storage.options import CLOUDS, resolve_options


def is_remote(place: str | Path) -> bool:
    """Whether a place is in an object store."""
    return scheme_of(place) in CLOUDS


def open_storage(place: str | Path, kind: str, options: Mapping[str, str] | None = None) -> Storage:
    """The storage at a place: a folder, or a prefix in an object store. `kind` says what is to lie there."""
    scheme = scheme_of(place)
    if scheme == "hdfs":
        raise LakeRefused(
            f"{kind} on HDFS is not supported.",
            place=str(place),
            remedy="Name a folder that is mounted from it on all machines, or an object store.",
        )
    if scheme not in CLOUDS:
        return FolderStorage(local_path(place, kind))
    if importlib.util.find_spec("obstore") is None:
        raise ExtraMissing("this needs `pip install 'postroom[spark]'`.", place="obstore")
    from postroom.pipeline.storage.object_store import ObjectStorage, check_url

    return ObjectStorage(check_url(str(place), kind), resolve_options(scheme, options or {}))
