"""`$include` and `$includes`: replaced by the parts of other documents that they refer to."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from postroom.model.model_refused import ModelRefused
from postroom.outbound.policy import FetchRefused

Fetch = Callable[[str], bytes]
DIRECTIVES = ("$include", "$includes")
MAX_INCLUDES = 1000


def expand_includes(document: dict[str, Any], fetch: Fetch, base: str = "") -> dict[str, Any]:
    """Replace every include by what it refers to; `base` is the URL of the document."""
    try:
        return dict(_Expansion(fetch, base, document).value(document, base, "", ()))
    except RecursionError:
        raise ModelRefused("it is nested too deeply.") from None


def refuse_fetch(url: str) -> bytes:
    """A fetch that refuses every URL."""
    raise FetchRefused(f"{url} cannot be included here")


class CachedFetch:
    """A fetch that requests each URL once and repeats the answer."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._answers: dict[str, bytes | FetchRefused] = {}

    def __call__(self, url: str) -> bytes:
        """The bytes at a URL."""
        if url not in self._answers:
            try:
                self._answers[url] = self._fetch(url)
            except FetchRefused as refused:
                self._answers[url] = refused
        answer = self._answers[url]
        if isinstance(answer, FetchRefused):
            raise answer
        return answer

    def cached_only(self) -> CachedFetch:
        """A fetch that repeats the known answers and refuses every other URL."""
        only_known = CachedFetch(refuse_fetch)
        only_known._answers = self._answers
        return only_known


class _Expansion:
    def __init__(self, fetch: Fetch, base: str, document: Any) -> None:
        self._fetch = fetch
        self._documents = {base: document}
        self._count = 0

    def value(self, value: Any, base: str, pointer: str, trail: tuple[str, ...]) -> Any:
        if not isinstance(value, dict):
            return value
        own = {k: self.value(v, base, f"{pointer}/{k}", trail) for k, v in value.items() if k not in DIRECTIVES}
        for reference in _references(value, pointer):
            included = self._included(reference, base, pointer, trail)
            own = {**included, **own}  # MOD-096: what is here, or came earlier, wins
        return own

    def _included(self, reference: str, base: str, pointer: str, trail: tuple[str, ...]) -> dict[str, Any]:
        self._count += 1
        if self._count > MAX_INCLUDES:
            raise ModelRefused(f"there are more than {MAX_INCLUDES} includes.", place=pointer)
        url, written = _located(base, reference, pointer)
        fragment = written if not written or written.startswith("/") else f"/{written}"  # C-39
        target = f"{url}#{fragment}"
        if target in trail:
            raise ModelRefused(f"the include {reference!r} leads back to itself.", place=pointer)
        found = _at(self._document(url, base, pointer), fragment, reference, pointer)
        expanded: dict[str, Any] = self.value(found, url, pointer, (*trail, target))
        return expanded

    def _document(self, url: str, base: str, pointer: str) -> Any:
        if url not in self._documents:
            if url.startswith("file:") and not base.startswith("file:"):
                raise ModelRefused(f"{url} is a file of this machine.", place=pointer)
            if ":" not in url:
                raise ModelRefused(
                    f"the include {url!r} is relative, and nobody knows to what: give its whole URL, "
                    "send the model with its includes expanded, or start a registry with --model FILE.",
                    place=pointer,
                )
            try:
                self._documents[url] = json.loads(self._fetch(url))
            except FetchRefused as error:
                raise ModelRefused(f"{error}.", place=pointer) from None
            except (ValueError, RecursionError):
                raise ModelRefused(f"{url} is not JSON.", place=pointer) from None
        return self._documents[url]


def _located(base: str, reference: str, pointer: str) -> tuple[str, str]:
    try:
        return urldefrag(urljoin(base, reference))
    except ValueError:
        raise ModelRefused(f"the include {reference!r} is no reference.", place=pointer) from None


def _references(value: dict[str, Any], pointer: str) -> list[str]:
    given = [name for name in DIRECTIVES if name in value]
    if len(given) > 1:
        raise ModelRefused("$include and $includes cannot stand side by side.", place=pointer)
    if not given:
        return []
    wanted = value[given[0]]
    listed = wanted if given[0] == "$includes" else [wanted]
    if not isinstance(listed, list) or not all(isinstance(one, str) and one for one in listed):
        kind = "a list of references" if given[0] == "$includes" else "a reference"
        raise ModelRefused(f"must be {kind}.", place=f"{pointer}/{given[0]}")
    return listed


def _at(document: Any, fragment: str, reference: str, pointer: str) -> dict[str, Any]:
    for step in fragment.split("/")[1:]:
        name = unquote(step).replace("~1", "/").replace("~0", "~")
        document = document.get(name) if isinstance(document, dict) else None
    if not isinstance(document, dict):
        raise ModelRefused(f"the include {reference!r} leads to no object.", place=pointer)
    return document
