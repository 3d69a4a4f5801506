"""Registries as every earlier schema of the store left them, opened by this version.

`schemas/KIND-N.sql.gz` is the dump of a registry that a version with schema N served: schemas with two Versions, a
Group that was changed, a message that was deleted, and a cross reference. Who adds a migration adds such a dump.
"""

from __future__ import annotations

import gzip
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import httpx
import psycopg
import pytest
from click.testing import CliRunner

from postroom.catalog.open_store import open_store
from postroom.catalog.upgrade import SchemaVersions, schema_versions, upgrade
from postroom.cli.main import main
from postroom.errors import FileMissing, SourceUnknown
from postroom.settings import Settings
from postroom.store import migrations, postgres_migrations
from tests.http.running_service import serving
from tests.postgres import Postgres
from tests.store.test_transactions import oven

DUMPS = Path(__file__).with_name("schemas")
LATEST = {"sqlite": migrations.LATEST, "postgresql": postgres_migrations.LATEST}
SCHEMAS = [(kind, number) for kind, latest in LATEST.items() for number in range(1, latest + 1)]
OVENS = "/messagegroups/Ovens"


@pytest.fixture(params=SCHEMAS, ids=lambda one: f"{one[0]}-{one[1]}")
def schema(request: pytest.FixtureRequest) -> tuple[str, int]:
    """A kind of store and the number of a schema."""
    found: tuple[str, int] = request.param
    return found


@pytest.fixture
def older(schema: tuple[str, int], tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """The URL of a registry of that schema."""
    kind, number = schema
    script = gzip.decompress((DUMPS / f"{kind}-{number}.sql.gz").read_bytes()).decode()
    if kind == "sqlite":
        with closing(sqlite3.connect(tmp_path / "registry.db")) as file:
            file.executescript(script)
        return f"sqlite:///{tmp_path}/registry.db"
    server: Postgres = request.getfixturevalue("postgres")
    url = server.registry()
    with psycopg.connect(url) as database:
        database.execute(script.encode())
    return url


def layout(url: str) -> list[tuple[str, ...]]:
    """Columns and indexes of all tables."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as file:
            tables = [name for (name,) in file.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
            columns = [
                (table, *map(str, row[1:])) for table in tables for row in file.execute(f"PRAGMA table_info({table})")
            ]
            indexes = file.execute(
                "SELECT name, tbl_name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"
            )
            return sorted(columns + indexes.fetchall())
    statement = """
        SELECT table_name, column_name, data_type, is_nullable, collation_name FROM information_schema.columns
        WHERE table_schema = current_schema()
        UNION ALL SELECT tablename, indexname, replace(indexdef, current_schema(), ''), '', '' FROM pg_indexes
        WHERE schemaname = current_schema()
    """
    with psycopg.connect(url) as database:
        return sorted(tuple(map(str, row)) for row in database.execute(statement.encode()))


def test_a_registry_of_every_earlier_schema_goes_on(schema: tuple[str, int], older: str) -> None:
    kind, number = schema
    assert upgrade(older, Settings()) == SchemaVersions(number, LATEST[kind])
    assert schema_versions(older).found == LATEST[kind]
    with serving(older) as (_, url), httpx.Client(base_url=url) as client:
        assert client.get(OVENS).json()["description"] == "Größe 3, at the bakery"
        assert client.get(f"{OVENS}/messages").json().keys() == {"oven.heated"}
        shown = client.get("/messagegroups/bakery/messages/oven.heated").json()
        assert shown["envelopemetadata"]["type"]["value"] == "oven.heated", "the cross reference leads there"
        versions = client.get("/schemagroups/ovens/schemas/heat/versions").json()
        assert {
            name: sorted(client.get(f"/schemagroups/ovens/schemas/heat/versions/{name}").json()["properties"])
            for name in versions
        } == {"1": ["celsius"], "2": ["celsius", "door"]}
        assert len(client.get("/changes").json()["events"]) > 10
        assert client.patch(OVENS, json={"name": "Ovens of today"}).status_code == 200
        assert client.put(f"{OVENS}/messages/oven.cooled", json={}).status_code == 201
    with open_store(older, create=False) as store, store.read() as tx:
        assert next(former.attributes.get("description") for former in tx.history(OVENS)) is None


def test_an_upgraded_registry_has_the_tables_of_a_new_one(
    schema: tuple[str, int], older: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    is_file = schema[0] == "sqlite"
    new = f"sqlite:///{tmp_path}/new.db" if is_file else request.getfixturevalue("postgres").registry()
    open_store(new).close()
    upgrade(older, Settings())
    assert layout(older) == layout(new)


def test_whoever_opens_it_first_upgrades_it_and_the_others_wait(older: str) -> None:
    def write(number: int) -> None:
        with open_store(older, create=False) as store, store.write() as tx:
            tx.put(oven(f"/messagegroups/oven{number}"))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    with open_store(older) as store, store.read() as tx:
        assert {f"oven{number}" for number in range(4)} <= set(tx.ids("/messagegroups", "", 100))


def test_a_file_that_another_process_is_just_making_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "registry.db"
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("CREATE TABLE made (soon TEXT)")
        other.execute("BEGIN IMMEDIATE")  # the file is not in WAL mode yet, and the switch does not wait by itself
        threading.Timer(0.5, other.rollback).start()
        with open_store(f"sqlite:///{path}") as store, store.read() as tx:
            assert tx.entity("/") is not None


def test_to_check_changes_nothing(schema: tuple[str, int], older: str) -> None:
    kind, number = schema
    before = layout(older)
    done = CliRunner().invoke(main, ["upgrade", older, "--check"])
    assert done.exit_code == (1 if number < LATEST[kind] else 0)
    assert f"has schema {number}" in done.output
    assert layout(older) == before
    done = CliRunner().invoke(main, ["upgrade", older])
    assert done.exit_code == 0, done.output
    assert CliRunner().invoke(main, ["upgrade", older, "--check"]).exit_code == 0


def test_what_is_no_registry_is_not_made_one(tmp_path: Path, postgres: Postgres) -> None:
    with pytest.raises(FileMissing, match="no such database"):
        upgrade(f"sqlite:///{tmp_path}/none.db", Settings())
    assert not (tmp_path / "none.db").exists()
    with pytest.raises(SourceUnknown):
        upgrade("shop.db", Settings())
    with pytest.raises(FileMissing, match="there is no registry"):
        upgrade(postgres.registry(), Settings())
