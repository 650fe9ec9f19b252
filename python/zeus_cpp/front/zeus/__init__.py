"""Zeus measures the energy of deep-learning work, and spends less of it.

    from zeus.monitor import ZeusMonitor

    monitor = ZeusMonitor()
    with monitor.window("epoch") as epoch:
        train()
    print(epoch.measurement.total_energy, "J")

This is the front of `zeus_cpp`, for scripts that import it under the existing package's name. Its folder is the last on the
path (zeus_cpp.pth), so that the existing package, if it is installed as well, comes first. Importing `zeus` alone loads
nothing else; each part is loaded when it is first used.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import zeus_cpp
from zeus_cpp import __version__ as __cpp_version__
from zeus_cpp._front import serve
from zeus_cpp._version import INTERFACE as __version__

if TYPE_CHECKING:
    from zeus_cpp import ZeusDataLoader as ZeusDataLoader

__all__ = ["ZeusDataLoader", "__cpp_version__", "__version__"]

serve()
# For tools that list the contents of a package.
__path__ = zeus_cpp.__path__


def __getattr__(name: str) -> Any:
    if f"zeus_cpp.{name}" in sys.modules:  # other modules have loaded it
        from importlib import import_module

        return import_module(f"{__name__}.{name}")
    try:
        return getattr(zeus_cpp, name)
    except AttributeError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(zeus_cpp)})
