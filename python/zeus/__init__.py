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
from typing import TYPE_CHECKING

from zeus._installation import warn_of_other_distribution
from zeus._lazy import importer
from zeus._version import __version__

if TYPE_CHECKING:
    from zeus._dataloader import ZeusDataLoader as ZeusDataLoader

__all__ = ["ZeusDataLoader", "__version__"]

logging.getLogger(__name__).addHandler(logging.NullHandler())
warn_of_other_distribution()

# Names of this package that bring a framework with them, and the modules they are in.
_LAZY = {"ZeusDataLoader": "zeus._dataloader"}

__getattr__ = importer(__name__, _LAZY)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
