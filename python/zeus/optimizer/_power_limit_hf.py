"""The power limit optimizer as a callback of Hugging Face's trainers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from zeus.monitor import ZeusMonitor
from zeus.optimizer.power_limit import GlobalPowerLimitOptimizer, OptimumSelector

if TYPE_CHECKING:
    from transformers import TrainerCallback
else:
    try:
        from transformers.trainer_callback import TrainerCallback
    except ImportError:
        TrainerCallback = object


class HFGlobalPowerLimitOptimizer(TrainerCallback):
    """GlobalPowerLimitOptimizer as a callback of Hugging Face's Trainer and of TRL's SFTTrainer."""

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
        if TrainerCallback is object:
            raise ImportError("HFGlobalPowerLimitOptimizer is a callback of transformers, which is not installed")
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

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.optimizer.on_train_begin()

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.optimizer.on_train_end()

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.optimizer.on_epoch_begin()

    def on_epoch_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.optimizer.on_epoch_end()

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.optimizer.on_step_begin()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.optimizer.on_step_end()
