"""The version of this package, which is that of libzeus."""

from __future__ import annotations

__version__ = "0.1.0"
