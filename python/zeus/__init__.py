"""Zeus measures the energy that deep-learning work uses, and spends less of it.

    from zeus.monitor import ZeusMonitor

    monitor = ZeusMonitor()
    with monitor.window("epoch") as epoch:
        train()
    print(epoch.measurement.total_energy, "J")

Importing `zeus` alone loads nothing else; each part is loaded when it is asked for.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from zeus._installation import warn_of_other_distribution
from zeus._version import __version__

if TYPE_CHECKING:
    from zeus._dataloader import ZeusDataLoader as ZeusDataLoader

__all__ = ["ZeusDataLoader", "__version__"]

logging.getLogger(__name__).addHandler(logging.NullHandler())
warn_of_other_distribution()

# Names of this package that bring a framework with them, and the modules they are in.
_LAZY = {"ZeusDataLoader": "zeus._dataloader"}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
