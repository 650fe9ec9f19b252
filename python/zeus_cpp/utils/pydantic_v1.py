"""Pydantic's first interface, where pydantic is installed: this package does not need it."""

from __future__ import annotations

try:
    from pydantic.v1 import *  # type: ignore[import-not-found,unused-ignore] # noqa: F403
except ImportError:
    from pydantic import *  # type: ignore[import-not-found,unused-ignore,assignment,no-redef] # noqa: F403
