"""The settings of a ZeusDataLoader, from its arguments and its environment."""

from __future__ import annotations

import math
import os
from pathlib import Path

from zeus_cpp.utils.env import get_env


class Settings:
    """Checked values; an invalid one is a ValueError that names the argument or the variable."""

    def __init__(self, max_epochs: int, target: float | None, higher_is_better: bool | None) -> None:
        self.max_epochs = max_epochs
        if target is None and not os.environ.get("ZEUS_TARGET_METRIC"):
            raise ValueError("no target: give target_metric, or set ZEUS_TARGET_METRIC")
        self.target = float(target) if target is not None else get_env("ZEUS_TARGET_METRIC", float)
        if math.isnan(self.target):
            raise ValueError("the target metric is not a number")
        if higher_is_better is None and os.environ.get("ZEUS_HIGHER_IS_BETTER"):
            higher_is_better = get_env("ZEUS_HIGHER_IS_BETTER", bool)
        self.higher_is_better = higher_is_better
        self.folder = Path(get_env("ZEUS_LOG_DIR", str, "zeus_log"))
        self.job_id = get_env("ZEUS_JOB_ID", str, "zeus")
        self.cost_limit = get_env("ZEUS_COST_THRESH", float, math.inf)
        self.eta = get_env("ZEUS_ETA_KNOB", float, 0.5)
        self.settle, self.measure = _two_counts("ZEUS_PROFILE_PARAMS", get_env("ZEUS_PROFILE_PARAMS", str, "10,40"))
        self.apply = get_env("ZEUS_USE_OPTIMAL_PL", bool, True)


def _two_counts(name: str, value: str) -> tuple[int, int]:
    try:
        settle, measure = (int(part) for part in value.split(","))
    except ValueError:
        raise ValueError(f"{name} must be two numbers of steps, as in 10,40, not {value!r}") from None
    if settle < 0 or measure < 1:
        raise ValueError(f"{name} must settle for 0 steps or more and measure 1 or more, not {value!r}")
    return settle, measure
