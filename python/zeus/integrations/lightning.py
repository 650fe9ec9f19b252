"""Callbacks for Lightning's Trainer (`lightning`, or `pytorch_lightning` where only that is installed).

    trainer = Trainer(callbacks=[LightningGlobalPowerLimitOptimizer(ZeusMonitor()), EnergyLogger(ZeusMonitor())])
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from zeus.monitor import ZeusMonitor
from zeus.optimizer.power_limit import GlobalPowerLimitOptimizer, OptimumSelector

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

    def __init__(
        self,
        monitor: ZeusMonitor,
        optimum_selector: OptimumSelector | None = None,
        wait_steps: int = 1,
        warmup_steps: int = 10,
        profile_steps: int = 40,
        pl_step: int = 25,
        profile_path: str | Path | None = None,
        *,
        adaptive: bool = False,
        clocks: bool = False,
        observe: bool = False,
    ) -> None:
        super().__init__()
        self.optimizer = GlobalPowerLimitOptimizer(
            monitor=monitor,
            optimum_selector=optimum_selector,
            wait_steps=wait_steps,
            warmup_steps=warmup_steps,
            profile_steps=profile_steps,
            pl_step=pl_step,
            profile_path=profile_path,
            adaptive=adaptive,
            clocks=clocks,
            observe=observe,
        )

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
