"""`$include` and `$includes`: parts of a model that are written somewhere else, put in their place."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from postroom.model.model_refused import ModelRefused
from postroom.outbound import FetchRefused

Fetch = Callable[[str], bytes]
DIRECTIVES = ("$include", "$includes")
MAX_INCLUDES = 1000


def expand_includes(document: dict[str, Any], fetch: Fetch, base: str = "") -> dict[str, Any]:
    """The document with every include replaced by what it names; `base` is where the document came from."""
    try:
        return dict(_Expansion(fetch, base, document).value(document, base, "", ()))
    except RecursionError:
        raise ModelRefused("it is nested too deeply.") from None


def refuse_fetch(url: str) -> bytes:
    """The fetch of those who may not fetch anything."""
    raise FetchRefused(f"{url} cannot be included here")


class CachedFetch:
    """A fetch that asks for each URL once and then gives the same answer again."""

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

    def value(self, value: Any, base: str, place: str, trail: tuple[str, ...]) -> Any:
        if not isinstance(value, dict):
            return value
        own = {k: self.value(v, base, f"{place}/{k}", trail) for k, v in value.items() if k not in DIRECTIVES}
        for reference in _references(value, place):
            included = self._included(reference, base, place, trail)
            own = {**included, **own}  # MOD-096: what is here, or came earlier, wins
        return own

    def _included(self, reference: str, base: str, place: str, trail: tuple[str, ...]) -> dict[str, Any]:
        self._count += 1
        if self._count > MAX_INCLUDES:
            raise ModelRefused(f"there are more than {MAX_INCLUDES} includes.", place=place)
        url, fragment = _located(base, reference, place)
        pointer = fragment if not fragment or fragment.startswith("/") else f"/{fragment}"  # C-39
        target = f"{url}#{pointer}"
        if target in trail:
            raise ModelRefused(f"the include {reference!r} leads back to itself.", place=place)
        found = _at(self._document(url, base, place), pointer, reference, place)
        expanded: dict[str, Any] = self.value(found, url, place, (*trail, target))
        return expanded

    def _document(self, url: str, base: str, place: str) -> Any:
        if url not in self._documents:
            if url.startswith("file:") and not base.startswith("file:"):
                raise ModelRefused(f"{url} is a file of this machine.", place=place)
            try:
                self._documents[url] = json.loads(self._fetch(url))
            except FetchRefused as error:
                raise ModelRefused(f"{error}.", place=place) from None
            except (ValueError, RecursionError):
                raise ModelRefused(f"{url} is not JSON.", place=place) from None
        return self._documents[url]


def _located(base: str, reference: str, place: str) -> tuple[str, str]:
    try:
        return urldefrag(urljoin(base, reference))
    except ValueError:
        raise ModelRefused(f"the include {reference!r} is no reference.", place=place) from None


def _references(value: dict[str, Any], place: str) -> list[str]:
    given = [name for name in DIRECTIVES if name in value]
    if len(given) > 1:
        raise ModelRefused("$include and $includes cannot stand side by side.", place=place)
    if not given:
        return []
    wanted = value[given[0]]
    listed = wanted if given[0] == "$includes" else [wanted]
    if not isinstance(listed, list) or not all(isinstance(one, str) and one for one in listed):
        kind = "a list of references" if given[0] == "$includes" else "a reference"
        raise ModelRefused(f"must be {kind}.", place=f"{place}/{given[0]}")
    return listed


def _at(document: Any, pointer: str, reference: str, place: str) -> dict[str, Any]:
    for step in pointer.split("/")[1:]:
        name = unquote(step).replace("~1", "/").replace("~0", "~")
        document = document.get(name) if isinstance(document, dict) else None
    if not isinstance(document, dict):
        raise ModelRefused(f"the include {reference!r} leads to no object.", place=place)
    return document
