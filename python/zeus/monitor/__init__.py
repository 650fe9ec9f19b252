"""Energy, power and temperature while a program runs.

Most programs use windows alone: what power and temperature take besides is loaded when they are asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zeus.monitor.energy import Measurement, ZeusMonitor

if TYPE_CHECKING:
    from zeus.monitor.power import PowerMonitor
    from zeus.monitor.temperature import TemperatureMonitor

__all__ = ["Measurement", "PowerMonitor", "TemperatureMonitor", "ZeusMonitor"]

_LAZY = {"PowerMonitor": "zeus.monitor.power", "TemperatureMonitor": "zeus.monitor.temperature"}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_LAZY[name]), name)
    globals()[name] = value
    return value
