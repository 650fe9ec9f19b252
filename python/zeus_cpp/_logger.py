"""Loggers have the names that scripts configure: those of the existing package's modules."""

from __future__ import annotations

import logging


def logger_of(module: str) -> logging.Logger:
    """`module` is the module's own `__name__`."""
    return logging.getLogger("zeus" + module[len("zeus_cpp"):])
