"""Starting Spark. A second context in one process is impossible, so these run in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from postroom.errors import ExtraMissing
from postroom.pipeline.spark import require_spark

BAD_MASTER = """
import sys
from postroom.errors import MissingSystem
from postroom.pipeline.spark import spark_session
try:
    with spark_session("no-such-master"):
        pass
except MissingSystem as error:
    sys.exit(str(error))
"""


def test_a_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postroom.pipeline.spark.LIBRARIES", ("library_that_is_not_installed",))
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
