"""NATS sinks. The client is asynchronous; each sink has a loop of its own, which runs only while it sends."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any

import msgspec

from postroom.protocols.clients import to_nats
from postroom.replication.subscriptions.credentials import PlainCredential
from postroom.replication.subscriptions.sinks.allowed_addresses import SinkAddress, resolve
from postroom.replication.subscriptions.sinks.options import NatsOptions
from postroom.replication.subscriptions.sinks.sink import DeliveryFailed, Event, Permission, record_of
from postroom.replication.subscriptions.subscription import Subscription
from postroom.settings import Settings


class NatsSink:
    """One subject."""

    def __init__(self, subscription: Subscription, target: SinkAddress, settings: Settings) -> None:
        self._options = msgspec.convert(subscription.protocolsettings, NatsOptions)
        self._target = target
        self._settings = settings
        self._credential = subscription.sinkcredential
        self._loop: asyncio.AbstractEventLoop | None = None
        self._client: Any = None

    def confirm(self, callback: str) -> Permission:
        """A server's consent is its access control."""
        return Permission()

    def send(self, event: Event) -> None:
        """Publish one event and wait until the server has it: it answers a ping that follows."""
        record = record_of(event, "NATS", {"subject": self._options.subject}, self._options.mode)
        self._run(self._publish(to_nats(record)))

    def rest(self) -> None:
        """Nobody would answer the server's pings, so the connection is closed."""
        self.close()

    def close(self) -> None:
        """Close the connection and its loop."""
        loop, self._loop = self._loop, None
        client, self._client = self._client, None
        if loop is None:
            return
        if client is not None:
            with contextlib.suppress(Exception):
                loop.run_until_complete(asyncio.wait_for(client.close(), self._settings.timeout_s))
        loop.close()

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        from nats.errors import Error

        if self._loop is None:
            self._loop = asyncio.new_event_loop()
        try:
            self._loop.run_until_complete(asyncio.wait_for(work, self._settings.timeout_s))
        except (Error, OSError, TimeoutError) as error:
            self.close()
            raise DeliveryFailed(
                f"{self._target.host} does not take the event: {error or type(error).__name__}"
            ) from None

    async def _publish(self, arguments: dict[str, Any]) -> None:
        if self._client is None:
            self._client = await self._connected()
        await self._client.publish(**arguments)
        await self._client.flush(timeout=self._settings.timeout_s)

    async def _connected(self) -> Any:
        from nats.aio.client import Client
        from nats.errors import Error

        target, addresses = self._target, resolve(self._target, self._settings)
        access: dict[str, Any] = {"connect_timeout": self._settings.timeout_s}
        if target.is_secure:
            access |= {"tls_hostname": target.host}
        if isinstance(self._credential, PlainCredential):
            access |= {"user": self._credential.identifier, "password": self._credential.secret}

        class Secured(Client):
            """A client that says nothing to a server without TLS where TLS is asked for; its own goes on without."""

            def _connect_command(self) -> bytes:
                if target.is_secure and not self._server_info.get("tls_required"):
                    raise Error("the server does not offer TLS")
                return bytes(super()._connect_command())

        async def quiet(_error: Exception) -> None:
            """Errors reach the sender; the client would also log them."""

        client = Secured()
        await client.connect(
            [f"{target.scheme}://{target.at(address)}" for _, address in addresses],
            allow_reconnect=False,
            max_reconnect_attempts=1,
            reconnect_time_wait=0,
            error_cb=quiet,
            **access,
        )
        return client
