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
from postroom.pipeline.spark.cluster import CONNECT, can_bind, check_master, driver_address, is_local
from postroom.pipeline.spark.errors import error_from_spark
from postroom.pipeline.spark.java import find_java_home
from postroom.pipeline.spark.worker_calls import WORKER_PYTHON, is_connect
from postroom.pipeline.spark.workers import python_of_workers
from postroom.settings import Settings

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
_JAVA = "spark.driver.extraJavaOptions"
# Hadoop's client waits for a resource manager that is away for a quarter of an hour.
_PATIENCE_WITH_YARN = {
    "spark.hadoop.yarn.resourcemanager.connect.max-wait.ms": "30000",
    "spark.hadoop.ipc.client.connect.max.retries": "3",
}

CONFIGURATION = {
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
    master: str = "",
    *,
    ui: bool = False,
    app: str = "postroom",
    configuration: Mapping[str, str] | None = None,
    settings: Settings | None = None,
) -> Iterator[SparkSession]:
    """A Spark session that ends with the block, together with its Java process; inside an application, its session.

    The configuration comes on top of `spark-defaults.conf`, and that on top of our own.
    """
    settings = settings or Settings()
    chosen = find_master(master, configuration)
    if inside_spark():
        with _present_session(master, configuration or {}) as session, _while_java_lives(session):
            yield session
        return
    if chosen.startswith(CONNECT):
        with _connected(chosen, configuration or {}) as session:
            yield session
        return
    with tempfile.TemporaryDirectory(prefix="postroom-spark-", ignore_cleanup_errors=True) as scratch:
        session = start_spark(
            chosen, scratch=Path(scratch), ui=ui, app=app, configuration=configuration, settings=settings
        )
        try:
            with _while_java_lives(session):
                yield session
        finally:
            stop_spark(session)


def find_master(master: str = "", configuration: Mapping[str, str] | None = None) -> str:
    """Where Spark will run: as said, as configured, or here; in an application, where that runs, if it says so yet."""
    if inside_spark():
        context = sys.modules.get("pyspark.core.context")
        active = context.SparkContext._active_spark_context if context is not None else None
        # Before spark-submit's session is there, its Java process knows, and nobody else.
        return master if active is None else str(active.master)
    return master or (configuration or {}).get("spark.master") or spark_defaults().get("spark.master") or MASTER


def spark_defaults(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """What `spark-defaults.conf` says, where Spark itself would look for it."""
    environ = os.environ if environ is None else environ
    home = environ.get("SPARK_HOME", "")
    folder = environ.get("SPARK_CONF_DIR") or (f"{home}/conf" if home else "")
    try:
        lines = Path(folder, "spark-defaults.conf").read_text().splitlines() if folder else []
    except OSError:
        return {}
    found = (re.match(r"\s*([^\s#!=:][^\s=:]*)\s*[=:\s]\s*(.*?)\s*$", line) for line in lines)
    return {each[1]: each[2] for each in found if each is not None}


@contextmanager
def _connected(master: str, configuration: Mapping[str, str]) -> Iterator[SparkSession]:
    """A session of Spark Connect: no Java on this side."""
    from pyspark.errors import PySparkException, PySparkImportError
    from pyspark.sql import SparkSession

    check_master(master)
    if jars := configuration.get("spark.jars"):
        log.debug("a server of Spark Connect has its own libraries: %s stay here", jars)
    try:
        session = SparkSession.builder.remote(master).getOrCreate()
        session.conf.set("spark.sql.session.timeZone", "UTC")
        for name, value in configuration.items():
            if name.startswith("spark.sql."):
                session.conf.set(name, value)
    except PySparkImportError as error:
        raise ExtraMissing(
            f"Spark Connect needs libraries that are not here: {str(error).partition(chr(10))[0]}",
            remedy="Run `pip install 'postroom[connect]'`.",
        ) from None
    except (PySparkException, OSError) as error:
        raise MissingSystem(f"Spark Connect did not start: {str(error).partition(chr(10))[0]}", place=master) from None
    try:
        yield session
    finally:
        with suppress(Exception):
            session.stop()


@contextmanager
def _present_session(master: str, configuration: Mapping[str, str]) -> Iterator[SparkSession]:
    """The session of the application around us, with its settings; one that was there before stays when we are done."""
    require_spark()
    from py4j.protocol import Py4JError
    from pyspark import SparkContext
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    found = SparkContext._active_spark_context is not None
    try:
        session = SparkSession.builder.config(map=dict(configuration)).getOrCreate()
    except (PySparkException, OSError, Py4JError) as error:
        why = next((line for line in str(error).splitlines() if "xception: " in line), str(error).partition("\n")[0])
        raise MissingSystem(f"Spark did not start: {why.strip()}") from None
    try:
        running = master if is_connect(session) else session.sparkContext.master
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
    settings: Settings | None = None,
) -> SparkSession:
    """Start Spark, with settings on top of our own; what Java says goes to `scratch`/java.log."""
    require_spark()
    check_master(master)
    # What breaks on the way to Java is raised as well; nobody needs the traceback twice.
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    java_home = find_java_home()
    ours = CONFIGURATION | {
        "spark.app.name": app,
        "spark.ui.enabled": "true" if ui else "false",
        "spark.ui.port": "0",
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        # The driver's; what workers run is said beside it, where they are elsewhere.
        "spark.pyspark.driver.python": sys.executable,
    }
    given = spark_defaults() | dict(configuration or {})
    placed = _here(scratch) if is_local(master) else _elsewhere(master, settings or Settings(), given)
    chosen_options = ours | placed | given | {"spark.master": patient(master)}
    # Options of Java add up, or ours would be lost with the first one of somebody else's.
    chosen_options[_JAVA] = f"{JAVA_OPTIONS} {given.get(_JAVA, '')}".strip()
    chosen = SparkConf(loadDefaults=False).setAll(list(chosen_options.items()))
    java_log = scratch / "java.log"
    # Only SPARK_LOCAL_IP says where Spark's pages listen; without it they do on all addresses of the machine.
    environment = {"JAVA_HOME": str(java_home), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": LOOPBACK}
    if not is_local(master):
        environment["SPARK_LOCAL_DIRS"] = str(scratch)  # a setting would be the executors' too
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


def _here(scratch: Path) -> dict[str, str]:
    """How Spark keeps to this machine."""
    return {
        "spark.driver.bindAddress": LOOPBACK,
        "spark.driver.host": LOOPBACK,
        "spark.local.dir": str(scratch),
        "spark.pyspark.python": sys.executable,
    }


def _elsewhere(master: str, settings: Settings, given: Mapping[str, str]) -> dict[str, str]:
    """How the machines of a cluster reach this one, and what they run. Nothing in it is a path of this machine."""
    python = python_of_workers(settings, given.get("spark.pyspark.python", ""))
    found = {"spark.pyspark.python": python, WORKER_PYTHON: python, **_PATIENCE_WITH_YARN}
    host = settings.driver_host or given.get("spark.driver.host", "") or driver_address(master)
    if host:
        # A name or address that stands for this machine on a gateway cannot be listened on.
        found |= {"spark.driver.host": host, "spark.driver.bindAddress": host if can_bind(host) else "0.0.0.0"}  # noqa: S104
    return found


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
    from py4j.protocol import Py4JError, Py4JJavaError

    try:
        yield
    except (Py4JError, OSError, EOFError) as error:
        if is_connect(session) or _java_lives(session.sparkContext._gateway):
            if isinstance(error, Py4JJavaError):
                raise error_from_spark(str(error)) from error
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
