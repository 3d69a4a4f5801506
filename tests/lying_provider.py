"""A provider of tokens that can be made to fail and to lie, which a real one cannot: import the fixture."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from postroom.access import oidc

AUDIENCE = "postroom"
RSA_KEY = rsa.generate_private_key(65537, 2048)
OTHER_KEY = rsa.generate_private_key(65537, 2048)
SMALL_KEY = rsa.generate_private_key(65537, 1024)  # noqa: S505  # it is to be refused
EC_KEY = ec.generate_private_key(ec.SECP256R1())
ED_KEY = ed25519.Ed25519PrivateKey.generate()


def jwk(key: Any, key_id: str, **more: str) -> dict[str, Any]:
    algorithm = {
        rsa.RSAPrivateKey: jwt.algorithms.RSAAlgorithm,
        ec.EllipticCurvePrivateKey: jwt.algorithms.ECAlgorithm,
        ed25519.Ed25519PrivateKey: jwt.algorithms.OKPAlgorithm,
    }
    made = next(one for kind, one in algorithm.items() if isinstance(key, kind))
    return {**json.loads(made.to_jwk(key.public_key())), "kid": key_id, **more}


class LyingProvider:
    """A provider of tokens that can be made to fail and to lie."""

    def __init__(self) -> None:
        self.keys: Any = [jwk(RSA_KEY, "one")]
        self.issuer = ""
        self.document: dict[str, Any] = {}
        self.status = 200
        self.asked: list[str] = []
        self.forms: list[dict[str, str]] = []
        self.headers: list[dict[str, str]] = []
        """What was sent to the token endpoint."""
        self.tokens: Callable[[dict[str, str]], tuple[int, Any]] = lambda _: (400, {"error": "invalid_grant"})
        """What the token endpoint answers to a form."""
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                provider.asked.append(self.path)
                body = {"keys": provider.keys} if self.path.endswith("/jwks") else provider.document
                self.answer(provider.status, body)

            def do_POST(self) -> None:
                sent = self.rfile.read(int(self.headers["content-length"])).decode()
                provider.forms.append(dict(parse_qsl(sent)))
                provider.headers.append({name.lower(): value for name, value in self.headers.items()})
                self.answer(*provider.tokens(provider.forms[-1]))

            def answer(self, status: int, body: Any) -> None:
                encoded = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(encoded)))
                self.end_headers()
                self.wfile.write(encoded)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/staff"
        self.issuer = self.url
        self.document = {
            "issuer": self.url,
            "jwks_uri": f"{self.url}/jwks",
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
        }

    def token(self, key: Any = RSA_KEY, algorithm: str = "RS256", kid: str | None = "one", **claims: Any) -> str:
        now = int(time.time())
        given = {"iss": self.issuer, "aud": AUDIENCE, "sub": "anna", "exp": now + 300, "iat": now, **claims}
        chosen = {name: value for name, value in given.items() if value is not None}
        return jwt.encode(chosen, key, algorithm, {"kid": kid} if kid else None)

    def claims(self, exp: str = "99999999999") -> bytes:
        """Good claims, with an end that is written as given."""
        return b'{"iss":"%b","aud":"postroom","sub":"anna","exp":%b}' % (self.issuer.encode(), exp.encode())


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[LyingProvider]:
    monkeypatch.setattr(oidc, "RETRY_SECONDS", 0.0)
    made = LyingProvider()
    thread = threading.Thread(target=made.server.serve_forever, args=(0.01,))
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()
