"""Finding things: by words with facets, and the fields of all payloads."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup, escape

from postroom.http.server.response import Response
from postroom.registry.search.field_list import FieldsRequest, list_fields
from postroom.registry.search.index_rows import FACETS
from postroom.registry.search.search import MOST_COUNTED, Highlight, SearchRequest, search
from postroom.ui.page import PageRequest
from postroom.ui.rendering.safe_text import visible

PAGE_SIZE = 20
FIELDS_SIZE = 50
MOST_FACET_VALUES = 12


def answer_search(page: PageRequest) -> Response:
    """What fits the words in `q` and the facets that are chosen."""
    facets = {name: page.query[name] for name in FACETS if page.query.get(name)}
    query, offset = page.query.get("q", ""), page.number("offset", 0, MOST_COUNTED)
    with page.reading():
        found = search(page.tx, SearchRequest(q=query, facets=facets, limit=PAGE_SIZE, offset=offset))
    following = offset + PAGE_SIZE
    return page.render(
        "search.html",
        here="/-/search",
        q=query,
        found=found,
        hits=[(hit, [(one, marked(one)) for one in hit.highlights]) for hit in found.hits],
        facets=[_facet(page, name, query, facets, found.facets.get(name, ())) for name in FACETS],
        chosen=facets,
        next_url=_url(page, query, facets, offset=following) if following < found.total else "",
        first_url=_url(page, query, facets) if offset else "",
        json_url=page.links.api("/-/search", q=query, offset=offset or "", **facets),
    )


def _facet(page: PageRequest, name: str, query: str, chosen: dict[str, str], values: tuple[Any, ...]) -> dict[str, Any]:
    return {
        "name": name,
        "values": [
            {
                "value": one.value,
                "count": one.count,
                "is_chosen": chosen.get(name) == one.value,
                "url": _url(page, query, {**chosen, name: "" if chosen.get(name) == one.value else one.value}),
            }
            for one in values[:MOST_FACET_VALUES]
        ],
    }


def _url(page: PageRequest, query: str, facets: dict[str, str], **more: object) -> str:
    return page.links.page("/-/search", q=query, **facets, **more)


def marked(highlight: Highlight) -> Markup:
    """The text of a highlight with what was found in it."""
    text, parts, last = highlight.text, [], 0
    for start, end in highlight.marks:
        parts += [escape(visible(text[last:start])), Markup("<mark>{}</mark>").format(visible(text[start:end]))]
        last = end
    return Markup("").join([*parts, escape(visible(text[last:]))])


def answer_fields(page: PageRequest) -> Response:
    """Every field of every payload, and where it is used."""
    query, is_shared = page.query.get("q", ""), bool(page.query.get("shared"))
    with page.reading():
        wanted = FieldsRequest(q=query, is_shared=is_shared, after=page.query.get("after", ""), limit=FIELDS_SIZE)
        found = list_fields(page.tx, wanted)
    shared = "true" if is_shared else ""
    return page.render(
        "fields.html",
        here="/-/fields",
        q=query,
        is_shared=is_shared,
        fields=found.fields,
        next_url=page.links.page("/-/fields", q=query, shared=shared, after=found.after) if found.after else "",
        json_url=page.links.api("/-/fields", q=query, shared=shared),
    )
