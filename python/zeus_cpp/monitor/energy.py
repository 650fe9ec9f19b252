"""Windows of time, and the energy that GPUs, CPU packages and memory used in them."""

from __future__ import annotations

import functools
import inspect
import math
import os
import time
import warnings
from collections.abc import Sequence
from contextlib import ContextDecorator, suppress
from dataclasses import dataclass
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, NoReturn, TypeVar

from zeus_cpp import _native
from zeus_cpp._logger import logger_of
from zeus_cpp.exception import ZeusAlreadyExistsError, ZeusBaseGPUError, ZeusFileError, ZeusNotFoundError
from zeus_cpp.monitor.measurement import Measurement, measurement_of, native_window
from zeus_cpp.utils.framework import sync_execution as synchronize_with_framework

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Literal

    from zeus_cpp.device.cpu.common import CPUs
    from zeus_cpp.device.gpu.common import GPUs
    from zeus_cpp.device.soc.common import SoC

__all__ = ["Measurement", "MeasurementState", "Window", "ZeusMonitor"]

logger = logger_of(__name__)

# In a window this short (s), no counter may have moved.
_SHORTER_THAN_COUNTERS = 0.1

# A window's name is any hashable value. It is Any, so that scripts may narrow it: `def begin_window(self, key: str, ...)`.
Key = Any

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass
class MeasurementState:
    """An open window.

    Only its beginning is kept here. The counters' values are in the native library, so the energies are NaN.
    """

    time: float  # seconds since 1970
    gpu_energy: dict[int, float]
    cpu_energy: dict[int, float] | None = None
    dram_energy: dict[int, float] | None = None

    @cached_property
    def total_energy(self) -> float:
        return sum(self.gpu_energy.values())


class _OpenWindows(dict[Key, MeasurementState]):
    """The open windows, by name. Removing one drops it; adding one opens none."""

    def __init__(self, native: _native.Monitor) -> None:
        self._native = native
        self.names: dict[Key, str] = {}  # of each open window, in the native library and the log

    def name_for(self, key: Key) -> str:
        """The name of that window in the native library and the log, open or not."""
        if key in self.names:
            return self.names[key]
        name = key if type(key) is str else str(key)
        while name in self.names.values():  # 3 and "3" are two windows
            name += "'"
        return name

    def closed(self, key: Key) -> None:
        self.names.pop(key, None)
        dict.pop(self, key, None)

    def __delitem__(self, key: Key) -> None:
        super().__delitem__(key)
        name = self.names.pop(key, None)
        if name is not None:  # otherwise it was added here, and opened no window
            with suppress(ZeusNotFoundError):  # opened by the process that this one was forked from
                self._native.cancel(name)

    def pop(self, key: Key, *default: Any) -> Any:
        if key not in self:
            return super().pop(key, *default)
        state = self[key]
        del self[key]
        return state

    def popitem(self) -> tuple[Key, MeasurementState]:
        if not self:
            raise KeyError("no window is open")
        key = next(reversed(self))
        return key, self.pop(key)

    def clear(self) -> None:
        for key in list(self):
            self.pop(key, None)


class Window(ContextDecorator):
    """A window that lasts as long as a `with` block, or as each call of a function that it decorates.

    Afterwards `measurement` is the latest measurement. A block that raises cancels its window.
    """

    def __init__(self, monitor: ZeusMonitor, key: Key, sync_execution: bool,
                 on_measurement: Callable[[Measurement], object] | None) -> None:
        self.key = key
        self.measurement: Measurement | None = None
        self._monitor = monitor
        self._sync_execution = sync_execution
        self._on_measurement = on_measurement

    def __enter__(self) -> Window:
        self._monitor.begin_window(self.key, sync_execution=self._sync_execution)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        if kind is not None:
            with suppress(ZeusNotFoundError):  # dropped within the block, which raises something else
                self._monitor.end_window(self.key, sync_execution=False, cancel=True)
            return
        self.measurement = self._monitor.end_window(self.key, sync_execution=self._sync_execution)
        if self._on_measurement is not None:
            self._on_measurement(self.measurement)

    def __call__(self, function: Function) -> Function:
        if not inspect.iscoroutinefunction(function):
            return super().__call__(function)

        @functools.wraps(function)
        async def measured(*args: Any, **kwargs: Any) -> Any:
            with self:
                return await function(*args, **kwargs)

        return measured  # type: ignore[return-value]


def _check_writable(path: str | Path) -> None:
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "a", encoding="utf-8"):
            pass
    except (OSError, ValueError) as error:  # a path with a null character is a ValueError
        raise ZeusFileError(f"cannot write the log {path}: {getattr(error, 'strerror', None) or error}") from None


def _no_window(key: Key) -> ZeusNotFoundError:
    return ZeusNotFoundError(f"a measurement window {key!r} does not exist; begin it first, and check the exact name")


class LogPath(str):
    """The path of a log. Scripts of the existing package flush and close what is an open file there; here, each line is written
    when its window ends."""

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass


class ZeusMonitor:
    """Measures the time and energy of windows: named parts of a program's run, which may nest and overlap in any way.

    Every method may be called from any thread. A window that was open when the process forked is unknown in the child;
    new windows work there. GPUs are numbered as the program sees them, N of `cuda:N`.

    Args:
        gpu_indices: GPUs to measure; None: all that can be seen; empty: none.
        cpu_indices: CPU packages to measure, likewise.
        approx_instant_energy: Whether an energy of exactly 0 J, or one that is unknown because the window was too short,
            is replaced by the present power times the window's time.
        log_file: A CSV file that gets one line for each window.
        sync_execution_with: The framework to wait for at the edges of windows.
        complete_log_file: The same as `log_file` with uncertainty, method, throttling, CPUs and memory.
    """

    def __init__(
        self,
        gpu_indices: Sequence[int] | None = None,
        cpu_indices: Sequence[int] | None = None,
        approx_instant_energy: bool = False,
        log_file: str | Path | None = None,
        sync_execution_with: Literal["torch", "jax", "cupy"] = "torch",
        *,
        complete_log_file: str | Path | None = None,
    ) -> None:
        self.approx_instant_energy = approx_instant_energy
        self.sync_with = sync_execution_with
        self.log_file = None if log_file is None else LogPath(log_file)
        self.soc_is_present = False
        self.power_monitor = None
        for path in (log_file, complete_log_file):
            if path is not None:
                _check_writable(path)
        self._native = _native.Monitor(
            None if gpu_indices is None else list(gpu_indices),
            None if cpu_indices is None else list(cpu_indices),
            "" if log_file is None else str(log_file),
            "" if complete_log_file is None else str(complete_log_file),
        )
        self._gpu_indices = self._native.gpus()
        if gpu_indices is None and not self._gpu_indices:
            _ = self.gpus  # an error if the requested GPUs are not there and nothing would be measured
            warnings.warn("there is no GPU to measure: windows have no energy of GPUs, and their total_energy is 0", stacklevel=2)
        self._cpu_indices = self._native.cpus()
        logger.info("measuring GPUs %s and CPU packages %s", self._gpu_indices, self._cpu_indices)
        if log_file is not None:
            logger.info("each window becomes a line of %s", log_file)
        self._open = _OpenWindows(self._native)

    @property
    def gpu_indices(self) -> list[int]:
        """The GPUs that are measured."""
        return self._gpu_indices

    @gpu_indices.setter
    def gpu_indices(self, indices: Sequence[int]) -> NoReturn:
        raise AttributeError(f"the GPUs of a monitor are fixed: make another one, ZeusMonitor(gpu_indices={list(indices)})")

    @property
    def cpu_indices(self) -> list[int]:
        """The CPU packages that are measured."""
        return self._cpu_indices

    @property
    def gpus(self) -> GPUs:
        """All GPUs that this program sees."""
        from zeus_cpp.device.gpu import EmptyGPUs, ZeusGPUInitError, get_gpus

        try:
            return get_gpus()
        except ZeusGPUInitError:
            return EmptyGPUs()

    @property
    def cpus(self) -> CPUs:
        """All CPU packages of this machine whose energy can be read."""
        from zeus_cpp.device.cpu import EmptyCPUs, ZeusCPUInitError, ZeusCPUNoPermissionError, get_cpus

        try:
            return get_cpus()
        except (ZeusCPUInitError, ZeusCPUNoPermissionError):
            return EmptyCPUs()

    @property
    def soc(self) -> SoC:
        """No system on a chip is measured."""
        from zeus_cpp.device.soc import EmptySoC

        return EmptySoC()

    @property
    def measurement_states(self) -> dict[Key, MeasurementState]:
        """The open windows, by name; removing one drops it."""
        return self._open

    def _synchronize(self) -> None:
        synchronize_with_framework(self._gpu_indices, self.sync_with)

    def begin_window(self, key: Key, sync_execution: bool = True, restart: bool = False) -> None:
        """Opens a window.

        Args:
            key: Its name, which the log has as a string.
            sync_execution: Whether to wait first until the GPUs have done the framework's work.
            restart: Whether an open window with this name is dropped; otherwise it is a ValueError.
        """
        name = self._open.name_for(key)
        try:
            self._native.begin(name, restart, self._synchronize if sync_execution and self._gpu_indices else None)
        except ZeusAlreadyExistsError:
            raise ZeusAlreadyExistsError(
                f"a measurement window {key!r} already exists; end it first, pass restart=True, or choose another name"
            ) from None
        if restart and key in self._open:
            logger.info("window %r is restarted", key)
        logger.debug("window %r began", key)
        cpus = dict.fromkeys(self._cpu_indices, math.nan) if self._cpu_indices else None
        self._open.names[key] = name
        self._open[key] = MeasurementState(time.time(), dict.fromkeys(self._gpu_indices, math.nan), cpus)

    def end_window(self, key: Key, sync_execution: bool = True, cancel: bool = False) -> Measurement:
        """Closes a window and returns its measurement, as good as it can be at once (see `settle`).

        If waiting for the GPUs fails or is interrupted, the window is dropped.

        Args:
            key: Its name; a ValueError if no such window is open.
            sync_execution: As for `begin_window`.
            cancel: Whether to measure and log nothing; the measurement is then all zeros.
        """
        synchronize = self._synchronize if sync_execution and self._gpu_indices else None
        name = self._open.name_for(key)
        try:
            if cancel:
                if synchronize is not None:
                    synchronize()
                self._native.cancel(name)
                self._open.closed(key)
                logger.debug("window %r was cancelled", key)
                return Measurement(0.0, dict.fromkeys(self._gpu_indices, 0.0), dict.fromkeys(self._cpu_indices, 0.0))
            window = self._native.end(name, synchronize)
        except ZeusNotFoundError:
            raise _no_window(key) from None
        except BaseException:
            self._open.pop(key, None)
            raise
        self._open.closed(key)
        logger.debug("window %r ended", key)
        measurement = measurement_of(window, self._gpu_indices)
        for energy in measurement.gpu_energy.values():
            if not energy > 0.0:
                self._look_at_missing(measurement, key)
                break
        return measurement

    def _look_at_missing(self, measurement: Measurement, key: Key) -> None:
        """Some GPU's energy is 0 or unknown."""
        for gpu, energy in measurement.gpu_energy.items():
            if energy > 0.0:
                continue
            if self.approx_instant_energy and (energy == 0.0 or measurement.time < _SHORTER_THAN_COUNTERS):
                with suppress(ZeusBaseGPUError):  # a GPU that is lost stays unknown
                    power = self.gpus.get_instant_power_usage(gpu) / 1000.0
                    measurement.gpu_energy[gpu] = power * measurement.time
                    continue
            if math.isnan(energy):
                reason = measurement.details.gpu[gpu].reason if measurement.details else ""
                warnings.warn(f"the energy of {self.gpus.gpus[gpu]} in window {key!r} is unknown: {reason}", stacklevel=3)
            else:
                warnings.warn(
                    f"the energy of {self.gpus.gpus[gpu]} in window {key!r} was measured as zero, which happens to very short "
                    "windows: measure a longer one, or pass approx_instant_energy=True to ZeusMonitor",
                    stacklevel=3,
                )

    def so_far(self, key: Key) -> Measurement:
        """The measurement of an open window from its beginning to now, as good as it can be at once (see `settle`).

        The window goes on. Nothing is logged, and the framework is not waited for: work that the GPUs have not done yet is not
        in it. An unknown energy is NaN without a warning; `details` has the reason.
        """
        try:
            return measurement_of(self._native.so_far(self._open.name_for(key)), self._gpu_indices)
        except ZeusNotFoundError:
            raise _no_window(key) from None

    def reset_windows(self) -> None:
        """Drops all open windows."""
        logger.info("dropping the open windows %s", list(self._open))
        self._open.clear()
        self._native.reset()

    def settle(self, measurement: Measurement, patience: float = 2.0) -> Measurement:
        """The best possible measurement, after waiting for at most two updates of the GPUs' counters.

        The result of `end_window` and `so_far` predicts the time since the last update. A measurement of another process or of another
        monitor is returned unchanged.
        """
        window = native_window(measurement)
        return measurement if window is None else measurement_of(
            self._native.settle(window, patience), measurement.gpu_energy)

    def window(self, key: Key, sync_execution: bool = True,
               on_measurement: Callable[[Measurement], object] | None = None) -> Window:
        """A window as a context manager or as a decorator.

            with monitor.window("epoch") as epoch:
                train()
            print(epoch.measurement)

            @monitor.window("step", on_measurement=print)
            def step(): ...
        """
        return Window(self, key, sync_execution, on_measurement)
