"""Bring the registry of an earlier version to the schema of this one."""

from __future__ import annotations

from pathlib import Path

import msgspec

from postroom.catalog.open_store import POSTGRES, SQLITE, open_store
from postroom.errors import FileMissing, SourceUnknown
from postroom.settings import Settings
from postroom.urls import masked


class SchemaVersions(msgspec.Struct, frozen=True):
    """The schema that the tables of a registry have, and the one that this version works with."""

    found: int
    latest: int


def schema_versions(url: str) -> SchemaVersions:
    """Look at a store without changing it."""
    if url.partition(":")[0] in POSTGRES:
        from postroom.store import postgres, postgres_migrations

        versions = SchemaVersions(postgres.stored_schema(url), postgres_migrations.LATEST)
    else:
        from postroom.store import migrations, sqlite

        versions = SchemaVersions(sqlite.stored_schema(_file(url)), migrations.LATEST)
    if not versions.found:
        raise FileMissing("there is no registry in this database.", place=masked(url))
    return versions


def upgrade(url: str, settings: Settings) -> SchemaVersions:
    """Bring a store to the newest schema, all or nothing, as every opening does; which schema it had before."""
    versions = schema_versions(url)
    open_store(url, create=False, write_wait_s=settings.write_wait_s).close()
    return versions


def _file(url: str) -> Path:
    path = Path(url.removeprefix(SQLITE))
    if not url.startswith(SQLITE):
        remedy = "A store looks like sqlite:///path.db or postgresql://host/database."
        raise SourceUnknown("this is no store.", place=masked(url), remedy=remedy)
    if not path.is_file():
        raise FileMissing("there is no such database.", place=str(path))
    return path
