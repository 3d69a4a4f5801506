"""AMQP 1.0 sinks."""

from __future__ import annotations

import contextlib
from typing import Any

import msgspec

from postroom.outbound.addresses import Address
from postroom.protocols.clients import to_amqp
from postroom.replication.subscriptions.credentials import PlainCredential
from postroom.replication.subscriptions.sinks.allowed_addresses import SinkAddress, resolve
from postroom.replication.subscriptions.sinks.options import AmqpOptions
from postroom.replication.subscriptions.sinks.sink import DeliveryFailed, Event, Permission, record_of
from postroom.replication.subscriptions.subscription import Subscription
from postroom.settings import Settings


class AmqpSink:
    """One node of an AMQP container."""

    def __init__(self, subscription: Subscription, target: SinkAddress, settings: Settings) -> None:
        self._options = options = msgspec.convert(subscription.protocolsettings, AmqpOptions)
        self._target = target
        self._settings = settings
        self._credential = subscription.sinkcredential
        named = options.address
        self._address = target.path.partition("?")[0].lstrip("/") if named is msgspec.UNSET else str(named)
        self._connection: Any = None
        self._sender: Any = None

    def confirm(self, callback: str) -> Permission:
        """A container's consent is its access control."""
        return Permission()

    def send(self, event: Event) -> None:
        """Send one event and wait until it is settled."""
        from proton import ProtonException
        from proton.utils import SendException

        message = to_amqp(record_of(event, "AMQP/1.0", {"header": {"durable": True}}, self._options.mode))
        try:
            self._connected().send(message, timeout=self._settings.timeout_s)
        except (ProtonException, SendException, OSError) as error:
            self.close()
            raise DeliveryFailed(f"{self._target.host} does not take the event: {_reason(error)}") from None

    def rest(self) -> None:
        """Nobody would send the empty frames that keep a connection alive, so it is closed."""
        self.close()

    def close(self) -> None:
        """Close the connection."""
        connection, self._connection, self._sender = self._connection, None, None
        if connection is not None:
            with contextlib.suppress(Exception):
                connection.close()

    def _connected(self) -> Any:
        if self._sender is None:
            self._connection = self._opened(resolve(self._target, self._settings))
            name = None if self._options.linkname is msgspec.UNSET else self._options.linkname
            self._sender = self._connection.create_sender(self._address, name=name, options=self._link_options())
        return self._sender

    def _opened(self, addresses: list[Address]) -> Any:
        """A connection to the first address that answers; the name is for TLS and for the container."""
        from proton import ProtonException
        from proton.utils import BlockingConnection

        target = self._target
        for number, (_, address) in enumerate(addresses, 1):
            try:
                return BlockingConnection(
                    f"{target.scheme}://{target.at(address)}",
                    timeout=self._settings.timeout_s,
                    virtual_host=target.host,
                    sni=target.host,
                    **self._access(),
                )
            except (ProtonException, OSError):
                if number == len(addresses):
                    raise
        raise DeliveryFailed(f"{target.host} has no address")

    def _access(self) -> dict[str, Any]:
        """SASL sends a password to whoever is there, so without TLS only where private sinks are allowed at all."""
        if isinstance(self._credential, PlainCredential):
            return {
                "user": self._credential.identifier,
                "password": self._credential.secret,
                "allow_insecure_mechs": not self._target.is_secure,
            }
        return {}

    def _link_options(self) -> list[Any]:
        from proton import symbol
        from proton.reactor import AtLeastOnce, AtMostOnce, SenderOption

        properties = {symbol(name): value for name, value in self._options.linkproperties.items()}

        class Properties(SenderOption):
            def apply(self, sender: Any) -> None:
                sender.properties = properties

        settled = AtMostOnce() if self._options.sendersettlementmode == "settled" else AtLeastOnce()
        return [settled, *([Properties()] if properties else [])]


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
