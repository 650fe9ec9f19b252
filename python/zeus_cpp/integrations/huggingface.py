"""A callback for Hugging Face's Trainer and TRL's trainers that makes energies part of their logs.

    trainer = Trainer(model, args, train_dataset=data)
    trainer.add_callback(EnergyLogger(ZeusMonitor(), trainer))
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from zeus_cpp.integrations._energy_log import EnergyLog, Trackers, Values
from zeus_cpp.monitor import Measurement, ZeusMonitor

if TYPE_CHECKING:
    from transformers import TrainerCallback
else:
    try:
        from transformers.trainer_callback import TrainerCallback
    except ImportError as error:
        raise ImportError("zeus.integrations.huggingface needs transformers: `pip install transformers`") from error

__all__ = ["EnergyLogger"]


class EnergyLogger(TrainerCallback):
    """Logs what a training takes wherever the trainer logs: its history and all that it reports to.

    With each entry of the trainer's own, and at the end of each epoch, one more entry follows. Rank 0 logs the GPUs of its
    monitor; the other ranks do nothing. `docs/python_training.md` lists the names.
    """

    def __init__(self, monitor: ZeusMonitor, trainer: Any) -> None:
        self.monitor = monitor
        self._trainer = trainer
        self._log = EnergyLog(monitor)
        self._trackers = Trackers()

    def add(self, measurement: Measurement) -> None:
        """Adds a window of the program's own to the next entry: `monitor.window("forward", on_measurement=logger.add)`."""
        self._log.add(measurement)

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.is_world_process_zero:
            self._log.begin_training()

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.is_world_process_zero:
            self._log.begin_epoch()

    def on_epoch_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.is_world_process_zero:
            self._write({**self._log.end_epoch(), **self._so_far()}, args, state, control, kwargs)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
        if state.is_world_process_zero:
            self._write(self._so_far(), args, state, control, kwargs)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.is_world_process_zero:
            self._log.end_training()

    def _so_far(self) -> Values:
        return self._log.so_far(self._trainer.callback_handler.callbacks)

    def _write(self, values: Values, args: Any, state: Any, control: Any, others: dict[str, Any]) -> None:
        """Not by the trainer's log(): TRL's adds what it has gathered for its own next entry. `control` is a copy, because a log
        between two of the trainer's must not answer whether it logs."""
        if not values:
            return
        entry = values if state.epoch is None else {**values, "epoch": state.epoch}
        state.log_history.append({**entry, "step": state.global_step})

        def give(callback: Any) -> None:
            callback.on_log(args, state, copy.copy(control), logs=dict(entry), **others)

        for callback in self._trainer.callback_handler.callbacks:
            if callback is not self:
                self._trackers.give(callback, give)
