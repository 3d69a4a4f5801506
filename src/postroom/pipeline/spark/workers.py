"""Workers of a cluster made ready: they get the engine, and are asked once whether they can use it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from concurrent.futures import TimeoutError as Late
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from postroom.errors import BadSetting, WorkersUnfit
from postroom.pipeline.spark.cluster import is_local
from postroom.pipeline.spark.engine_archive import cached_archive
from postroom.pipeline.spark.worker_calls import ENGINE_FOLDER, WORKER_PYTHON, call_workers, is_connect
from postroom.pipeline.worker.spark_tasks import run_greeting
from postroom.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INSTALLED = "installed"
# How many tasks workers are given at a time; Connect has no other way to say it than to let Spark cut a range.
PARALLELISM = "spark.postroom.parallelism"
_READY = "spark.postroom.ready"
_MANY = 100_000
_LOOK_S = 0.5


def prepare_workers(spark: SparkSession, settings: Settings) -> None:
    """Send the engine to the workers of a cluster, and raise unless they begin and can load it; once per session."""
    if runs_here(spark) or spark.conf.get(_READY, ""):
        return
    options = {}
    if settings.worker_python:
        options[WORKER_PYTHON] = settings.worker_python
    archive = engine_archive(settings)
    if archive is not None:
        options[ENGINE_FOLDER] = archive.name.removesuffix(".zip")
        _send(spark, f"{archive}#{options[ENGINE_FOLDER]}")
    with _kept_if_well(spark, options):
        found = _greet(spark, settings)
    spark.conf.set(PARALLELISM, str(max(found, 1)))
    spark.conf.set(_READY, "true")


def runs_here(spark: SparkSession) -> bool:
    """Whether the workers of a session are children of this machine's own Spark."""
    return not is_connect(spark) and is_local(spark.sparkContext.master or "")


def parallelism(spark: SparkSession) -> int:
    """How many tasks a session runs at a time."""
    if is_connect(spark):
        return int(spark.conf.get(PARALLELISM, "") or 1)
    return spark.sparkContext.defaultParallelism


def engine_archive(settings: Settings) -> Path | None:
    """The archive that workers of a cluster are sent; None when they have Postroom themselves."""
    if settings.engine == INSTALLED:
        return None
    if not settings.engine:
        return cached_archive()
    archive = Path(settings.engine).absolute()
    if not archive.is_file() or archive.suffix != ".zip" or "#" in archive.name:
        raise BadSetting(
            f"the setting engine names no archive: {settings.engine}",
            remedy="`postroom pack` makes one; `installed` says that workers have Postroom.",
        )
    return archive


def python_of_workers(settings: Settings, configured: str = "") -> str:
    """The Python that workers are asked for: a setting, what Spark was told, or one of this version."""
    told = settings.worker_python or configured or os.environ.get("PYSPARK_PYTHON", "")
    return told or f"python{sys.version_info[0]}.{sys.version_info[1]}"


@contextmanager
def _kept_if_well(spark: SparkSession, options: Mapping[str, str]) -> Iterator[None]:
    """Set options of a session, and take them back if what follows fails."""
    before = {name: spark.conf.get(name, "") for name in options}
    for name, value in options.items():
        spark.conf.set(name, value)
    try:
        yield
    except BaseException:
        for name, earlier in before.items():
            if earlier:
                spark.conf.set(name, earlier)
            else:
                spark.conf.unset(name)
        raise


def _send(spark: SparkSession, archive: str) -> None:
    if is_connect(spark):
        spark.addArtifacts(archive, archive=True)
    else:
        spark.sparkContext.addArchive(archive)


def _greet(spark: SparkSession, settings: Settings) -> int:
    """Let workers load the engine; says in how many parts Spark runs such work."""
    tag = f"postroom-greeting-{uuid4().hex}"
    with ThreadPoolExecutor(1) as pool:
        answers = pool.submit(_answers, spark, tag)
        deadline = time.monotonic() + settings.worker_wait_s
        while True:
            try:
                return answers.result(timeout=_LOOK_S)
            except Late:
                if time.monotonic() >= deadline and not _has_executors(spark):
                    # What is not begun yet cannot be stopped, so this is said until it is.
                    while wait([answers], _LOOK_S).not_done:
                        spark.sparkContext.cancelJobsWithTag(tag)
                    raise _nobody(spark, settings) from None


def _answers(spark: SparkSession, tag: str) -> int:
    if is_connect(spark):
        return len(call_workers(spark.range(_MANY), run_greeting, b""))
    spark.sparkContext.addJobTag(tag)  # of this thread alone
    return len(call_workers(spark.range(0, _MANY, 1, parallelism(spark)), run_greeting, b""))


def _has_executors(spark: SparkSession) -> bool:
    """Whether anybody beside the driver works for this application."""
    if is_connect(spark):
        return True
    context: Any = spark.sparkContext
    return bool(context._jsc.sc().getExecutorMemoryStatus().size() > 1)


def _nobody(spark: SparkSession, settings: Settings) -> WorkersUnfit:
    configuration = spark.sparkContext.getConf()
    memory, host = configuration.get("spark.executor.memory", "1g"), configuration.get("spark.driver.host", "")
    return WorkersUnfit(
        f"no worker began within {settings.worker_wait_s:.0f} s.",
        place=spark.sparkContext.master or "",
        remedy=f"Are there workers with a free core and {memory} of memory (--conf spark.executor.memory=…), and do "
        f"they reach this machine as {host} (the setting driver_host)? The setting worker_wait_s waits longer.",
    )
