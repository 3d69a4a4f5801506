"""Markdown of descriptions: emphasis, code, lists, quotes and links; nothing that loads or runs anything."""

from __future__ import annotations

import re
import threading

from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from postroom.ui.rendering.safe_text import visible

LONGEST = 20_000
_PLAIN = re.compile(r"[^\\`*_\[\]<>&!#\n|~:+-]*\Z")
"""Texts that mean nothing in Markdown, as most descriptions are."""
_RULES = ("text", "newline", "escape", "backticks", "emphasis", "link", "autolink", "entity", "balance_pairs",
          "fragments_join")  # fmt: skip
_BLOCKS = ("paragraph", "list", "blockquote", "fence", "code")
_LINK = re.compile(r"(https?://|mailto:)", re.IGNORECASE)


class _Reader(threading.local):
    """A parser for each thread: it is not said that one may be shared."""

    def __init__(self) -> None:
        self.parser = MarkdownIt("zero", {"html": False, "linkify": False}).enable([*_BLOCKS, *_RULES], True)
        self.parser.validateLink = lambda url: _LINK.match(url) is not None  # type: ignore[method-assign]
        # Links of others say nothing for us, and their pages learn nothing of ours.
        self.parser.add_render_rule("link_open", _link_open)


def _link_open(renderer, tokens, index, options, env) -> str:  # type: ignore[no-untyped-def]  # as the library calls it
    tokens[index].attrSet("rel", "nofollow noopener noreferrer")
    return str(renderer.renderToken(tokens, index, options, env))


_READER = _Reader()


def markdown(text: object) -> Markup:
    """The HTML of a description; headings and images are shown as they are written."""
    if not isinstance(text, str) or not text.strip():
        return Markup("")
    shown = visible(text)[: LONGEST + 1]
    if _PLAIN.match(shown):
        return Markup(f"<p>{escape(shown)}</p>")  # noqa: S704  # as it says
    return Markup(_READER.parser.render(shown))  # noqa: S704  # raw HTML is off: what it renders is escaped
