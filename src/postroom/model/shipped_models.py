"""Model sources that a registry can start with: `messaging`, `none`, or a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from postroom.errors import DocumentBroken, FileMissing
from postroom.model.includes import Fetch, expand_includes, refuse_fetch
from postroom.model.model_refused import ModelRefused
from postroom.model.source import parse_model
from postroom.model.types import Model
from postroom.outbound.policy import FetchRefused
from postroom.urls import parse_url


def model_source(name: str) -> dict[str, Any]:
    """The model source of that name, or the one in the file of that name."""
    if name == "none":
        return {}
    if name == "messaging":
        from postroom.model.messaging import MESSAGING

        return MESSAGING
    return _read(Path(name))


def expanded_source(name: str, fetch: Fetch = refuse_fetch) -> dict[str, Any]:
    """A model source with its includes resolved; those of a file may refer to other files, relative to it."""
    source = model_source(name)
    if source and name != "messaging":
        source = expand_includes(source, _with_files(fetch), Path(name).resolve().as_uri())
    return source


def load_model(name: str) -> Model:
    """The full model: `messaging`, `none`, or that of a model file."""
    return parse_model(expanded_source(name))


def _with_files(fetch: Fetch) -> Fetch:
    def read(url: str) -> bytes:
        if not url.startswith("file:"):
            return fetch(url)
        parts = parse_url(url)
        if parts is None:
            raise FetchRefused(f"{url} is not a URL")
        path = Path(unquote(parts.path))
        try:
            return path.read_bytes()
        except OSError as error:
            raise FetchRefused(f"{path} cannot be read: {error.strerror}") from None

    return read


def _read(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise FileMissing("there is no such model file.", place=str(path)) from None
    except OSError as error:
        raise FileMissing(f"the model cannot be read: {error.strerror}.", place=str(path)) from None
    except json.JSONDecodeError as error:
        place = f"{path}:{error.lineno}:{error.colno}"
        raise DocumentBroken(f"this is not valid JSON: {error.msg}.", place=place) from None
    except (UnicodeDecodeError, RecursionError):
        raise DocumentBroken("this is not valid JSON.", place=str(path)) from None
    if not isinstance(document, dict):
        raise ModelRefused("a model is a JSON object.", place=str(path))
    return document
