"""Frequency plans from files: the output of `zeus pipeline --json`, or one plan of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from zeus_cpp.optimizer._record import Record, ValidationError, name, number, pair, required, several, whole

Instructions = list[tuple[str, int]]


class PipelinePlan(Record):
    """One iteration: its time and energy, and for each pipeline rank its instructions in order, with their clocks in MHz."""

    time_s: float = required(number(above=0))
    energy_j: float = required(number(above=0))
    frequencies: list[Instructions] = required(several(several(pair(name, whole(least=0)))))


def read_plan(path: str | Path, iteration_time: float | None = None) -> PipelinePlan:
    """The plan in the file; of several, the one with the least energy within `iteration_time` seconds."""
    try:
        values = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"no plan can be read from {path}: {error}") from error
    found = values.get("plans", [values]) if isinstance(values, dict) else values
    try:
        plans = [PipelinePlan.parse_obj(each) for each in found]
    except (TypeError, ValidationError) as error:
        raise ValueError(f"{path} contains no plan of `zeus pipeline --json`: {error}") from error
    if len(plans) == 1 and iteration_time is None:
        return plans[0]
    times = ", ".join(f"{plan.time_s:g}" for plan in plans) or "none"
    if iteration_time is None:
        raise ValueError(f"{path} contains {len(plans)} plans (seconds: {times}): choose one with iteration_time")
    fitting = [plan for plan in plans if plan.time_s <= iteration_time * (1 + 1e-9)]
    if not fitting:
        raise ValueError(f"{path} contains no plan of {iteration_time:g} s or less (seconds: {times})")
    return min(fitting, key=lambda plan: plan.energy_j)


def instructions_of(plan: PipelinePlan, stage: int, path: Any) -> Instructions:
    """The instructions of pipeline rank `stage`."""
    if stage >= len(plan.frequencies):
        raise ValueError(f"{path} plans for {len(plan.frequencies)} pipeline ranks, but none of them is {stage}")
    if not plan.frequencies[stage]:
        raise ValueError(f"{path} plans nothing for pipeline rank {stage}")
    return plan.frequencies[stage]
