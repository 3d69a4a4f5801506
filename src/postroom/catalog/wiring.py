"""The rules of every registry that is opened here: what the messaging model demands beyond what a model can say."""

from __future__ import annotations

from postroom.catalog.payload_formats import PayloadFormats
from postroom.messages.definitions.registry_rules import (
    check_endpoint,
    check_message,
    check_messagegroup,
    read_endpoint,
    read_message,
)
from postroom.registry.rules import GroupRules, Rules

# C-07, C-26: a Version without the attribute takes its group's value instead of failing the `equals` constraint.
RULES = Rules(
    groups={
        ("schemagroups", "schemagroup"): GroupRules(inherited=frozenset({"schemas.format"})),
        ("messagegroups", "messagegroup"): GroupRules(
            check=check_messagegroup, inherited=frozenset({"messages.envelope", "messages.protocol"})
        ),
        ("endpoints", "endpoint"): GroupRules(read=read_endpoint, check=check_endpoint, check_version=check_message),
    },
    read_version=read_message,
    documents=PayloadFormats(),
)
