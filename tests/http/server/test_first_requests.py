"""The first requests of a process arrive at once, when nothing has been used yet."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from postroom.catalog.open_store import open_store

# In a process of its own: what it shows is that the process survives.
FIRST_REQUESTS = """
import sys, threading
from postroom.http.server.app import create_app
from postroom.settings import Settings
from postroom.catalog.open_store import open_store
from tests.http.requests import AsgiClient

asgi, barrier, answers = AsgiClient(create_app(open_store(sys.argv[1]), Settings())), threading.Barrier(16), []
sys.setswitchinterval(1e-6)

def ask():
    barrier.wait()
    answers.append(asgi.ask("GET", "/messagegroups?limit=1").status)

threads = [threading.Thread(target=ask) for _ in range(16)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert answers == [200] * 16, answers
"""


def test_many_first_requests_at_once(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path}/registry.db"
    open_store(database).close()
    for _ in range(8):
        command = [sys.executable, "-c", FIRST_REQUESTS, database]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert (ended.returncode, ended.stderr) == (0, "")
