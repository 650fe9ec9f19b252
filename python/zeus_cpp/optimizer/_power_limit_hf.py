"""The power limit optimizer as a callback of Hugging Face's trainers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

from zeus_cpp.optimizer._parameters import with_parameters_of
from zeus_cpp.optimizer.power_limit import GlobalPowerLimitOptimizer

if TYPE_CHECKING:
    from transformers import TrainerCallback as TrainerCallback

    transformers_available: bool
else:
    try:
        from transformers.trainer_callback import TrainerCallback

        transformers_available = True
    except ImportError:
        TrainerCallback = object
        transformers_available = False


class HFGlobalPowerLimitOptimizer(TrainerCallback):
    """GlobalPowerLimitOptimizer as a callback of Hugging Face's Trainer and of TRL's SFTTrainer."""

    @with_parameters_of(GlobalPowerLimitOptimizer)
    def __init__(self, make: Callable[[], GlobalPowerLimitOptimizer]) -> None:
        if not transformers_available:
            raise ImportError("HFGlobalPowerLimitOptimizer is a callback of transformers, which is not installed")
        self.optimizer = make()

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
