"""Calls of Postroom's functions in Spark's workers, which may have a bare Python.

What is sent is a function that cloudpickle packs whole (its module could not be imported there), the name of ours, and
what it is given. The first one puts the engine on the path, compares versions, and only then imports the second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from postroom.pipeline.spark.errors import error_from_spark
from postroom.version import VERSION

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

Batches = Iterator["pa.RecordBatch"]
Task = Callable[[bytes, Batches], Iterator[bytes]]

ANSWER = "answer binary"
# Settings of a session that say how its workers were made ready; a stream's sessions are copies and have them too.
ENGINE_FOLDER = "spark.postroom.engine"
# Spark's own: the Python of workers, where that is not the driver's.
WORKER_PYTHON = "spark.sql.execution.pyspark.python"


class WorkerCall(msgspec.Struct, frozen=True):
    """A function of ours, `package.module:name`, its argument, and the folder beside the worker that has the engine.

    The function gets the argument and Arrow batches, and yields answers as bytes.
    """

    function: str
    argument: bytes
    folder: str = ""

    def __call__(self, batches: Batches) -> Batches:
        """Never called: what arrives in a worker is what `__reduce__` says."""
        raise NotImplementedError

    def __reduce__(self) -> tuple[Any, ...]:
        return _restorer(), (VERSION, self.folder, self.function, self.argument)


def call_workers(frame: DataFrame, function: Task, argument: bytes, place: str = "") -> list[bytes]:
    """What a function of ours answers to the parts of a DataFrame; of tasks that Spark runs twice, one counts.

    An error names the place that the work is for.
    """
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    name = f"{function.__module__}:{function.__qualname__}"
    call = WorkerCall(name, argument, frame.sparkSession.conf.get(ENGINE_FOLDER, "") or "")
    try:
        return [bytes(row[0]) for row in _mapped(frame, call).collect()]
    except (PySparkException, Py4JJavaError) as error:
        # Of what Java raises, the text is in Java, and gone with it.
        raise error_from_spark(str(error), place) from error


def is_connect(spark: SparkSession) -> bool:
    """Whether a session is one of Spark Connect, which has no Java of its own."""
    return type(spark).__module__.startswith("pyspark.sql.connect.")


def _mapped(frame: DataFrame, call: WorkerCall) -> DataFrame:
    if is_connect(frame.sparkSession):
        return frame.mapInArrow(call, ANSWER)
    from pyspark.sql.classic.dataframe import DataFrame as JavaFrame
    from pyspark.sql.udf import _create_udf
    from pyspark.util import PythonEvalType

    # DataFrame.mapInArrow wants pandas, which it does not use.
    made: Any = _create_udf(call, ANSWER, PythonEvalType.SQL_MAP_ARROW_ITER_UDF)
    column = made(*(frame[f"`{name}`"] for name in frame.columns))
    java: Any = frame
    return JavaFrame(java._jdf.mapInArrow(column._jc, False, None), frame.sparkSession)


def _restorer() -> Callable[..., Callable[[Batches], Batches]]:
    """A function that cloudpickle packs whole because it lies in another; what it needs it imports itself."""

    def restore(version: str, folder: str, function: str, argument: bytes) -> Any:
        import importlib
        import socket
        import sys

        def refuse(sentence: str) -> None:
            # By this name the driver finds the error again in what Spark reports.
            error = type("WorkersUnfit", (Exception,), {"__module__": "postroom.errors"})
            raise error(f"the worker on {socket.gethostname()} {sentence}") from None

        if folder:
            from pyspark import SparkFiles

            packages = f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
            path = SparkFiles.get(f"{folder}/{packages}")
            if path not in sys.path:
                sys.path.insert(0, path)
                importlib.invalidate_caches()
        try:
            theirs = importlib.import_module("postroom.version").VERSION
            module, _, name = function.partition(":")
            if theirs == version:
                called = getattr(importlib.import_module(module), name)
        except ImportError as error:
            refuse(
                f"cannot load Postroom ({error}). Leave the setting engine empty, so that it is sent, or install "
                f"postroom[spark] {version} in {sys.executable} on every worker."
            )
        if theirs != version:
            refuse(
                f"has Postroom {theirs} and the driver {version}. Leave the setting engine empty, so that the driver's "
                "is sent, or install the same version on all machines."
            )

        def run(batches: Any) -> Any:
            import pyarrow

            for answer in called(argument, batches):
                yield pyarrow.RecordBatch.from_arrays([pyarrow.array([answer], pyarrow.binary())], ["answer"])

        return run

    return restore
