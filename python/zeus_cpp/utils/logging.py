"""Output to a file and to the console at the same time."""

from __future__ import annotations

import sys
from pathlib import Path


class FileAndConsole:
    """A replacement for `sys.stdout`: output goes to the console and to a file."""

    def __init__(self, filepath: str | Path) -> None:
        self.file = open(filepath, "w", encoding="utf-8")
        self.stdout = sys.stdout

    def write(self, message: str) -> None:
        self.file.write(message)
        self.stdout.write(message)
        self.file.flush()
        self.stdout.flush()

    def flush(self) -> None:
        self.file.flush()
        self.stdout.flush()
