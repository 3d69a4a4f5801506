"""Log lines: for people on a terminal, one JSON object a line for machines. Tracebacks are for those who debug."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

from postroom.settings import load_settings

LONGEST_CAUSE = 500


class Lines(logging.Formatter):
    """One line for each event; an exception is named at its end, or follows as a traceback where that is asked for."""

    def __init__(self, *, tracebacks: bool) -> None:
        super().__init__("%(levelname)s %(message)s")
        self._tracebacks = tracebacks

    def format(self, record: logging.LogRecord) -> str:
        if self._tracebacks or not record.exc_info:
            return super().format(record)
        return f"{record.levelname} {record.getMessage()}: {_cause(record)}"


class JsonLines(logging.Formatter):
    """One JSON object a line: time, level, logger, message, and the fields given as `extra={"fields": …}`."""

    def __init__(self, *, tracebacks: bool) -> None:
        super().__init__()
        self._tracebacks = tracebacks

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info) if self._tracebacks else _cause(record)
        return json.dumps(line, default=str)


def _cause(record: logging.LogRecord) -> str:
    """The exception of a record in a line."""
    error = record.exc_info[1] if record.exc_info else None
    return " ".join(f"{type(error).__name__}: {error}".split())[:LONGEST_CAUSE]


def configure_logs(verbose: int, quiet: bool) -> None:
    """Set up the `postroom` logger on stderr; the root logger and other libraries are left alone."""
    level = logging.ERROR if quiet else {0: logging.WARNING, 1: logging.INFO}.get(verbose, logging.DEBUG)
    settings = load_settings()
    as_text = settings.log_format == "text" or (settings.log_format == "auto" and sys.stderr.isatty())
    form = Lines if as_text else JsonLines
    handler = logging.StreamHandler()
    handler.setFormatter(form(tracebacks=settings.debug or level == logging.DEBUG))
    logger = logging.getLogger("postroom")
    logger.handlers = [handler]
    logger.setLevel(level)
    logger.propagate = False
