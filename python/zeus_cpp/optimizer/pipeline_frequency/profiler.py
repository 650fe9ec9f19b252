"""Profiles and plans for pipelines whose loop is the caller's own; zeus.integrations.pipelining does all of it by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from zeus_cpp import _native

# Stage, instruction, MHz, seconds, half-width of their 95 % interval, joules, half-width.
Row = tuple[int, str, float, float, float, float, float]


class PipelineProfiler:
    """Measures what each instruction of this rank's stages takes at each clock, alone and back to back, before training.

        profiler = PipelineProfiler(device_id)
        profiler.measure(stage, "forward", lambda times: run_forwards(times))
        profiler.measure(stage, "backward", lambda times: run_forwards_and_backwards(times), including="forward")
        profiler.close()

    What is measured runs the instruction so many times and waits for the GPU. Clocks are set under a lease, and put back by
    `close` or when the process ends. If the GPU cannot be set or measured, `trouble` says why, and nothing more is measured.
    """

    def __init__(self, device_id: int = 0, window: float = 0.25) -> None:
        """`window`: for how many seconds an instruction is repeated at each clock, at least."""
        self._native = _native.PipelineProfiler(device_id, window)

    def measure_blocking(self, wait: Callable[[], None]) -> float | None:
        """Watts that the GPU draws while `wait` runs, which waits for a neighbour."""
        return self._native.measure_blocking(wait)

    def measure(self, stage: int, instruction: str, work: Callable[[int], None], *, including: str = "") -> None:
        """At clocks in wide steps. `including`: an instruction, measured before, that each run of `work` also runs. What a window
        leaves unknown is measured again in longer ones, with that instruction: `work` may run until `close`."""
        self._native.measure(stage, instruction, work, including)

    def measure_beside(self, stage: int, instruction: str, clock: float, work: Callable[[int], None], *, including: str = "") -> None:
        """At the clocks halfway between this one, in MHz, and the measured ones beside it."""
        self._native.measure_beside(stage, instruction, clock, work, including)

    @property
    def rows(self) -> list[Row]:
        """What was measured, in order."""
        return self._native.rows

    @property
    def trouble(self) -> str:
        """Why nothing more is measured; empty while all is well."""
        return self._native.trouble

    def close(self) -> None:
        """Puts the clocks back to what was found."""
        self._native.close()


def plan_pipeline(
    ranks: Sequence[tuple[Sequence[tuple[str, int, int]], Sequence[Row]]],
    blocking_power: float,
    *,
    copies: int = 1,
    max_slowdown: float = 1.0,
) -> dict[str, Any]:
    """The plan of least energy for an iteration: `frequencies` has a list of (instruction, MHz) for each rank, `time_s` and
    `energy_j` are what it claims, `fastest_time_s` and `fastest_energy_j` the same at each instruction's fastest clock. As JSON
    in a file, it is what PipelineFrequencyOptimizer(plan=...) follows.

    Each rank gives what it runs in an iteration, in order, as (instruction, stage, micro-batch), and its profiler's rows.
    """
    return _native.plan_pipeline(ranks, blocking_power, copies, max_slowdown)
