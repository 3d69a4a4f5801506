"""Signing in with a browser: `/-/login` leads to the provider, `/-/callback` back from it, `/-/logout` out."""

from __future__ import annotations

import base64
import binascii
import hmac
import html
import re
from collections.abc import Callable
from urllib.parse import urlsplit

from postroom.access.audit import AuditJournal
from postroom.access.authentication import Authenticator, ProviderDown, SignInFailed
from postroom.access.code_flow import CodeFlow, Login, begin_login
from postroom.access.oidc import TokenUser
from postroom.access.sign_in_limits import SignInLimit
from postroom.http.server.request import Request
from postroom.http.server.response import Response
from postroom.registry.problems import RegistryProblem
from postroom.settings import Settings

LOGIN, CALLBACK, LOGOUT = "/-/login", "/-/callback", "/-/logout"
COOKIE, LOGIN_COOKIE = "postroom_session", "postroom_login"
LOGIN_SECONDS = 600
"""How long somebody may take at the provider."""
HOUR = 3600
LONGEST_NEXT = 1000
SUBJECT = "browser"
"""For whom failed sign-ins are counted: nobody has said yet who they are."""
UNSHARED = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
PAGE = {"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": "default-src 'none'"}
_PARTS = re.compile(r"([\w-]{43})\.([\w-]{43})\.([\w-]{43})\.([\w=-]*)\Z", re.ASCII)
_ERROR = re.compile(r"[a-z_]{1,40}\Z")


class BrowserDoor:
    """Where people come in who have a browser and an account at the OpenID provider."""

    def __init__(
        self, authenticator: Authenticator, settings: Settings, journal: AuditJournal, failures: SignInLimit
    ) -> None:
        self._authenticator = authenticator
        self._flow = CodeFlow(settings, authenticator.tokens)
        self._seconds = settings.session_hours * HOUR
        self._journal = journal
        self._failures = failures
        self._routes: dict[str, tuple[str, Callable[[Request], Response]]] = {
            LOGIN: ("GET", self.login),
            CALLBACK: ("GET", self.callback),
            LOGOUT: ("POST", self.logout),
        }

    def handler(self, path: str) -> Callable[[Request], Response] | None:
        """What answers a path; it may ask the provider."""
        found = self._routes.get(path)
        if found is None:
            return None
        method, handler = found

        def answer(request: Request) -> Response:
            if request.method != method:
                headers = {"allow": method}
                raise RegistryProblem("action_not_supported", path, action=request.method, headers=headers)
            return handler(request)

        return answer

    def login(self, request: Request) -> Response:
        """Send somebody to the provider; a cookie keeps what its answer has to fit."""
        login = begin_login()
        try:
            self._limit(request)
            where = self._flow.address(login, request.base + CALLBACK)
        except SignInFailed as failed:
            return self._failed(request, failed)
        target = base64.urlsafe_b64encode(local_path(dict(request.query).get("next", "/")).encode()).decode()
        kept = f"{login.state}.{login.nonce}.{login.verifier}.{target}"
        return _redirect(where, _cookie(request.base, LOGIN_COOKIE, kept, LOGIN_SECONDS))

    def callback(self, request: Request) -> Response:
        """Begin a session for somebody who comes back from the provider."""
        query = dict(request.query)
        login, target = _begun(request)
        try:
            self._limit(request)
            user = self._user(request, login, query)
            before = session_secret(request.header("cookie") or "", request.base)
            secret = self._authenticator.begin_session(user.name, user.claims, self._seconds, before)
        except SignInFailed as failed:
            return self._failed(request, failed)
        self._journal.note("signin", f"user:{user.name}", request.address, detail="browser, a new session")
        cookies = _cookie(request.base, COOKIE, secret, self._seconds), _cookie(request.base, LOGIN_COOKIE, "", 0)
        return _redirect(request.base + target, *cookies)

    def logout(self, request: Request) -> Response:
        """End the session of the cookie; like every write it needs the token of the session."""
        secret = session_secret(request.header("cookie") or "", request.base)
        if secret:
            self._authenticator.end_session(secret)
            self._journal.note("signout", request.permissions.principal, request.address, detail="browser")
        cookie = _cookie(request.base, COOKIE, "", 0)
        return Response(status=204, headers=UNSHARED, cookies=(cookie,), cacheable=False)

    def _user(self, request: Request, login: Login | None, query: dict[str, str]) -> TokenUser:
        sent = query.get("state", "").encode("utf-8", "surrogatepass")
        if login is None or not hmac.compare_digest(login.state.encode(), sent):
            raise SignInFailed("this answer of the provider is of no sign-in that began in this browser")
        if "code" not in query:
            error = query.get("error", "")
            raise SignInFailed(f"the provider refuses it ({error if _ERROR.match(error) else 'without a reason'})")
        return self._flow.user(login, request.base + CALLBACK, query["code"], query.get("iss", ""))

    def _limit(self, request: Request) -> None:
        wait = self._failures.wait(request.address, SUBJECT)
        if wait:
            detail, headers = "too many sign-ins failed", {"retry-after": str(wait)}
            self._journal.note("refused", SUBJECT, request.address, detail=detail)
            raise RegistryProblem("bad_request", request.path, error_detail=detail, status=429, headers=headers)

    def _failed(self, request: Request, failed: SignInFailed) -> Response:
        """One sentence, as a page for people and as a problem for programs; what was begun is over."""
        is_down = isinstance(failed, ProviderDown)
        if not is_down:
            self._failures.fail(request.address, SUBJECT)
        self._journal.note("refused", SUBJECT, request.address, detail=failed.sentence)
        status = 503 if is_down else 401
        # Browsers ask for a password when they are told that Basic would do.
        extra = {"retry-after": "10"} if is_down else {"www-authenticate": 'Bearer realm="postroom"'}
        cookie = _cookie(request.base, LOGIN_COOKIE, "", 0)
        if "text/html" not in (request.header("accept") or ""):
            headers = {**extra, "set-cookie": cookie}
            raise RegistryProblem(
                "bad_request", request.path, error_detail=_sentence(failed), status=status, headers=headers
            )
        headers = {**{name.title(): value for name, value in extra.items()}, **UNSHARED, **PAGE}
        content = _page(_sentence(failed), request.base + LOGIN).encode()
        return Response(status=status, headers=headers, content=content, cookies=(cookie,), cacheable=False)


def session_secret(cookies: str, base: str) -> str:
    """The secret of the session in a Cookie header; empty where there is none."""
    return _cookies(cookies).get(_cookie_name(base, COOKIE), "")


def end_of_session(base: str) -> str:
    """What makes a browser forget the cookie of a session."""
    return _cookie(base, COOKIE, "", 0)


def local_path(target: str) -> str:
    """A path of this service; what leads elsewhere, or is no path, leads to its root instead."""
    is_plain = target.isascii() and target.isprintable() and " " not in target and "\\" not in target
    is_local = target.startswith("/") and not target.startswith("//") and not target.startswith((LOGIN, CALLBACK))
    return target if is_plain and is_local and len(target) <= LONGEST_NEXT else "/"


def _begun(request: Request) -> tuple[Login | None, str]:
    """The sign-in that the browser began, and where it wanted to go."""
    found = _PARTS.match(_cookies(request.header("cookie") or "").get(_cookie_name(request.base, LOGIN_COOKIE), ""))
    if found is None:
        return None, "/"
    state, nonce, verifier, target = found.groups()
    try:
        return Login(state, nonce, verifier), local_path(base64.urlsafe_b64decode(target).decode())
    except (binascii.Error, UnicodeDecodeError):
        return None, "/"


def _redirect(where: str, *cookies: str) -> Response:
    return Response(
        status=303, headers={"Location": where, **UNSHARED}, cookies=cookies, cacheable=False, root_link=False
    )


def _cookie(base: str, name: str, value: str, seconds: int) -> str:
    parts = urlsplit(base)
    secure = "; Secure" if parts.scheme == "https" else ""
    called = _cookie_name(base, name)
    return f"{called}={value}; Path={parts.path or '/'}; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}"


def _cookie_name(base: str, name: str) -> str:
    """The name of a cookie; over TLS one that no other host of the domain can set."""
    scheme, _, rest = base.partition("://")
    return f"__Host-{name}" if scheme == "https" and "/" not in rest else name


def _cookies(header: str) -> dict[str, str]:
    """The cookies of a header; of several with one name the first, whose path is the longest (RFC 6265, 5.4)."""
    pairs = (one.partition("=") for one in header.split(";"))
    return {name.strip(): value.strip() for name, _, value in reversed([*pairs])}


def _sentence(failed: SignInFailed) -> str:
    return f"the sign-in failed: {failed.sentence}"


def _page(sentence: str, again: str) -> str:
    text = html.escape(sentence[:1].upper() + sentence[1:])
    return (
        "<!doctype html>\n"
        '<html lang="en"><head><meta charset="utf-8"><title>Sign-in failed</title></head>\n'
        f'<body><p>{text}. <a href="{html.escape(again)}">Sign in again</a></p></body></html>\n'
    )
