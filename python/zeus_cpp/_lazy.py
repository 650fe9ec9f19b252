"""Names of a module that are expensive to import, and so are imported only when they are first used."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, Callable


def importer(module: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a module; `homes` maps each name to its module."""

    def look(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[module], name, value)
        return value

    return look
