"""Energy, power and temperature while a program runs."""

from __future__ import annotations

from zeus.monitor.energy import Measurement, ZeusMonitor
from zeus.monitor.power import PowerMonitor
from zeus.monitor.temperature import TemperatureMonitor

__all__ = ["Measurement", "PowerMonitor", "TemperatureMonitor", "ZeusMonitor"]
