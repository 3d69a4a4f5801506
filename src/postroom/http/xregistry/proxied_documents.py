"""Documents that the server fetches from elsewhere and passes on (`<RESOURCE>proxyurl`, an extension of ours).

Fetching waits until the transaction is over: a slow host must not hold it.
"""

from __future__ import annotations

import base64
from functools import partial

import msgspec

from postroom.deadlines import check_deadline
from postroom.http.server.response import Response
from postroom.outbound.client import allowed_fetcher
from postroom.outbound.policy import FetchRefused, OutboundResponse
from postroom.registry.problems import RegistryProblem
from postroom.settings import Settings

BAD_GATEWAY = 502


def relay(answer: Response, url: str, settings: Settings, is_read: bool) -> Response:
    """An answer whose body comes from elsewhere."""
    after = partial(_relayed, url=url, settings=settings, is_read=is_read)
    return msgspec.structs.replace(answer, content=b"", cacheable=False, after=after)


def _relayed(answer: Response, url: str, settings: Settings, is_read: bool) -> Response:
    fetched = _fetched(url, settings, is_read)
    if fetched is None or (not is_read and fetched.status != 200):
        return answer  # what was written is written, whatever the other host says
    contenttype = fetched.headers.get("content-type", "")
    headers = {**({"Content-Type": contenttype} if contenttype else {}), **answer.headers}
    status = fetched.status if is_read else answer.status
    return msgspec.structs.replace(answer, status=status, headers=headers, content=fetched.body)


def fetch_base64(url: str, settings: Settings) -> str | None:
    """A document from elsewhere as a member of a JSON object; None when it is not to be had."""
    check_deadline()
    fetched = _fetched(url, settings, is_read=False)
    return base64.b64encode(fetched.body).decode() if fetched is not None else None


def _fetched(url: str, settings: Settings, is_read: bool) -> OutboundResponse | None:
    try:
        return allowed_fetcher(settings.allow_fetch, settings.timeout_s, settings.max_document_mb).fetch(url)
    except FetchRefused as refusal:
        if not is_read:
            return None
        detail = f"The document is elsewhere: {refusal}."
        raise RegistryProblem("data_retrieval_error", "/", detail=detail, status=BAD_GATEWAY) from None
