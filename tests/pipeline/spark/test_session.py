"""Starting Spark. A second context in one process is impossible, so these run in processes of their own."""

from __future__ import annotations

import ipaddress
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from postroom.errors import ExtraMissing
from postroom.pipeline.spark.java import find_java_home
from postroom.pipeline.spark.session import require_spark

BAD_MASTER = """
import sys
from postroom.errors import BadFlag
from postroom.pipeline.spark.session import spark_session
try:
    with spark_session("no-such-master"):
        pass
except BadFlag as error:
    sys.exit(str(error))
"""


PAGES = """
from postroom.pipeline.spark.session import spark_session
with spark_session("local[1]", ui=True) as spark:
    print(spark.sparkContext._gateway.proc.pid, spark.sparkContext.uiWebUrl, flush=True)
    input()
"""

SUBMITTED = """
from postroom.cli.main import run
run()
"""

NESTED = """
import sys
from pyspark.sql import SparkSession
from postroom.cli.main import execute
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
for master in (["--master", "local[2]"], ["--master", "local[1]"]):
    print("exit", execute([*sys.argv[1:], *master]), spark.range(7).count(), flush=True)
"""


def test_a_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postroom.pipeline.spark.session.LIBRARIES", ("library_that_is_not_installed",))
    with pytest.raises(ExtraMissing, match=r"pip install 'postroom\[spark\]'"):
        require_spark()


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_the_session_keeps_to_itself(spark: Any) -> None:
    configuration = spark.sparkContext.getConf()
    assert configuration.get("spark.driver.host") == "127.0.0.1"
    assert configuration.get("spark.pyspark.python") == sys.executable
    assert not Path("spark-warehouse").exists()
    assert "PYSPARK_PYTHON" not in os.environ


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_master_that_is_none_is_one_sentence(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", BAD_MASTER], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert ran.returncode == 1
    assert ran.stdout == ""
    assert len(ran.stderr.splitlines()) == 1
    assert "no-such-master" in ran.stderr


def listening(process: int) -> set[tuple[str, int]]:
    """The addresses and ports on which a process listens, as the kernel tells them."""
    sockets = {str(entry.readlink()) for entry in Path(f"/proc/{process}/fd").iterdir() if entry.is_symlink()}
    found: set[tuple[str, int]] = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{process}/net/{table}").read_text().splitlines()[1:]:
            _, local, _, state, *_, inode = line.split()[:10]
            if state == "0A" and f"socket:[{inode}]" in sockets:
                address, _, port = local.partition(":")
                words = [bytes.fromhex(address[start : start + 8])[::-1] for start in range(0, len(address), 8)]
                at = ipaddress.ip_address(b"".join(words))
                mapped = at.ipv4_mapped if isinstance(at, ipaddress.IPv6Address) else None
                found.add((str(mapped or at), int(port, 16)))
    return found


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_spark_listens_where_it_says_and_nowhere_else(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PAGES], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    try:
        java, pages = process.stdout.readline().split()
        places = listening(int(java))
        assert urlsplit(pages).hostname == "127.0.0.1"
        assert urlsplit(pages).port in {port for _, port in places}
        assert {address for address, _ in places} == {"127.0.0.1"}
        process.communicate("\n", timeout=120)
    finally:
        process.kill()


@pytest.fixture
def arguments(catalog_file: Path, records: Path, tmp_path: Path) -> list[str]:
    words = ["sort", "--catalog", str(catalog_file), "--source", str(records), "--lake", str(tmp_path / "lake")]
    return [*words, "--json"]


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_spark_submit_says_where_spark_runs(arguments: list[str], tmp_path: Path) -> None:
    import pyspark

    (tmp_path / "job.py").write_text(SUBMITTED)
    (tmp_path / "events").mkdir()
    configuration = {"spark.eventLog.enabled": "true", "spark.eventLog.dir": (tmp_path / "events").as_uri()}
    configuration |= {"spark.eventLog.compress": "false", "spark.eventLog.rolling.enabled": "false"}
    submit = [str(Path(pyspark.__file__).parent / "bin" / "spark-submit"), "--master", "local[1]"]
    submit += [word for name, value in configuration.items() for word in ("--conf", f"{name}={value}")]
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "JAVA_HOME": str(find_java_home())}

    ran = subprocess.run(
        [*submit, str(tmp_path / "job.py"), *arguments],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout.splitlines()[-1])["read"] == 24
    (log,) = [file for file in (tmp_path / "events").iterdir() if b"SparkListenerTaskEnd" in file.read_bytes()]
    assert '"spark.master":"local[1]"' in log.read_text()


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_session_that_is_there_is_used_and_stays(arguments: list[str], tmp_path: Path) -> None:
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "JAVA_HOME": str(find_java_home())}
    ran = subprocess.run(
        [sys.executable, "-c", NESTED, *arguments],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert [line for line in ran.stdout.splitlines() if line.startswith("exit")] == ["exit 2 7", "exit 0 7"], ran.stderr
    assert "Spark runs on local[1] already, not on local[2]." in ran.stderr
