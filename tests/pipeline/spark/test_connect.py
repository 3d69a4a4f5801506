"""Spark Connect: a server with a bare Python, and a client without Java. What the client needs is fetched, so only
`make long` runs this (CONNECT=1).
"""

from __future__ import annotations

import os
import re
import site
import subprocess
import sys
import sysconfig
import time
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from postroom.pipeline.lake.lake import open_lake
from postroom.pipeline.lake.ledger import read_ledger
from postroom.pipeline.lake.reconciliation import differences
from postroom.pipeline.spark.java import find_java_home
from tests.conftest import ROOT
from tests.pipeline.spark.standalone import SMALL, SPARK, TIMEOUT_S, spark_submit

pytestmark = [
    pytest.mark.spark,
    pytest.mark.xdist_group("spark"),
    pytest.mark.skipif(not os.environ.get("CONNECT"), reason="`make long` runs it"),
]

LIBRARIES = ("googleapis-common-protos", "grpcio", "grpcio-status", "pandas", "zstandard")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with our packages and those of the extra `connect`."""
    folder = tmp_path_factory.mktemp("connect") / "client"
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    uv = Path(sysconfig.get_path("scripts"), "uv")
    subprocess.run([uv, "pip", "install", "--quiet", "--python", python, *LIBRARIES], check=True)
    packages = next(folder.glob("lib/python*/site-packages"))
    (packages / "ours.pth").write_text(f"import site; site.addsitedir({site.getsitepackages()[0]!r})\n")
    return python


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server whose Python has nothing installed."""
    folder = tmp_path_factory.mktemp("server")
    venv.create(folder / "bare", with_pip=False, symlinks=True)
    environment = {
        "JAVA_HOME": str(find_java_home()),
        "PATH": f"{folder / 'bare' / 'bin'}:/usr/bin:/bin",
        "HOME": str(folder),
        "PYSPARK_PYTHON": f"python{sys.version_info[0]}.{sys.version_info[1]}",
        "SPARK_HOME": str(SPARK),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    options = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": "0",
        "spark.driver.extraJavaOptions": SMALL,
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
    }
    words = [word for name, value in options.items() for word in ("--conf", f"{name}={value}")]
    service = ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            spark_submit("--master", "local[2]", *words, *service), cwd=folder, env=environment, stdout=log, stderr=log
        )
    deadline, found = time.monotonic() + TIMEOUT_S, None
    while found is None:
        assert process.poll() is None, (folder / "log").read_text()
        assert time.monotonic() < deadline
        time.sleep(0.1)
        found = re.search(r"Spark Connect server started at: (\S+:\d+)", (folder / "log").read_text(errors="replace"))
    yield f"sc://{found[1]}"
    process.kill()
    process.wait()


def run(client: Path, server: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [client, "-W", "ignore", "-m", "postroom", "sort", "--master", server, "--shared-paths", folder, *words]
    environment = os.environ | {"JAVA_HOME": "/none"}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=TIMEOUT_S
    )


def test_files_are_sorted_by_a_server_that_has_a_bare_python(
    client: Path, server: str, fleet: Any, catalog_file: Path, records: Path, tmp_path: Path
) -> None:
    places = ["--catalog", str(catalog_file), "--source", str(records), "--lake", str(tmp_path / "lake")]
    ran = run(client, server, tmp_path, *places)
    assert ran.returncode == 0, ran.stderr
    lake = open_lake(tmp_path / "lake")
    (entry,) = read_ledger(lake)
    assert (entry.landed, entry.dead) == (fleet.landed, fleet.dead)
    assert list(differences(lake)) == []
    refused = run(client, server, tmp_path, *places, "--checkpoint", str(tmp_path / "checkpoint"))
    assert refused.returncode == 2
    assert "Spark Connect runs the batches of a stream on its server" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
