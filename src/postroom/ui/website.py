"""The pages as the server sees them: from the path of a request to the page, and from a problem to a page about it."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from postroom.http.server.request import Request
from postroom.http.server.response import Response
from postroom.http.server.web_pages import NAME, entity_path
from postroom.messages.definitions.catalog_tree import MESSAGE_OWNERS
from postroom.registry.paths import EntityPath
from postroom.registry.problems import RegistryProblem
from postroom.settings import Settings
from postroom.store.interface import Store
from postroom.ui.entities.definition import answer_definition
from postroom.ui.entities.examples import answer_example
from postroom.ui.entities.groups import answer_group
from postroom.ui.entities.history import answer_history
from postroom.ui.entities.plain_entities import answer_collection, answer_generic, answer_version
from postroom.ui.entities.schema import answer_schema
from postroom.ui.graph.graph_page import answer_graph
from postroom.ui.lake.dead_letters import answer_dead_letters, answer_dying
from postroom.ui.lake.ledger import answer_ledger
from postroom.ui.lake.replay_trial import answer_replay
from postroom.ui.lake.tables import answer_lake, answer_landed, answer_table
from postroom.ui.page import PageRequest
from postroom.ui.problem import problem_page
from postroom.ui.rendering.assets import asset
from postroom.ui.trying.compare import answer_compare
from postroom.ui.trying.try_it import answer_try
from postroom.ui.views.changes import answer_account, answer_changes_page, answer_subscriptions_page
from postroom.ui.views.configuration import answer_api, answer_model, answer_settings
from postroom.ui.views.home import answer_home
from postroom.ui.views.search import answer_fields, answer_search

Handler = Callable[[PageRequest], Response]

ASSETS = "/-/assets/"
READ: tuple[str, ...] = ("GET", "HEAD")
PAGES: dict[str, tuple[Handler, tuple[str, ...]]] = {
    "account": (answer_account, READ),
    "api": (answer_api, READ),
    "changes": (answer_changes_page, READ),
    "compare": (answer_compare, (*READ, "POST")),
    "example": (answer_example, READ),
    "fields": (answer_fields, READ),
    "graph": (answer_graph, READ),
    "history": (answer_history, READ),
    "lake": (answer_lake, READ),
    "lake/dead": (answer_dead_letters, READ),
    "lake/dying": (answer_dying, READ),
    "lake/landed": (answer_landed, READ),
    "lake/ledger": (answer_ledger, READ),
    "lake/replay": (answer_replay, (*READ, "POST")),
    "lake/table": (answer_table, READ),
    "model": (answer_model, READ),
    "search": (answer_search, READ),
    "settings": (answer_settings, READ),
    "subscriptions": (answer_subscriptions_page, READ),
    "try": (answer_try, (*READ, "POST")),
}
"""Pages that are no entities', by their names below `/-/`, with the methods they take."""


def open_pages(settings: Settings) -> Website:
    """The pages of a service."""
    return Website(settings)


class Website:
    """All pages; what one sees of the registry is what the API would show them."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def answer(self, request: Request, store: Store, settings: Settings) -> Response:
        """The page of a path below the root of the pages."""
        if request.path.startswith(ASSETS):
            _refuse_other_methods(request, READ)
            return asset(request.path.removeprefix(ASSETS))
        page = PageRequest(request, store, settings)
        handler: Handler = self._entity
        methods = READ
        if request.path.startswith("/-/"):
            found = PAGES.get(request.path.removeprefix("/-/"))
            if found is None:
                raise RegistryProblem("api_not_found", f"/{NAME}{request.path}")
            handler, methods = found
        if request.method == "OPTIONS":
            return _allowed(methods)
        _refuse_other_methods(request, methods)
        return handler(page)

    def refuse(self, problem: RegistryProblem, request: Request, instance: str) -> Response:
        """A problem as a page, with what to do about it."""
        return problem_page(problem, request, instance, self._settings)

    def _entity(self, page: PageRequest) -> Response:
        with page.reading():
            path = entity_path(page.request.path, page.tx.model())
            if path is None:
                raise RegistryProblem("not_found", page.request.path)
            match path.kind:
                case "registry":
                    return answer_home(page)
                case "groups" | "resources" | "versions":
                    return answer_collection(page, path)
                case "group":
                    return answer_group(page, path)
                case "resource":
                    return _resource(page, path)
                case "version":
                    return answer_version(page, path)
                case _:
                    return answer_generic(page, path)


def _resource(page: PageRequest, path: EntityPath) -> Response:
    group, collection = path.ids[0], path.ids[2]
    if group in MESSAGE_OWNERS and collection == "messages":
        return answer_definition(page, path)
    if (group, collection) == ("schemagroups", "schemas"):
        return answer_schema(page, path)
    return answer_generic(page, path)


def _allowed(methods: tuple[str, ...]) -> Response:
    return Response(headers={"Allow": ", ".join((*methods, "OPTIONS"))}, cacheable=False, root_link=False)


def _refuse_other_methods(request: Request, methods: tuple[str, ...]) -> None:
    if request.method not in methods:
        path, allow = urlsplit(request.base).path + request.path, ", ".join(methods)
        raise RegistryProblem("action_not_supported", path, action=request.method, headers={"allow": allow})
