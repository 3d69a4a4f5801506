"""Requests to the service at an end of a link."""

from __future__ import annotations

from postroom.catalog.service_client import ServiceClient
from postroom.outbound.policy import FetchRefused
from postroom.outbound.pooled_transport import ResponseStream


class ReplicaClient(ServiceClient):
    """One service as an end of a link; it is asked without a proxy."""

    remedy = "What was taken so far is kept."
    proxies = False

    def stream(self, path: str, silence_s: float) -> ResponseStream:
        """A response that is read while it goes on; nothing for longer than `silence_s` seconds ends it."""
        headers = {"accept": "text/event-stream"}
        try:
            return self._http.stream(self.url_of(path), headers=headers, silence_s=silence_s)
        except FetchRefused as refused:
            raise self.error_of(refused, path) from None
