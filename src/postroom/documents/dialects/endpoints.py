"""Endpoints: `config` and one usage in 0.5, `protocol` and `protocoloptions` since."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from postroom.documents.dialects.dialect import Tree
from postroom.documents.dialects.name_tables import ENDPOINT_OPTIONS, RC4_ENDPOINT_OPTIONS
from postroom.documents.dialects.protocol_options import family_of
from postroom.documents.dialects.references import as_pointer, as_xid
from postroom.documents.dialects.walk_tree import rename_members
from postroom.model.messaging_options import ENDPOINT_OPTIONS as PRESENT_OPTIONS
from postroom.protocols.protocol_table import canonical_protocol

BROKERS = "bootstrap.servers"
_OLD_OPTIONS = {ours: theirs for theirs, ours in ENDPOINT_OPTIONS.items()}
_MESSAGE = re.compile(r"/messagegroups/[^/]+/messages/[^/]+(/versions/[^/]+)?\Z")
_MQTT_5 = {"clean-session": "cleanstart"}  # 1.0 calls the flag as MQTT 5 does
_CONFIG = ("protocol", "endpoints", "options", "strict")


def default_options(endpoint: Tree) -> Tree:
    """What the options of an endpoint are where nobody writes them; a registry does when it stores the endpoint."""
    model = PRESENT_OPTIONS.get(canonical_protocol(str(endpoint.get("protocol") or "")), {})
    stated = {name: one["default"] for name, one in model.get("attributes", {}).items() if "default" in one}
    return {"deployed": True, **stated}  # 1.0-rc4: an endpoint is there unless it says otherwise


def read_endpoint(endpoint: Tree, *, v0_5: bool) -> Tree:
    """An endpoint of any age in the form of 1.0-rc4."""
    read = dict(endpoint)
    if isinstance(read.get("config"), dict) and "protocoloptions" not in read:
        read |= _read_config(read.pop("config"))
    elif isinstance(read.get("protocoloptions"), dict):
        read["protocoloptions"] = read_old_spellings(read.get("protocol"), read["protocoloptions"])
    references = read.pop("definitionGroups", None)
    if references is not None:
        read.setdefault("messagegroups", references)
    if v0_5 and isinstance(read.get("messagegroups"), list):
        read["messagegroups"] = [as_xid(reference) for reference in read["messagegroups"]]
    if v0_5 and read.get("channel") == "":  # how 0.5 may write that there is none
        del read["channel"]
    if isinstance(read.get("usage"), str):
        read["usage"] = [read["usage"]]
    deprecated = read.get("deprecated")
    if isinstance(deprecated, dict) and "docs" in deprecated and "documentation" not in deprecated:
        read["deprecated"] = {("documentation" if name == "docs" else name): one for name, one in deprecated.items()}
    return read


def read_old_spellings(protocol: Any, options: Tree) -> Tree:
    """The options of an endpoint, those in other spellings (`consumer-group`, `willTopic`) by their present names."""
    if family_of(protocol) == "KAFKA" and isinstance(options.get("endpoints"), list):
        options = {**options, "endpoints": [_read_brokers(one) for one in options["endpoints"]]}
    names = {name: present_spelling(protocol, name) for name in options}
    moved = {name: present for name, present in names.items() if present != name and present not in options}
    return {moved.get(name, name): _read_option(moved.get(name), value) for name, value in options.items()}


def _read_option(moved_to: str | None, value: Any) -> Any:
    if moved_to == "endpoints":
        return [{BROKERS: _listed(value)}]
    return as_xid(value) if moved_to == "willmessage" else value


def _read_brokers(address: Any) -> Any:
    """An address of Kafka, with its brokers under their name."""
    if not isinstance(address, dict) or BROKERS in address:
        return address
    pairs = ((name, _is_brokers(name), one) for name, one in address.items())
    return {BROKERS if is_it else name: _listed(one) if is_it else one for name, is_it, one in pairs}


def _listed(brokers: Any) -> Any:
    """Brokers as Kafka's own clients take them, in one text, or as a list."""
    return [one.strip() for one in brokers.split(",")] if isinstance(brokers, str) else brokers


def _is_brokers(name: str) -> bool:
    return _letters(name) == "bootstrapservers"


def present_spelling(protocol: Any, name: str) -> str:
    """What an option of an endpoint is called today, if it differs in hyphens, underscores and capitals only."""
    known = _spellings(canonical_protocol(protocol) if isinstance(protocol, str) else "")
    return name if name in known.values() else known.get(_letters(name), name)


def present_member(protocol: Any, name: str) -> str:
    """What a member of an address of an endpoint is called today."""
    return BROKERS if family_of(protocol) == "KAFKA" and _is_brokers(name) else name


@cache
def _spellings(protocol: str) -> dict[str, str]:
    options = PRESENT_OPTIONS.get(protocol, {}).get("attributes", {})
    # Brokers stand in the addresses today, and stood beside them.
    brokers = {_letters(BROKERS): "endpoints"} if protocol == "KAFKA" else {}
    return brokers | {_letters(name): name for name in options if name != "*"}


def _letters(name: str) -> str:
    return re.sub("[._-]", "", name).lower()


def _read_config(config: Tree) -> Tree:
    read: Tree = {"protocol": config["protocol"]} if "protocol" in config else {}
    given = config.get("options")
    options: Tree = given if isinstance(given, dict) else {}
    chosen: Tree = {}
    for name, value in options.items():
        ours = _MQTT_5.get(name) if _is_mqtt_5(config.get("protocol")) else None
        ours = ours or ENDPOINT_OPTIONS.get(name, name)
        if ours != "willmessage":
            chosen[ours] = value
        elif not isinstance(value, str) or _MESSAGE.match(as_xid(value)):
            chosen[ours] = as_xid(value)  # 1.0 has no place for what lies outside of the registry's groups
    addresses = config.get("endpoints")
    if isinstance(addresses, list):
        chosen["endpoints"] = _read_addresses(addresses, config.get("protocol"))
    chosen["deployed"] = config.get("strict") or False
    return {**read, "protocoloptions": chosen}


def _is_mqtt_5(protocol: Any) -> bool:
    return isinstance(protocol, str) and canonical_protocol(protocol) == "MQTT/5.0"


def _read_addresses(addresses: list[Any], protocol: Any) -> list[Any]:
    if addresses and family_of(protocol) == "KAFKA" and all(isinstance(one, str) for one in addresses):
        return [{BROKERS: addresses}]  # C-35
    return [{"uri": one} if isinstance(one, str) else one for one in addresses]


def write_config(endpoint: Tree, *, service: bool) -> Tree:
    """An endpoint with `config`, `format` and one usage."""
    written = {
        name: value
        for name, value in endpoint.items()
        if name not in ("protocol", "protocoloptions", "envelope", "envelopeoptions")
    }
    usage = written.get("usage")
    if isinstance(usage, list) and usage:
        written["usage"] = usage[0]
    if "protocol" in endpoint or "protocoloptions" in endpoint:
        written["config"] = _config(endpoint, service=service)
    if "envelope" in endpoint:
        written["format"] = endpoint["envelope"]
    references = written.get("messagegroups")
    if isinstance(references, list):
        written["messagegroups"] = [as_pointer(reference, service=service) for reference in references]
    _write_docs(written)
    return written


def _write_docs(written: Tree) -> None:
    deprecated = written.get("deprecated")
    if isinstance(deprecated, dict) and "documentation" in deprecated:
        written["deprecated"] = {("docs" if name == "documentation" else name): one for name, one in deprecated.items()}


def _config(endpoint: Tree, *, service: bool) -> Tree:
    config: Tree = {"protocol": endpoint["protocol"]} if "protocol" in endpoint else {}
    options = endpoint.get("protocoloptions")
    chosen = dict(options) if isinstance(options, dict) else {}
    config["strict"] = chosen.pop("deployed", True)  # 1.0-rc4: absent means that it is there
    addresses = chosen.pop("endpoints", None)
    if isinstance(addresses, list):
        config["endpoints"] = [address for one in addresses for address in _addresses(one)]
    chosen.pop("authorization", None)
    if _is_mqtt_5(endpoint.get("protocol")) and "cleansession" not in chosen:
        chosen = rename_members(chosen, {ours: theirs for theirs, ours in _MQTT_5.items()})
    kept = {
        _OLD_OPTIONS.get(name, name): as_pointer(value, service=service) if name == "willmessage" else value
        for name, value in chosen.items()
        if name not in RC4_ENDPOINT_OPTIONS
    }
    if kept:
        config["options"] = kept
    return config


def _addresses(one: Any) -> list[Any]:
    if not isinstance(one, dict):
        return [one]
    if isinstance(one.get("uri"), str):
        return [one["uri"]]
    servers = one.get(BROKERS)
    return list(servers) if isinstance(servers, list) else []
