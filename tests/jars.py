"""Java libraries for tests, by Maven coordinates, through the Ivy that Spark brings along; kept in the user's cache."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from postroom.pipeline.java import cache_folder, find_java_home
from tests.absence import absent

_MODULE = """<ivy-module version="2.0">
  <info organisation="postroom" module="{name}"/>
  <dependencies>
{dependencies}
  </dependencies>
</ivy-module>
"""


def jars(name: str, coordinates: Sequence[str]) -> Path:
    """The folder with these libraries and what they need; fetched once per machine and set of coordinates."""
    digest = hashlib.sha256("\n".join(coordinates).encode()).hexdigest()[:12]
    cache = cache_folder(os.environ) / "jars"
    cache.mkdir(parents=True, exist_ok=True)
    folder = cache / f"{name}-{digest}"
    # Ivy's cache takes one process at a time, and the tests run in several.
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            _fetch(name, coordinates, folder)
    return folder


def java() -> str:
    """The Java that Spark starts with."""
    return str(find_java_home() / "bin" / "java")


def _fetch(name: str, coordinates: Sequence[str], folder: Path) -> None:
    part = folder.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    wanted = part / "ivy.xml"
    wanted.write_text(_MODULE.format(name=name, dependencies="\n".join(map(_dependency, coordinates))))
    (ivy,) = Path(str(files("pyspark"))).glob("jars/ivy-*.jar")
    pattern = f"{part}/[artifact]-[revision](-[classifier]).[ext]"
    command = [java(), "-jar", str(ivy), "-cache", str(folder.parent / "ivy"), "-ivy", str(wanted)]
    command += ["-retrieve", pattern, "-types", "jar", "bundle"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = [
            line.strip() for line in (done.stdout + done.stderr).splitlines() if "rror" in line or "xception" in line
        ]
        absent(f"the Java libraries of {name}", f"Ivy did not get them: {said[0] if said else 'it does not say why'}")
    part.rename(folder)


def _dependency(coordinate: str) -> str:
    organisation, module, revision = coordinate.split(":")
    return f'    <dependency org="{organisation}" name="{module}" rev="{revision}" conf="default->default"/>'
