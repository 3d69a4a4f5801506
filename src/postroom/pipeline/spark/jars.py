"""Java libraries for Spark, by Maven coordinates: fetched once with the Ivy that Spark brings along, then kept.

Spark can do this itself (`spark.jars.packages`), but asks again at every start, and it cannot leave out a library of
one that it fetches and take another release of it.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import msgspec

from postroom.errors import MissingSystem
from postroom.pipeline.spark.java import cache_folder, find_java_home

_MODULE = """<ivy-module version="2.0">
  <info organisation="postroom" module="jars"/>
  <dependencies>
{dependencies}
  </dependencies>
</ivy-module>
"""
_DEPENDENCY = '    <dependency org="{}" name="{}" rev="{}" conf="default->default">{}</dependency>'
_EXCLUDED = '<exclude org="{}" module="{}"/>'


class Libraries(msgspec.Struct, frozen=True):
    """Coordinates (group:artifact:version), and those (group:artifact) that they must not bring along."""

    wanted: tuple[str, ...]
    excluded: tuple[str, ...] = ()


def find_jars(choices: Sequence[Libraries], needed: Sequence[str] = (), own: str = "") -> list[Path]:
    """The files of the first choice that can be had; asks the network only for what is not kept yet.

    `needed` are the coordinates that somebody without a network has to bring, in the folder `own`, whatever their
    versions: then nobody is asked.
    """
    if own:
        return _own_jars(Path(own).absolute(), needed)
    return sorted(jar_folder(choices, needed).glob("*.jar"))


def jar_folder(choices: Sequence[Libraries], needed: Sequence[str] = ()) -> Path:
    """The folder with the files of the first choice that can be had."""
    cache = cache_folder(os.environ) / "jars"
    cache.mkdir(parents=True, exist_ok=True)
    reported: list[str] = []
    # Ivy's cache takes one process at a time.
    with (cache / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        kept = [folder for folder in (_folder(cache, choice) for choice in choices) if folder.is_dir()]
        if kept:
            return kept[0]
        for choice in choices:
            reported.append(_fetch(choice, _folder(cache, choice)))
            if not reported[-1]:
                return _folder(cache, choice)
    raise MissingSystem(
        f"Java libraries that Spark needs for this cannot be had from Maven Central: {reported[0]}.",
        place=", ".join(choices[0].wanted),
        remedy=_advice(needed) if needed else "Is there a network?",
    )


def _own_jars(folder: Path, needed: Sequence[str]) -> list[Path]:
    """All libraries in a folder of the user's, which must have those that are needed."""
    found = sorted(folder.glob("*.jar"))
    for coordinate in needed:
        artifact = coordinate.split(":")[1]
        # What follows is the version; another artifact may have a longer name.
        if not any(path.name.startswith(f"{artifact}-") and path.name[len(artifact) + 1].isdigit() for path in found):
            raise MissingSystem(
                f"there is no {artifact}-….jar in the folder that the setting `jars` names.",
                place=str(folder),
                remedy=_advice(needed),
            )
    return found


def _advice(needed: Sequence[str]) -> str:
    return f"Without a network, put {', '.join(needed)} into a folder, and name the folder in the setting `jars`."


def _folder(cache: Path, choice: Libraries) -> Path:
    return cache / hashlib.sha256(msgspec.json.encode(choice)).hexdigest()[:16]


def _fetch(choice: Libraries, folder: Path) -> str:
    """Fetch into a folder; says what went wrong, or nothing."""
    part = folder.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    module = part / "ivy.xml"
    module.write_text(_MODULE.format(dependencies="\n".join(_dependency(name, choice) for name in choice.wanted)))
    (ivy,) = Path(str(files("pyspark"))).glob("jars/ivy-*.jar")
    pattern = f"{part}/[artifact]-[revision](-[classifier]).[ext]"
    java = find_java_home() / "bin" / "java"
    command = [str(java), "-jar", str(ivy), "-cache", str(folder.parent / "ivy"), "-ivy", str(module)]
    done = subprocess.run(
        [*command, "-retrieve", pattern, "-types", "jar", "bundle"], capture_output=True, text=True, check=False
    )
    lines = [text for line in (done.stdout + done.stderr).splitlines() if (text := line.strip(" :\t"))]
    missing = [line for line in lines if line.endswith("not found")]
    if done.returncode or missing:
        shutil.rmtree(part)
        return missing[0] if missing else lines[-1] if lines else "Ivy ended without a word"
    part.rename(folder)
    return ""


def _dependency(coordinate: str, choice: Libraries) -> str:
    # A library that excludes itself would not come at all.
    names = [name for name in choice.excluded if not coordinate.startswith(f"{name}:")]
    return _DEPENDENCY.format(*coordinate.split(":"), "".join(_EXCLUDED.format(*name.split(":")) for name in names))
