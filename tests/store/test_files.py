"""Who may read the files of a store."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from postroom.catalog.open_store import open_store, warn_if_world_readable
from postroom.replication.replicas.peers.open import open_source, open_target, state_path
from postroom.settings import Settings
from tests.http.running_service import serving
from tests.replication.catalogs import Kitchen, pull, served


@pytest.fixture(autouse=True)
def _generous_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    return {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}


def test_all_files_of_a_store_are_for_their_owner_alone(tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path}/registry.db") as store, store.read():
        claim = store.claim("deliveries")
        assert claim is not None
        found = modes(tmp_path)
        claim.close()
        assert {"registry.db", "registry.db-wal", "registry.db-shm", "registry.db-deliveries"} <= found.keys()
        assert set(found.values()) == {0o600}


def test_a_service_makes_nothing_that_others_can_read(tmp_path: Path) -> None:
    with serving(f"sqlite:///{tmp_path}/registry.db") as (_, url):
        assert httpx.put(f"{url}/messagegroups/ovens", json={}).status_code == 201
        assert set(modes(tmp_path).values()) == {0o600}


def test_a_file_that_is_there_keeps_its_mode_and_the_service_says_who_can_read_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "registry.db"
    for mode, warned in ((0o600, False), (0o640, False), (0o644, True), (0o604, True)):
        path.unlink(missing_ok=True)
        path.touch(mode)
        caplog.clear()
        with open_store(f"sqlite:///{path}"):
            warn_if_world_readable(f"sqlite:///{path}")
            assert set(modes(tmp_path).values()) == {mode}
        assert ("chmod 600" in caplog.text) == warned


def test_what_is_kept_about_links_has_no_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So it may be read: it lies beside files that are shared."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    here, there = Kitchen(tmp_path, "here"), Kitchen(tmp_path, "there")
    here.bake()
    with served(here) as begin, served(there) as target:
        source, secret = (url.replace("http://", "http://baker:s3cret@") for url in (begin, target))
        pull(open_source(source, Settings()), open_target(secret, Settings(), plain=True))
        pages = [path.read_text() for path in (tmp_path / "state").rglob("*.links")]
        assert len(pages) == 1
        assert state_path(secret) == state_path(target)
        assert "s3cret" not in pages[0]
