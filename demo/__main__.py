"""`make demo`: start a registry, load a catalog, make 20,000 messages, sort them on Spark, look at the tables."""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

from demo.traffic import Traffic
from postroom import PostroomError, open_catalog
from postroom.errors import FolderUnwritable

CATALOG = Path(__file__).parent / "catalog"
POSTROOM = [sys.executable, "-m", "postroom"]
PAGES = "http://127.0.0.1:8080/ui/"
QUERY = """SELECT var_depot AS depot, count(*) AS positions, round(avg(data.speed_kmh), 1) AS average_kmh
FROM "fleet.telemetry"."vehicle.telemetry.position" GROUP BY depot ORDER BY depot"""
NEXT = (
    "tables --lake {lake}",
    """sql --lake {lake} 'SELECT * FROM "shop.orders"."order.placed" LIMIT 3'""",
    "match --catalog demo/catalog --input demo/sample.jsonl --explain",
)


def main() -> None:
    """Run the demonstration in the current folder; exits 0 only when every message is where it ought to be."""
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument("--count", type=int, default=20_000, help="messages to make (default 20000)")
    parser.add_argument("--folder", type=Path, default=Path(), help="where demo-lake and demo-work go (default here)")
    parser.add_argument("--ui", action="store_true", help="keep the web pages open at the end, until Ctrl-C")
    arguments = parser.parse_args()
    try:
        demonstrate(arguments.count, arguments.folder, keeps_open=arguments.ui)
    except PostroomError as error:
        stop(str(error), error.exit_code)
    except KeyboardInterrupt:
        stop("interrupted.", 130)


def demonstrate(count: int, folder: Path, *, keeps_open: bool = False) -> None:
    """The whole job, step by step, with nothing but the public commands and the Python API."""
    began = time.monotonic()
    lake, work = fresh(folder / "demo-lake"), fresh(folder / "demo-work")
    records = work / "records.jsonl"
    with registry(work, lake) as url:
        say("Loading the catalog of a small company into it")
        run("load", shown(CATALOG), "--to", url)
        say(f"Making {count:,} messages from its definitions, about 5% of them wrong on purpose")
        expected = make_traffic(url, records, count)
        say("Sorting them on Spark, one typed Delta table per message definition (Spark takes a few seconds to start)")
        run("sort", "--catalog", url, "--source", records, "--lake", lake)
        say("What did not fit is kept and explained")
        run("dead", "--lake", lake)
        say("Looking into a table with SQL")
        run("sql", "--lake", lake, QUERY)
        balance(expected, lake)
        print(f"\nDone in {time.monotonic() - began:.0f} seconds. Look further:")
        for command in NEXT:
            print(f"  .venv/bin/postroom {command.format(lake=lake)}")
        if keeps_open:
            print(f"\nAll of it as web pages, until you press Ctrl-C: {url}/ui/", flush=True)
            wait_for_interrupt()
            return
    serve = f"serve --db sqlite:///{work / 'registry.db'} --lake {lake}"
    print(f"\nAll of it as web pages (`make demo UI=1` opens them at once):\n  .venv/bin/postroom {serve}\n  {PAGES}")


def wait_for_interrupt() -> None:
    """Leave everything as it is until somebody presses Ctrl-C."""
    with suppress(KeyboardInterrupt):
        signal.pause()


def make_traffic(url: str, records: Path, count: int) -> Counter[tuple[str, str]]:
    """Write the traffic as JSON Lines; returns what ought to become of it."""
    traffic = Traffic(open_catalog(url))
    with records.open("w") as file:
        for done, parcel in enumerate(traffic.parcels(count), 1):
            file.write(parcel.line + "\n")
            if sys.stderr.isatty() and done % 1000 == 0:
                print(f"\r  {done:,} of {count:,}", end="", file=sys.stderr)
    if sys.stderr.isatty():
        print("\r", end="", file=sys.stderr)
    print(f"  wrote {records} ({records.stat().st_size / 1e6:.1f} MB)")
    return traffic.expected


def balance(expected: Counter[tuple[str, str]], lake: Path) -> None:
    """Compare what became of the messages, by the lake's own ledger, with what they were made for."""
    command = [*POSTROOM, "sql", "--lake", str(lake), "--json", "SELECT read, landed, dead FROM ledger"]
    (entry,) = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    landed = {xid: count for (outcome, xid), count in expected.items() if outcome == "landed"}
    dead: Counter[str] = Counter()
    for (outcome, _), count in expected.items():
        if outcome != "landed":
            dead[outcome] += count
    if entry["landed"] != landed or entry["dead"] != dict(dead):
        stop(f"the lake is not what was expected: {landed}, {dict(dead)}; the ledger says {entry}.", 1)
    read, rows, letters = entry["read"], sum(landed.values()), dead.total()
    print(f"\nThe books balance: read {read:,} = landed {rows:,} + dead {letters:,}, each where it was made to go.")


@contextmanager
def registry(work: Path, lake: Path) -> Iterator[str]:
    """A registry on a free port for as long as it is needed."""
    say("Starting a registry on a free port")
    command = [*POSTROOM, "serve", "--port", "0", "--db", f"sqlite:///{work / 'registry.db'}", "--lake", str(lake)]
    with (work / "serve.log").open("w") as log:
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        line = server.stdout.readline() if server.stdout else ""
        if "listening on " not in line:
            stop(f"the registry did not start: {(work / 'serve.log').read_text().strip()}", 3)
        print(f"  {line.strip()}")
        yield line.split("listening on ", 1)[1].strip()
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def run(*arguments: object) -> None:
    """Run a postroom command and show it; a failing one ends the demonstration with its exit code."""
    words = [str(argument) for argument in arguments]
    print("  $ postroom " + " ".join(f"'{word}'" if " " in word else word for word in words), flush=True)
    code = subprocess.run([*POSTROOM, *words], check=False).returncode
    if code:
        sys.exit(code)


def shown(path: Path) -> Path:
    """A path as one would type it here."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def fresh(folder: Path) -> Path:
    """Make room: the demonstration can be run again and again."""
    try:
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir(parents=True)
    except OSError as error:
        raise FolderUnwritable(f"cannot be made anew: {error.strerror}.", place=str(folder)) from None
    return folder


def say(text: str) -> None:
    """Announce a step."""
    print(f"\n▸ {text} …", flush=True)


def stop(sentence: str, code: int) -> NoReturn:
    """End with a sentence."""
    print(f"demo: {sentence}", file=sys.stderr)
    sys.exit(code)


main()
