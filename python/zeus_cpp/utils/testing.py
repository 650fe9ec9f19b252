"""A monitor that replays another one's log, for tests of code that uses monitors."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path

from zeus_cpp.monitor.energy import Key, LogPath, Measurement, MeasurementState, ZeusMonitor
from zeus_cpp.utils.framework import sync_execution as synchronize_with_framework

_COLUMN = re.compile(r"gpu(\d+)_energy")


class ReplayZeusMonitor(ZeusMonitor):
    """Returns the lines of a ZeusMonitor's log, in order, one for each window that ends.

    Args:
        gpu_indices: The GPUs of the log; None: those of its header.
        approx_instant_energy: Kept, without effect.
        log_file: The log; required.
        ignore_sync_execution: Whether not to wait for a framework.
        match_window_name: Whether a window must have the name in its line.
    """

    def __init__(
        self,
        gpu_indices: Sequence[int] | None = None,
        approx_instant_energy: bool = False,
        log_file: str | Path | None = None,
        ignore_sync_execution: bool = False,
        match_window_name: bool = True,
    ) -> None:
        if log_file is None:
            raise ValueError("log_file is required: it is the log to replay")
        self.approx_instant_energy = approx_instant_energy
        self.sync_with = "torch"
        self.log_file = LogPath(log_file)
        self.soc_is_present = False
        self.power_monitor = None
        self.ignore_sync_execution = ignore_sync_execution
        self.match_window_name = match_window_name
        self._lines = open(log_file, encoding="utf-8", newline="")
        self._rows = csv.reader(self._lines)
        header = next(self._rows, [])
        found = [int(match[1]) for match in map(_COLUMN.fullmatch, header) if match]
        self._gpu_indices = found if gpu_indices is None else list(gpu_indices)
        self.nvml_gpu_indices = self._gpu_indices
        self._cpu_indices = []
        self.ongoing_windows: list[Key] = []

    def _wait(self, sync_execution: bool) -> None:
        if sync_execution and not self.ignore_sync_execution and self._gpu_indices:
            synchronize_with_framework(self._gpu_indices, self.sync_with)

    @property
    def measurement_states(self) -> dict[Key, MeasurementState]:
        """The open windows, by name; their beginnings are unknown."""
        return {key: MeasurementState(0.0, dict.fromkeys(self._gpu_indices, 0.0)) for key in self.ongoing_windows}

    def begin_window(self, key: Key, sync_execution: bool = True, restart: bool = False) -> None:
        if key in self.ongoing_windows:
            if not restart:
                raise RuntimeError(f"the window {key!r} is already ongoing")
            self.ongoing_windows.remove(key)
        self._wait(sync_execution)
        self.ongoing_windows.append(key)

    def end_window(self, key: Key, sync_execution: bool = True, cancel: bool = False) -> Measurement:
        if key not in self.ongoing_windows:
            raise RuntimeError(f"the window {key!r} is not ongoing")
        self.ongoing_windows.remove(key)
        self._wait(sync_execution)
        if cancel:
            return Measurement(0.0, dict.fromkeys(self._gpu_indices, 0.0))
        row = next(self._rows, None)
        if row is None:
            raise RuntimeError(f"{self.log_file} has no more lines")
        if len(row) != 3 + max(1, len(self._gpu_indices)):
            raise RuntimeError(f"a line of {self.log_file} has {len(row)} columns for {len(self._gpu_indices)} GPUs")
        if self.match_window_name and row[1] != str(key):
            raise RuntimeError(f"the window {key!r} ended, but {self.log_file} has {row[1]!r} next")
        energies = dict(zip(self._gpu_indices, (float(cell or "nan") for cell in row[3:])))
        return Measurement(float(row[2]), energies)

    def so_far(self, key: Key) -> Measurement:
        raise RuntimeError(f"the log has the window {key!r} only as it ended: a replay has no estimate of an open one")

    def reset_windows(self) -> None:
        self.ongoing_windows.clear()

    def settle(self, measurement: Measurement, patience: float = 2.0) -> Measurement:
        return measurement
