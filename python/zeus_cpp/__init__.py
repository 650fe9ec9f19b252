"""Zeus measures the energy of deep-learning work, and spends less of it.

Scripts import it as `zeus` (front/zeus). By the name `zeus_cpp` it can always be imported, whatever else is called `zeus`.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from zeus_cpp._installation import warn_of_other_zeus
from zeus_cpp._lazy import importer
from zeus_cpp._version import __version__

if TYPE_CHECKING:
    from zeus_cpp._dataloader import ZeusDataLoader as ZeusDataLoader

__all__ = ["ZeusDataLoader", "__version__"]

logging.getLogger("zeus").addHandler(logging.NullHandler())
warn_of_other_zeus()

# Names of this package that need a framework, and their modules.
_LAZY = {"ZeusDataLoader": "zeus_cpp._dataloader"}

__getattr__ = importer(__name__, _LAZY)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
