"""The version of this package, the same as libzeus's, and the release of the existing package whose interface it has."""

from __future__ import annotations

__version__ = "0.1.0"
INTERFACE = "0.16.0"
