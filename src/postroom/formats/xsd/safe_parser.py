"""Reading XML that nobody vouches for: no document type, no entity, nothing from elsewhere, bounded depth."""

from __future__ import annotations

import re
import string
from typing import Any

from lxml import etree

MOST_BYTES = 16 * 2**20
# Where nothing stands before the root element there is no document type, and no encoding but UTF-8.
_ROOTS = frozenset(f"<{letter}".encode() for letter in string.ascii_letters)


class XmlRefused(Exception):
    """XML that is broken or that we do not read; `place` is line:column."""

    def __init__(self, sentence: str, place: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.place = place


class _Nothing(etree.Resolver):  # type: ignore[misc]  # lxml has no types
    def resolve(self, url: str, public: str, context: Any) -> Any:
        raise OSError("nothing is read from elsewhere")


class XmlInvalid(Exception):
    """XML that its schema does not allow; `log` is what libxml2 said."""

    def __init__(self, log: Any) -> None:
        super().__init__("the payload does not fit its schema")
        self.log = log


def parser(resolver: Any = None, schema: Any = None) -> Any:
    """A parser that reads only the bytes it is given; a resolver may serve other documents from memory, and a schema
    is checked on the way."""
    made = etree.XMLParser(
        no_network=True,
        resolve_entities=False,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
        collect_ids=False,
        schema=schema,
    )
    made.resolvers.add(resolver or _Nothing())
    return made


def read(payload: bytes, using: Any, checks: bool = False) -> Any:
    """The root element of a document; `checks` says that the parser has a schema."""
    if len(payload) > MOST_BYTES:
        raise XmlRefused(f"it has {len(payload)} bytes; at most {MOST_BYTES} are read")
    try:
        root = etree.fromstring(payload, using)
    except etree.XMLSyntaxError as error:
        # Not the error's own log: it may hold what other documents of the process had.
        found = [entry for entry in using.error_log if entry.domain_name == "SCHEMASV"] if checks else []
        if found:
            raise XmlInvalid(found) from None
        line, column = error.position
        raise XmlRefused(_sentence(error), f"{line}:{column}") from None
    except (etree.LxmlError, ValueError, LookupError, AssertionError, OSError) as error:
        raise XmlRefused(_sentence(error)) from None
    if root is None:
        raise XmlRefused("it holds no element")
    if payload[:2] not in _ROOTS and root.getroottree().docinfo.doctype:
        raise XmlRefused("it has a document type declaration, and these are not read", "1:1")
    return root


def _sentence(error: Exception) -> str:
    text = str(getattr(error, "msg", None) or error).splitlines()
    if not text:
        return type(error).__name__
    # Some messages come wrapped: line 1: b'what is wrong'
    wrapped = re.match(r"line \d+: b'(.*)'", text[0])
    return (wrapped[1] if wrapped else text[0]).partition(", line ")[0].rstrip(".")
