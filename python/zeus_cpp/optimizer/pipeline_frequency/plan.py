"""Frequency plans from files: the output of `zeus pipeline --json`, one plan of it, or what other tools write for the server."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

from zeus_cpp.optimizer._record import Record, ValidationError, name, number, pair, required, several, whole

Instructions = list[tuple[str, int]]


# A literal takes a hundred times its size in memory while it is read; a plan of 16 stages and 512 micro-batches has 400 kB.
_LONGEST_LITERAL = 4_000_000
_by_place = several(several(pair(name, whole(least=0))))


class PipelinePlan(Record):
    """One iteration: its time and energy, and for each pipeline rank its instructions in order, with their clocks in MHz."""

    time_s: float = required(number(above=0))
    energy_j: float = required(number(above=0))
    frequencies: list[Instructions] = required(_by_place)


def instructions_from(path: str | Path, iteration_time: float | None, rank: int, stage: int, world_size: int) -> Instructions:
    """What `rank` runs, which is in pipeline rank `stage`. A `.py` file has one list for each rank or for each stage."""
    if not str(path).endswith(".py"):
        return instructions_of(read_plan(path, iteration_time).frequencies, stage, path)
    rows = _read_literal(path)
    return instructions_of(rows, rank if len(rows) == world_size else stage, path)


def _read_literal(path: str | Path) -> list[Instructions]:
    """A list of lists of (instruction, MHz), as a Python expression: `freqs_pipeline_*.py`. Nothing in it is executed."""
    try:
        text = Path(path).read_text(encoding="utf-8")
        if len(text) > _LONGEST_LITERAL:
            raise ValueError(f"it is longer than {_LONGEST_LITERAL} characters")
        return list(_by_place(ast.literal_eval(text)))
    except (OSError, ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise ValueError(f"{path} is not a list of lists of (instruction, MHz), written as a literal: {reason}") from error


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


def instructions_of(rows: list[Instructions], stage: int, path: Any) -> Instructions:
    """The instructions of pipeline rank `stage`."""
    if stage >= len(rows):
        raise ValueError(f"{path} has plans for {len(rows)} pipeline ranks, and none for rank {stage}")
    if not rows[stage]:
        raise ValueError(f"{path} plans nothing for pipeline rank {stage}")
    return rows[stage]
