"""One request for a page: what it reads, what it links to, and how it is rendered."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from postroom.http.server.request import Request
from postroom.http.server.response import Response
from postroom.http.services.match_and_make import catalogs
from postroom.settings import Settings
from postroom.store.interface import Store
from postroom.ui.rendering.assets import asset_name
from postroom.ui.rendering.template_engine import render_template

if TYPE_CHECKING:
    from postroom.catalog.catalog import Catalog
    from postroom.registry.transaction_interface import Transaction

SAFE = "/:@!$&'()*+,;=~-._"
"""Characters of xids that stay as they are in URLs."""
_PLAIN_VALUE = re.compile("[A-Za-z0-9_.~/-]*")
_AS_IT_IS = re.compile(f"[A-Za-z0-9{re.escape(SAFE)}]*")


class PageRequest:
    """A request for a page. What is read of the registry is what the one who asks may see."""

    def __init__(self, request: Request, store: Store, settings: Settings) -> None:
        self.request = request
        self.store = store
        self.settings = settings
        self.links = Links(request.base)
        self.query = dict(reversed(request.query))
        self._tx: Transaction | None = None

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read one state of the registry meanwhile."""
        with self.store.read() as self._tx:
            yield
        self._tx = None

    @property
    def tx(self) -> Transaction:
        """The transaction that the page is read in."""
        if self._tx is None:
            raise LookupError("pages read inside of `reading`")
        return self._tx

    @functools.cached_property
    def catalog(self) -> Catalog:
        """The compiled definitions of what may be seen."""
        return catalogs(self.store, self.settings).get(self.settings.nulls)

    def number(self, name: str, usual: int, most: int) -> int:
        """A whole number in the query from 0 on; anything else is the usual one."""
        text = self.query.get(name, "")
        return min(int(text), most) if text.isascii() and text.isdigit() and len(text) < 10 else usual

    def render(self, template: str, /, *, status: int = 200, kept: bool = True, **values: Any) -> Response:
        """The page of a template; one that is not `kept` depends on more than the state of the registry."""
        return render_page(template, self.links, self.settings, status=status, kept=kept, **values)


class Links:
    """URLs of pages, of the API and of assets, from the base that the pages have for whoever asks."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.root = urlsplit(base).path
        self.api_root = self.root.removesuffix("/ui").removesuffix("/-")
        self.assets = f"{self.root}/-/assets/"

    def page(self, xid: str, /, **query: object) -> str:
        """The page of an entity, or one of our own (`/-/…`)."""
        return self.root + _quoted(xid) + _query(query)

    def api(self, path: str, /, **query: object) -> str:
        """What programs ask for the same; of what has a document that is its details."""
        return self.api_root + _quoted(path) + _query(query)

    def asset(self, name: str) -> str:
        """An asset of ours."""
        return self.assets + asset_name(name)


def _quoted(path: str) -> str:
    return path if _AS_IT_IS.fullmatch(path) else quote(path, safe=SAFE)


def _query(query: dict[str, object]) -> str:
    given = [f"{quote(name)}={_value(str(value))}" for name, value in query.items() if value not in ("", None)]
    return "?" + "&".join(given) if given else ""


def _value(text: str) -> str:
    return text.replace("/", "%2F") if _PLAIN_VALUE.fullmatch(text) else quote(text, safe="")


def render_page(
    template: str, links: Links, settings: Settings, /, *, status: int = 200, kept: bool = True, **values: Any
) -> Response:
    """A page with the headers that keep anything but our own scripts and styles from running in it."""
    content = render_template(template, links=links, settings=settings, **values)
    assets = links.base.removesuffix("/") + "/-/assets/"
    policy = (
        f"default-src 'none'; script-src {assets}; style-src {assets}; img-src {assets}; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
    headers = {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Security-Policy": policy,
        "Cache-Control": "private, no-cache" if kept else "no-store",
        "Referrer-Policy": "same-origin",
        "Vary": "Accept",
        "X-Content-Type-Options": "nosniff",
    }
    return Response(status=status, headers=headers, content=content.encode(), cacheable=kept, root_link=False)
