"""Problems as pages: what is wrong, and what to do about it."""

from __future__ import annotations

import msgspec

from postroom.http.access.browser import LOGIN
from postroom.http.server.request import Request
from postroom.http.server.response import Response
from postroom.http.server.web_pages import ROOTS
from postroom.registry.problems import RegistryProblem
from postroom.settings import Settings
from postroom.ui import texts
from postroom.ui.page import Links, render_page


def problem_page(problem: RegistryProblem, request: Request, instance: str, settings: Settings) -> Response:
    """The page about a problem. What one may not see looks like what is not there."""
    root = next((root for root in ROOTS if request.path.startswith(root)), ROOTS[0])
    signs_in = bool(settings.oidc_client_id) and settings.access == "on" and problem.status == 401
    made = render_page(
        "problem.html",
        Links(request.base + root),
        settings,
        status=problem.status,
        kept=False,
        heading=texts.PROBLEM_HEADINGS.get(problem.status, texts.problem_other),
        advice=_advice(problem, settings),
        problem=problem,
        instance=instance.removeprefix("urn:uuid:"),
        sign_in=request.base + LOGIN if signs_in else "",
        path=request.path,
    )
    headers = {**made.headers, **{name.title(): value for name, value in problem.extra_headers.items()}}
    return msgspec.structs.replace(made, headers=headers)


def _advice(problem: RegistryProblem, settings: Settings) -> str:
    if problem.status == 401 and not settings.oidc_client_id:
        return texts.problem_use_key
    return texts.PROBLEM_ADVICE.get(problem.status, texts.problem_other_advice)
