"""Callbacks for Lightning's Trainer (`lightning`, or `pytorch_lightning` if only that is installed).

    trainer = Trainer(callbacks=[LightningGlobalPowerLimitOptimizer(ZeusMonitor()), EnergyLogger(ZeusMonitor())])
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Callable

from zeus_cpp.integrations._energy_log import EnergyLog, Trackers, Values
from zeus_cpp.monitor import Measurement, ZeusMonitor
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
    """Logs what a training takes: at the end of each epoch and every `log_every_n_steps` steps, to all loggers of the trainer.

    Rank 0 logs the GPUs of its monitor. `train_energy` (in J) and `train_time` (in s) of each epoch are also the module's, for
    progress bars and checkpoints. `docs/python_training.md` lists the names.
    """

    WINDOW = EnergyLog.EPOCH

    def __init__(self, monitor: ZeusMonitor) -> None:
        super().__init__()
        self.monitor = monitor
        self._log = EnergyLog(monitor)
        self._trackers = Trackers()
        self._last_step = 0

    def add(self, measurement: Measurement) -> None:
        """Adds a window of the program's own to the next entry: `monitor.window("forward", on_measurement=logger.add)`."""
        self._log.add(measurement)

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        self._log.begin_training()
        self._last_step = trainer.global_step

    def on_train_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        self._log.begin_epoch()

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        if trainer.global_step == self._last_step:  # gradients are only accumulated
            return
        self._last_step = trainer.global_step
        if trainer.log_every_n_steps and trainer.global_step % trainer.log_every_n_steps == 0:
            self._write(trainer, {})

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        epoch = self._log.end_epoch()
        # The loggers get it below: one of them that raises would end the training here.
        pl_module.log_dict({"train_energy": epoch.get("train_energy", math.nan), "train_time": epoch["train_time"]}, logger=False)
        self._write(trainer, epoch)

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        self._log.end_training()

    def _write(self, trainer: Any, values: Values) -> None:
        if not trainer.is_global_zero:
            return
        entry = {**values, **self._log.so_far(trainer.callbacks), "epoch": trainer.current_epoch}

        def give(tracker: Any) -> None:
            tracker.log_metrics(dict(entry), step=trainer.global_step)
            tracker.save()

        for tracker in trainer.loggers:
            self._trackers.give(tracker, give)
