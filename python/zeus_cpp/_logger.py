"""Loggers have the names that scripts configure: those of the existing package's modules."""

from __future__ import annotations

import logging
import sys


def logger_of(module: str) -> logging.Logger:
    """`module` is the module's own `__name__`."""
    return logging.getLogger("zeus" + module[len("zeus_cpp"):])


def warn(logger: logging.Logger, line: str) -> None:
    """A warning that no one should miss, such as that a training is not optimized: on stderr if logging is not set up."""
    logger.warning("%s", line)
    if not _is_set_up(logger):
        print(f"zeus: warning: {line}", file=sys.stderr)


def _is_set_up(logger: logging.Logger) -> bool:
    at: logging.Logger | None = logger
    while at is not None:
        if any(not isinstance(handler, logging.NullHandler) for handler in at.handlers):
            return True
        at = at.parent if at.propagate else None
    return False
