"""What PostgreSQL is for: several processes on one registry, and a server that comes and goes."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import psycopg
import pytest

from postroom.catalog.move import move
from postroom.catalog.open_store import open_store
from postroom.errors import FileMissing, StoreUnusable
from postroom.registry.problems import RegistryProblem
from postroom.settings import Settings
from postroom.store.interface import Store
from postroom.store.postgres import MOST_CONNECTIONS, PostgresStore
from postroom.store.postgres_migrations import LATEST
from tests.brokers import free_port
from tests.postgres import Postgres, cut_sessions, installed, running
from tests.store.random_registry import fill
from tests.store.test_copy_rows import contents
from tests.store.test_transactions import oven


@pytest.fixture
def url(postgres: Postgres) -> str:
    return postgres.registry()


@pytest.fixture
def own_server() -> Iterator[Postgres]:
    """A server that a test may kill; it does not answer before what it says is on disk."""
    with running("", "-c", "fsync=on") as server:
        yield server


ADD = """
import sys
from postroom.catalog.move import move
from postroom.catalog.open_store import open_store
from postroom.registry.operations import import_document

with open_store(sys.argv[1], create=False, write_wait_s=60) as store:
    for number in range(20):
        with store.write() as tx:
            import_document(tx, {"messagegroups": {f"{sys.argv[2]}.{number}": {}}})
"""


def test_processes_write_in_turn_and_a_reader_of_the_log_misses_nothing(url: str) -> None:
    with open_store(url) as store:
        writers = [subprocess.Popen([sys.executable, "-c", ADD, url, f"p{one}"]) for one in range(4)]
        seen: list[int] = []
        created: set[str] = set()
        while any(writer.poll() is None for writer in writers) or store.version() < 81:
            with store.read() as tx:
                for change in tx.changes(seen[-1] if seen else 0, 1000):
                    seen.append(change.sequence)
                    created |= {change.xid} if change.action == "created" else set()
        assert [writer.wait() for writer in writers] == [0] * 4
        with store.read() as tx:
            everything = [change.sequence for change in tx.changes(0, 10**6)]
            assert tx.count("/messagegroups") == 80
        assert len(created) == 81
    assert seen == everything == list(range(1, len(everything) + 1))


def test_what_one_process_commits_the_others_see_at_once(url: str) -> None:
    with open_store(url) as here, open_store(url, create=False) as there:
        for number in range(10):
            before = there.version()
            with here.write() as tx:
                tx.put(oven(f"/messagegroups/oven{number}"))
            assert there.version() > before
            with there.read() as tx:
                assert tx.entity(f"/messagegroups/oven{number}") is not None


def test_a_write_waits_for_another_process_only_so_long(url: str) -> None:
    with open_store(url) as here, open_store(url, create=False, write_wait_s=0.2) as there:
        with here.write() as tx:
            tx.put(oven("/messagegroups/ovens"))
            with pytest.raises(RegistryProblem, match="too much to do") as refused, there.write():
                pass
        assert refused.value.extra_headers["retry-after"]
        with there.write() as tx:
            assert tx.entity("/messagegroups/ovens") is not None


def test_a_claim_has_one_holder_among_all_processes(url: str) -> None:
    with open_store(url) as here, open_store(url, create=False) as there:
        held = here.claim("dispatcher")
        assert held is not None
        assert there.claim("dispatcher") is None
        other = there.claim("links")
        assert other is not None
        held.close()
        other.close()
        again = there.claim("dispatcher")
        assert again is not None
        with closing(again):
            assert here.claim("dispatcher") is None


def test_a_claim_whose_session_is_lost_is_known_to_be_lost(url: str) -> None:
    with open_store(url) as here, open_store(url, create=False) as there:
        held = here.claim("dispatcher")
        assert held is not None
        assert held.holds()
        assert cut_sessions(url, "advisory") == 1
        assert not held.holds()
        taken = there.claim("dispatcher")
        assert taken is not None
        assert here.claim("dispatcher") is None
        assert not held.holds(), "it does not come back"
        taken.close()


def test_a_pool_that_runs_dry_answers_that_there_is_too_much_to_do_and_recovers(url: str) -> None:
    with open_store(url, write_wait_s=0.3) as store:
        with ExitStack() as everybody:
            for _ in range(MOST_CONNECTIONS):
                everybody.enter_context(store.read())
            for another in (store.read, store.write):
                told = f"All {MOST_CONNECTIONS} connections to the database have been in use for 0.3 seconds"
                with pytest.raises(RegistryProblem, match=told) as refused, another():
                    pass
                assert refused.value.extra_headers["retry-after"]
        with store.write() as tx:
            tx.put(oven("/messagegroups/ovens"))
        with store.read() as tx:
            assert tx.entity("/messagegroups/ovens") is not None


def test_a_database_that_goes_away_and_comes_back_is_waited_for(own_server: Postgres) -> None:
    with open_store(own_server.registry(), write_wait_s=1) as store:
        with store.write() as tx:
            tx.put(oven("/messagegroups/ovens"))
        claim = store.claim("dispatcher")
        assert claim is not None
        own_server.kill()
        for use in (store.read, store.write):
            with pytest.raises(RegistryProblem, match="too much to do"), use():
                pass
        with pytest.raises(RegistryProblem, match="too much to do"):
            store.version()
        assert store.trouble(0)
        assert store.claim("dispatcher") is None
        assert not claim.holds()
        time.sleep(4)
        assert store.trouble(0)
        own_server.start("-c", "fsync=on")
        until = time.monotonic() + 3
        while store.trouble(0) and time.monotonic() < until:
            time.sleep(0.1)
        with store.read() as tx:
            assert tx.entity("/messagegroups/ovens") is not None
        again = store.claim("dispatcher")
        assert again is not None
        again.close()


@pytest.mark.parametrize("release", ["15", "16", "18"])
def test_every_release_of_postgresql_that_is_supported_holds_a_registry(release: str, tmp_path: Path) -> None:
    if release == "15" and release not in installed():
        pytest.skip("NOT HERE: PostgreSQL 15; the oldest release was not tried (apt-get install postgresql-15)")
    file = f"sqlite:///{tmp_path}/registry.db"
    fill(file, 1)
    with running(release) as server:
        url = server.registry()
        assert move(file, url, Settings()) == contents(url)
        with open_store(url, create=False) as store, store.write() as tx:
            tx.put(oven("/messagegroups/ovens"))
        with psycopg.connect(url) as connection:
            assert connection.info.server_version // 10000 == int(release)


def test_registries_in_schemas_of_one_database_know_nothing_of_each_other(postgres: Postgres) -> None:
    one, other = postgres.registry(), postgres.registry()
    with open_store(one) as here, open_store(other, write_wait_s=0.5) as there, here.write() as tx:
        tx.put(oven("/messagegroups/ovens"))
        with there.write() as beside:
            assert beside.entity("/messagegroups/ovens") is None


def test_connections_that_were_cut_are_replaced(url: str) -> None:
    with open_store(url) as store:
        with store.read() as tx:
            assert tx.entity("/") is not None
        before = store.version()
        with psycopg.connect(url, autocommit=True) as admin:
            admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name = 'postroom' AND pid <> pg_backend_pid()"
            )
        with store.read() as tx:
            assert tx.entity("/") is not None
        with store.write() as tx:
            tx.put(oven("/messagegroups/ovens"))
        assert store.version() == before + 1


def test_a_database_without_a_registry_is_told_from_one(url: str) -> None:
    with pytest.raises(FileMissing, match="no registry in this database"):
        open_store(url, create=False)
    with open_store(url, model="none") as store, store.read() as tx:
        assert tx.model().groups == {}


def test_a_database_of_a_newer_postroom_is_refused(url: str) -> None:
    open_store(url).close()
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE state SET schema = %s", (LATEST + 1,))
    with pytest.raises(StoreUnusable, match="newer Postroom"):
        open_store(url)


@pytest.mark.parametrize("url", ["postgresql://[::1/registry", "postgresql://host/db?colour=red", "postgres://h:port/"])
def test_an_address_that_is_none_is_refused_in_a_sentence(url: str) -> None:
    with pytest.raises(StoreUnusable, match="this is no address of a database: |cannot be used: "):
        open_store(url)


def test_no_sentence_has_a_password(url: str) -> None:
    with pytest.raises(StoreUnusable) as refused:
        open_store(f"postgresql://anna:secret@127.0.0.1:{free_port()}/registry?application_name=hidden")
    assert "secret" not in str(refused.value)
    assert "hidden" not in str(refused.value)


def test_every_write_that_was_acknowledged_survives_the_death_of_the_server(own_server: Postgres) -> None:
    acknowledged: list[int] = []
    stopping = threading.Event()

    def write(store: Store) -> None:
        number = 0
        while not stopping.is_set():
            number += 1
            try:
                with store.write() as tx:
                    tx.put(oven(f"/messagegroups/oven{number}"))
            except RegistryProblem:
                time.sleep(0.05)
            else:
                acknowledged.append(number)

    with open_store(own_server.registry()) as store:
        assert isinstance(store, PostgresStore)
        writer = threading.Thread(target=write, args=(store,))
        writer.start()
        for _ in range(3):
            reached = len(acknowledged) + 20
            while len(acknowledged) < reached:
                time.sleep(0.01)
            own_server.kill()
            own_server.start("-c", "fsync=on")
        reached = len(acknowledged) + 20
        while len(acknowledged) < reached:
            time.sleep(0.01)
        stopping.set()
        writer.join()
        with store.read() as tx:
            there = {int(one.removeprefix("oven")) for one in tx.ids("/messagegroups", "", 10**6)}
    assert set(acknowledged) <= there
