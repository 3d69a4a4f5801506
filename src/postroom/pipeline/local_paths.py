"""Paths on this machine, told from addresses of storage elsewhere, which nobody may take for the name of a folder."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

from postroom.errors import LakeRefused

_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(.*)", re.DOTALL)
_FILE = re.compile(r"(?://(?:localhost)?)?(/[^/].*|/)", re.DOTALL | re.IGNORECASE)


def scheme_of(place: str | Path) -> str:
    """The scheme of an address such as `s3://bucket/x` or `dbfs:/x`, in small letters; empty for a path."""
    found = _ADDRESS.fullmatch(str(place))
    # `report-10:30.jsonl` is a file, if there is one.
    if found is None or (not found[2].startswith("/") and Path(place).exists()):
        return ""
    return found[1].lower()


def local_path(place: str | Path, kind: str) -> Path:
    """The path that a text or a `file:` address names, in full; raises for other addresses, by the `kind` of place."""
    scheme = scheme_of(place)
    if not scheme:
        return Path(place).absolute()
    found = _FILE.fullmatch(str(place)[len("file:") :]) if scheme == "file" else None
    if found is not None:
        return Path(unquote(found[1]))
    raise LakeRefused(
        f"{kind} cannot be there: it is a folder, or an address that begins with s3://, abfss:// or gs://.",
        place=str(place),
        remedy=f"Write ./{place} if a folder of this name is meant." if "//" not in str(place) else "",
    )
