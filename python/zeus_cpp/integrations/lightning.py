"""Callbacks for Lightning's Trainer (`lightning`, or `pytorch_lightning` if only that is installed).

    trainer = Trainer(callbacks=[LightningGlobalPowerLimitOptimizer(ZeusMonitor()), EnergyLogger(ZeusMonitor())])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

from zeus_cpp.monitor import ZeusMonitor
from zeus_cpp.optimizer._parameters import with_parameters_of
from zeus_cpp.optimizer.power_limit import GlobalPowerLimitOptimizer

if TYPE_CHECKING:
    from lightning.pytorch import Callback
else:
    try:
        from lightning.pytorch import Callback
    except ImportError:
        try:
            from pytorch_lightning import Callback
        except ImportError as error:
            raise ImportError("zeus.integrations.lightning needs lightning: `pip install lightning`") from error

__all__ = ["EnergyLogger", "LightningGlobalPowerLimitOptimizer"]


class LightningGlobalPowerLimitOptimizer(Callback):
    """zeus.optimizer.power_limit.GlobalPowerLimitOptimizer; a step is one batch."""

    @with_parameters_of(GlobalPowerLimitOptimizer)
    def __init__(self, make: Callable[[], GlobalPowerLimitOptimizer]) -> None:
        super().__init__()
        self.optimizer = make()

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        self.optimizer.on_train_begin()

    def on_train_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        self.optimizer.on_epoch_begin()

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        self.optimizer.on_step_begin()

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        self.optimizer.on_step_end()

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        self.optimizer.on_epoch_end()

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        self.optimizer.on_train_end()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self.optimizer.on_train_end()


class EnergyLogger(Callback):
    """Logs the energy in joules and the time in seconds of each training epoch, as `train_energy` and `train_time`."""

    WINDOW = "zeus.lightning.epoch"

    def __init__(self, monitor: ZeusMonitor) -> None:
        super().__init__()
        self.monitor = monitor

    def on_train_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        self.monitor.begin_window(self.WINDOW, restart=True)

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        measurement = self.monitor.end_window(self.WINDOW)
        pl_module.log_dict({"train_energy": float(measurement.total_energy), "train_time": measurement.time})
