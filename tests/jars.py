"""Java libraries for tests, by Maven coordinates; fetched once and kept as the pipeline does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from postroom.errors import MissingSystem
from postroom.pipeline.spark.jars import Libraries, jar_folder
from postroom.pipeline.spark.java import find_java_home
from tests.absence import absent


def jars(name: str, coordinates: Sequence[str]) -> Path:
    """The folder with these libraries and what they need."""
    try:
        return jar_folder([Libraries(tuple(coordinates))])
    except MissingSystem as error:
        absent(f"the Java libraries of {name}", str(error))


def java() -> str:
    """The Java that Spark starts with."""
    return str(find_java_home() / "bin" / "java")
