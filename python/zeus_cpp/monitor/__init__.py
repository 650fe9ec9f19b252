"""Energy, power and temperature while a program runs.

Most programs use only windows; the modules for power and temperature are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zeus_cpp._lazy import importer
from zeus_cpp.monitor.energy import Measurement, ZeusMonitor

if TYPE_CHECKING:
    from zeus_cpp.monitor.power import PowerMonitor
    from zeus_cpp.monitor.temperature import TemperatureMonitor

__all__ = ["Measurement", "PowerMonitor", "TemperatureMonitor", "ZeusMonitor"]

__getattr__ = importer(__name__, {"PowerMonitor": "zeus_cpp.monitor.power", "TemperatureMonitor": "zeus_cpp.monitor.temperature"})
