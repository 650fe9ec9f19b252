"""Names of a module that bring so much with them that they are imported only when somebody asks for them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, Callable


def importer(module: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a module; `homes` has the module that each name is in."""

    def look(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[module], name, value)
        return value

    return look
