"""The page where one pastes a message and sees what becomes of it."""

from __future__ import annotations

from urllib.parse import parse_qs

from postroom.http.server.response import Response
from postroom.messages.matching.outcome import OUTCOMES
from postroom.protocols.cloudevents import BatchTooLarge
from postroom.registry.problems import RegistryProblem
from postroom.ui.page import PageRequest
from postroom.ui.trying.pasted_messages import MOST_PASTED, read_pasted
from postroom.ui.trying.tried_message import TriedMessage, judge

FORM = "application/x-www-form-urlencoded"
MOST_FIELDS = 50


def form_of(page: PageRequest) -> dict[str, str]:
    """The fields of a form that was sent."""
    if not (page.request.header("content-type") or "").startswith(FORM):
        raise RegistryProblem("bad_request", page.request.path, error_detail="the page sends a form, and this is none")
    try:
        found = parse_qs(page.request.body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise RegistryProblem("bad_request", page.request.path, error_detail="the form cannot be read") from None
    return {name: values[0].replace("\r\n", "\n") for name, values in found.items()}


def answer_try(page: PageRequest) -> Response:
    """The form, and for messages that were sent with it what becomes of them."""
    sent = form_of(page) if page.request.method == "POST" else page.query
    text = sent.get("messages", "")
    results = _judged(page, text)
    return page.render(
        "try.html",
        here="/-/try",
        text=text,
        results=results,
        counts=[(name, sum(one.match.outcome == name for one in results)) for name in OUTCOMES],
        most=MOST_PASTED,
        base=page.request.base.removesuffix("/ui").removesuffix("/-"),
        kept=False,
    )


def _judged(page: PageRequest, text: str) -> list[TriedMessage]:
    catalog = page.catalog
    found: list[TriedMessage] = []
    for pasted in read_pasted(text):
        try:
            messages = catalog.engine.opened(pasted.line)
        except BatchTooLarge:
            raise RegistryProblem(
                "bad_request", page.request.path, error_detail="the batch has too many events"
            ) from None
        wanted = messages[: MOST_PASTED - len(found)]
        found += [judge(catalog, message, is_payload=pasted.is_payload) for message in wanted]
    return found
