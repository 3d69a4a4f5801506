"""The Spark session of the pipeline: that of the application which runs us, or one of our own: quiet, on loopback, and
started with a Java that works.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from postroom.errors import BadFlag, ExtraMissing, MissingSystem
from postroom.pipeline.spark.java import find_java_home

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

# A task whose Python process dies is tried again; Spark's `local[n]` would give up at once.
TRIES = 4

MASTER = "local[*]"

LIBRARIES = ("pyspark", "pyarrow", "deltalake")
LOGGING = Path(__file__).with_name("log4j2.properties")

# A short batch is over before the optimising compiler pays off, and the work is done in Python anyway.
JAVA_OPTIONS = f"-Dlog4j2.configurationFile={LOGGING.as_uri()} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"

LOOPBACK = "127.0.0.1"

CONFIGURATION = {
    "spark.driver.bindAddress": LOOPBACK,
    "spark.driver.host": LOOPBACK,
    "spark.driver.extraJavaOptions": JAVA_OPTIONS,
    "spark.log.level": "ERROR",
    "spark.ui.showConsoleProgress": "false",
    "spark.ui.killEnabled": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "20000",
    "spark.sql.shuffle.partitions": "8",
    "spark.sql.session.timeZone": "UTC",
}


def require_spark() -> None:
    """Say at once which extra is missing, before any work starts."""
    for library in LIBRARIES:
        if importlib.util.find_spec(library) is None:
            raise ExtraMissing("this needs `pip install 'postroom[spark]'`.", place=library)


def inside_spark() -> bool:
    """Whether this process belongs to a Spark application: spark-submit started it, or it has a session."""
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        return True
    context = sys.modules.get("pyspark.core.context")
    return context is not None and context.SparkContext._active_spark_context is not None


@contextmanager
def spark_session(
    master: str = "", *, ui: bool = False, app: str = "postroom", configuration: Mapping[str, str] | None = None
) -> Iterator[SparkSession]:
    """A Spark session that ends with the block, together with its Java process; inside an application, its session."""
    if inside_spark():
        with _present_session(master) as session, _while_java_lives(session):
            yield session
        return
    with tempfile.TemporaryDirectory(prefix="postroom-spark-", ignore_cleanup_errors=True) as scratch:
        session = start_spark(master or MASTER, scratch=Path(scratch), ui=ui, app=app, configuration=configuration)
        try:
            with _while_java_lives(session):
                yield session
        finally:
            stop_spark(session)


@contextmanager
def _present_session(master: str) -> Iterator[SparkSession]:
    """The session of the application around us, with its settings; one that was there before stays when we are done."""
    require_spark()
    from py4j.protocol import Py4JError
    from pyspark import SparkContext
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    found = SparkContext._active_spark_context is not None
    try:
        session = SparkSession.builder.getOrCreate()
    except (PySparkException, OSError, Py4JError) as error:
        why = next((line for line in str(error).splitlines() if "xception: " in line), str(error).partition("\n")[0])
        raise MissingSystem(f"Spark did not start: {why.strip()}") from None
    try:
        running = session.sparkContext.master
        if master and master != running:
            raise BadFlag(
                f"Spark runs on {running} already, not on {master}.", remedy="Leave --master (the setting master) out."
            )
        yield session
    finally:
        if not found:
            with suppress(Py4JError, OSError):
                session.stop()


def start_spark(
    master: str,
    *,
    scratch: Path,
    ui: bool = False,
    app: str = "postroom",
    configuration: Mapping[str, str] | None = None,
) -> SparkSession:
    """Start Spark, with settings on top of our own; what Java says goes to `scratch`/java.log."""
    require_spark()
    # What breaks on the way to Java is raised as well; nobody needs the traceback twice.
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    java_home = find_java_home()
    settings = (
        CONFIGURATION
        | {
            "spark.master": patient(master),
            "spark.app.name": app,
            "spark.pyspark.python": sys.executable,
            "spark.pyspark.driver.python": sys.executable,
            "spark.ui.enabled": "true" if ui else "false",
            "spark.ui.port": "0",
            "spark.local.dir": str(scratch),
            "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        }
        | dict(configuration or {})
    )
    chosen = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    java_log = scratch / "java.log"
    # Only this variable says where Spark's pages listen; without it they do on all addresses of the machine.
    environment = {"JAVA_HOME": str(java_home), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": LOOPBACK}
    with java_log.open("wb") as output, _environment(environment):
        gateway: Any = None
        try:
            gateway = launch_gateway(  # type: ignore[no-untyped-call]  # Spark left it untyped
                chosen, {"stdout": output, "stderr": output}
            )
            context = SparkContext(gateway=gateway, conf=chosen)
            _hush(context)
            return SparkSession(context)
        except (PySparkException, OSError, Py4JError) as error:
            why = _telling_line(java_log, str(error))  # a Java error asks Java for its text, so before that ends
            _stop_gateway(gateway)
            raise MissingSystem(f"Spark did not start: {why}", place=master) from None


def _hush(context: SparkContext) -> None:
    """Keep Spark and py4j from printing tracebacks when Java goes away: a sentence says so."""

    def handle_error(*request: object) -> None:
        log.debug("Spark's Java process went away", exc_info=True)

    server: Any = context._accumulatorServer
    server.handle_error = handle_error
    logging.getLogger().addFilter(_is_not_of_py4j)


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    """Py4j, which tells of errors that it raises as well, does so by the root of all loggers."""
    return "py4j" not in Path(record.pathname).parts


def patient(master: str) -> str:
    """A local master that tries a failed task again, as clusters do."""
    if master == "local":
        return f"local[1,{TRIES}]"
    found = re.fullmatch(r"local\[([^,\]]+)\]", master)
    return f"local[{found[1]},{TRIES}]" if found else master


@contextmanager
def _while_java_lives(session: SparkSession) -> Iterator[None]:
    """Say in a sentence that Java is gone, instead of whatever broke because of it."""
    from py4j.protocol import Py4JError

    try:
        yield
    except (Py4JError, OSError, EOFError) as error:
        if _java_lives(session.sparkContext._gateway):
            raise
        raise MissingSystem(
            "Spark's Java process ended.", remedy="Run it again; with a checkpoint it goes on where it was."
        ) from error


def _java_lives(gateway: Any) -> bool:
    if gateway.proc is None:  # somebody else's
        return _java_answers(gateway)
    try:
        gateway.proc.wait(timeout=1)
    except subprocess.TimeoutExpired:
        return True
    return False


def _java_answers(gateway: Any) -> bool:
    from py4j.protocol import Py4JError

    try:
        gateway.jvm.java.lang.System.nanoTime()
    except (Py4JError, OSError):
        return False
    return True


def stop_spark(session: SparkSession) -> None:
    """Stop Spark and wait until its Java process is gone, so that the next session starts a fresh one."""
    from py4j.protocol import Py4JError

    gateway = session.sparkContext._gateway
    # A Java that was killed cannot be asked to stop.
    with suppress(Py4JError, OSError):
        session.stop()
    _stop_gateway(gateway)


def _stop_gateway(gateway: Any) -> None:
    from pyspark import SparkContext

    if gateway is not None:
        with suppress(OSError):
            gateway.shutdown()
        if gateway.proc is not None:
            gateway.proc.stdin.close()
            gateway.proc.wait(timeout=60)
    SparkContext._gateway = None
    SparkContext._jvm = None
    SparkContext._active_spark_context = None


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """Set variables for the processes started in the block only."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _telling_line(java_log: Path, error: str) -> str:
    lines = [line.strip() for line in (java_log.read_text(errors="replace") + f"\n{error}").splitlines()]
    spoken = [line for line in lines if line and not line.startswith(("at ", "...", "WARNING"))]
    telling = [line for line in spoken if " ERROR " in line or "xception: " in line or "rror: " in line] or spoken
    return telling[0] if telling else "Java ended without a word."
