"""Folders and object stores behave alike, as far as a lake can tell."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.commit_plan import look_before
from postroom.pipeline.lake.compaction import tidy
from postroom.pipeline.lake.lake import create_lake
from postroom.pipeline.lake.ledger import read_ledger
from postroom.pipeline.lake.reconciliation import differences
from postroom.pipeline.storage.interface import LeaseTaken, Storage
from postroom.pipeline.storage.open_storage import open_storage
from tests.object_stores import S3Server
from tests.other_stores import OtherStore, azurite, versitygw


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OtherStore]:
    with versitygw(tmp_path_factory.mktemp("versitygw")) as store:
        yield store


@pytest.fixture(scope="module")
def azure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OtherStore]:
    with azurite(tmp_path_factory.mktemp("azurite")) as store:
        yield store


@pytest.fixture(params=["folder", "s3", "gateway", "azure"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    if request.param == "folder":
        return open_storage(tmp_path, "a lake")
    if request.param != "s3":
        other: OtherStore = request.getfixturevalue(request.param)
        return open_storage(f"{other.place}/{uuid4().hex}", "a lake", other.options)
    server: S3Server = request.getfixturevalue("s3")
    return open_storage(f"s3a://{server.bucket()}/a lake", "a lake", server.options)


def test_a_file_is_written_read_listed_and_removed(storage: Storage) -> None:
    storage.write("fleet~3A/v@2/part-1.parquet", b"one")
    storage.write("fleet~3A/v@2/part-1.parquet", b"two")
    assert storage.read("fleet~3A/v@2/part-1.parquet") == b"two"
    assert storage.folders("") == ["fleet~3A"]
    assert storage.folders("fleet~3A") == ["v@2"]
    assert list(storage.names("fleet~3A")) == []
    (file,) = storage.files("fleet~3A/v@2")
    assert (file.path, file.size) == ("fleet~3A/v@2/part-1.parquet", 3)
    assert storage.move("fleet~3A/v@2/part-1.parquet", "fleet~3A/v@3/part-1.parquet")
    assert not storage.move("fleet~3A/v@2/part-1.parquet", "fleet~3A/v@3/part-1.parquet")
    assert not storage.exists("fleet~3A/v@2/part-1.parquet")
    assert storage.exists("fleet~3A/v@3/part-1.parquet")
    storage.delete(["fleet~3A/v@3/part-1.parquet", "not/there"])
    with pytest.raises(FileNotFoundError):
        storage.read("fleet~3A/v@3/part-1.parquet")
    assert list(storage.names("nowhere")) == list(storage.folders("nowhere")) == []


def test_of_two_who_create_a_file_one_does(storage: Storage) -> None:
    assert storage.create("_manifests/run-0.json", b"first")
    assert not storage.create("_manifests/run-0.json", b"second")
    assert storage.read("_manifests/run-0.json") == b"first"


def test_a_file_is_written_piece_by_piece_and_read_in_parts(storage: Storage) -> None:
    with storage.output("t/big") as file:
        file.write(b"a" * 100)
        file.write(b"end")
    reader = storage.input("t/big")
    reader.seek(100)
    assert reader.read() == b"end"


def test_a_lease_is_held_by_one_and_tells_its_state(storage: Storage) -> None:
    storage.write("_claims/other", b"")
    assert storage.look("_claims/run-0") is None
    with storage.hold("_claims/run-0") as lease:
        lease.set_state(b"held")
        with pytest.raises(LeaseTaken), storage.hold("_claims/run-0"):
            pass
        seen = storage.look("_claims/run-0")
        assert seen is not None
        assert (seen.state, seen.is_held) == (b"held", True)
    seen = storage.look("_claims/run-0")
    assert seen is not None
    assert (seen.state, seen.is_held) == (b"held", False)
    assert storage.mark("_claims/run-0", seen, b"dead")
    with storage.hold("_claims/run-0") as lease:
        lease.set_state(b"ended")


def test_an_error_names_the_place_and_no_secret(s3: S3Server) -> None:
    lost = open_storage("s3://no-such-bucket-here/lake", "a lake", s3.options)
    with pytest.raises(Exception, match="there is no such bucket") as raised:
        lost.write("x", b"1")
    assert "flour-and-water" not in str(raised.value)


def test_the_options_of_a_store_are_in_no_text(s3: S3Server) -> None:
    storage: Any = open_storage("s3://bucket/lake", "a lake", s3.options)
    assert "flour" not in repr(storage) + str(storage) + storage.url


@pytest.mark.parametrize("server", ["gateway", "azure"])
def test_batches_land_once_in_other_stores(
    request: pytest.FixtureRequest, fleet: Any, records: Path, server: str
) -> None:
    other: OtherStore = request.getfixturevalue(server)
    lake = create_lake(f"{other.place}/{uuid4().hex}", other.options)
    for batch in (0, 1, 1):
        job = fleet.job(lake, fleet.compiled(), batch=batch)
        commit_batch(lake, job, "records", [fleet.task(job, records, storage=lake.storage)], look_before(lake))
    assert [entry.read for entry in read_ledger(lake)] == [24, 24]
    assert list(differences(lake)) == []
    tidy(lake)
    assert list(differences(lake)) == []
