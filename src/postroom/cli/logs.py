"""Log lines: for people on a terminal, one JSON object a line for machines."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

from postroom.settings import load_settings


class JsonLines(logging.Formatter):
    """One JSON object a line: time, level, logger, message, and the fields given as `extra={"fields": …}`."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def configure_logs(verbose: int, quiet: bool) -> None:
    """Set up the `postroom` logger on stderr; the root logger and other libraries are left alone."""
    level = logging.ERROR if quiet else {0: logging.WARNING, 1: logging.INFO}.get(verbose, logging.DEBUG)
    form = load_settings().log_format
    as_text = form == "text" or (form == "auto" and sys.stderr.isatty())
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s") if as_text else JsonLines())
    logger = logging.getLogger("postroom")
    logger.handlers = [handler]
    logger.setLevel(level)
    logger.propagate = False
