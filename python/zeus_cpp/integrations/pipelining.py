"""Clocks for the stages of `torch.distributed.pipelining`, so that none computes faster than the slowest one requires.

    schedule = Schedule1F1B(stage, n_microbatches=8, loss_fn=loss)
    frequencies = PipelineFrequencies(schedule, device_id=local_rank)     # the only change
    for batch in data:
        schedule.step(batch)
        optimizer.step()
    frequencies.close()

The first step is observed. After it, each rank measures its instructions alone, with gradients, buffers and generators put back
as they were; the first rank plans, and all follow the plan from then on (docs/pipeline.md). If anything cannot be done on any
rank, all train on without a plan, and one warning of this module's logger names the rank and the reason.
"""

from __future__ import annotations

import atexit
import json
import math
import os
import statistics
import time
import weakref
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

try:
    import torch
    from torch import distributed
except ImportError as missing:
    raise ImportError("zeus.integrations.pipelining needs PyTorch: `pip install torch`") from missing

from zeus_cpp import _native
from zeus_cpp._files import write_whole
from zeus_cpp._logger import logger_of, warn
from zeus_cpp.exception import ZeusBaseError
from zeus_cpp.integrations._pipeline_measured import Event, Measured, Row, measured_iteration
from zeus_cpp.integrations._pipeline_stage import Captured, wait_for
from zeus_cpp.monitor import ZeusMonitor
from zeus_cpp.optimizer._ranks import RankLost, Ranks

logger = logger_of(__name__)

__all__ = ["PipelineFrequencies"]

_ROUNDS = 2  # of measuring: in wide steps, then beside the clocks of a first plan
_MOST_CLOCKS_REFINED = 3  # of a stage: those that a first plan uses most
_PROGRESS = "instructions"  # that ranks have run alone; each of them counts some
_STEPS_TO_LEARN = 4  # in which PipelineClocks learns when to ask for a faster clock


class _Trouble(Exception):
    """Why this rank cannot take part in a plan."""


class PipelineFrequencies:
    """Measures, plans and follows. One for each rank, made by all ranks of the pipeline, before the first `schedule.step`.

    `max_slowdown`: how long an iteration may take, relative to the fastest one. `measure`: also measure so many iterations
    without the plan, before it is made, and as many under it. `record`: the folder into which the pipeline's first rank writes
    profile.csv and plan.json, and with `measure` before.json and after.json, for `zeus pipeline --measured`. `window`: for how
    many seconds an instruction is repeated at each clock. `patience`: how many seconds to wait for the other ranks at each
    exchange, from when the last of them has run an instruction; as long as this rank has profiled, if that is longer.
    """

    def __init__(
        self,
        schedule: Any,
        device_id: int,
        *,
        max_slowdown: float = 1.0,
        measure: int = 0,
        record: str | Path | None = None,
        window: float = 0.25,
        patience: float = 20.0,
    ) -> None:
        if measure < 0 or not 1.0 <= max_slowdown < math.inf or not 0 < window < math.inf or not 0 < patience < math.inf:
            raise ValueError(f"{measure=}, {max_slowdown=}, {window=} and {patience=} are not all possible")
        self.device_id = device_id
        self.plan: dict[str, Any] | None = None  # of all ranks, once it is made
        self.rows: list[Row] = []  # what this rank has measured
        self.blocking_power: float | None = None
        self.trouble = ""  # why no plan is followed; empty while all is well
        self.summary = ""  # what the plan claims and what it cost, on the pipeline's first rank
        self._schedule = schedule
        self._stages = list(getattr(schedule, "_stages", None) or [schedule._stage])
        self._group = self._stages[0].group
        self._members = distributed.get_process_group_ranks(self._group or distributed.group.WORLD)
        self._place = self._members.index(distributed.get_rank())
        self._ranks = Ranks(f"pipelining/{self._members[0]}")
        self._patience = patience
        self._window = window
        self._shown = -math.inf  # when other ranks were last shown that this one profiles
        self._max_slowdown = max_slowdown
        self._measure = measure
        self._record = None if record is None else Path(record)
        self._clocks: Any = None
        self._following = False
        self._followed = 0  # steps under the plan, since it is followed
        self._captured: dict[int, Captured] = {}
        self._split = False
        self._step = 0
        self._in_step = False
        self._events: list[Event] = []
        self._obstacle = ""  # why this rank cannot measure
        self._monitor: ZeusMonitor | None = None
        try:
            self._monitor = ZeusMonitor(gpu_indices=[device_id])
        except ZeusBaseError as error:  # the other ranks wait for this one, which has to tell them
            self._obstacle = str(error)
        self._measured = Measured(device_id, self._monitor) if measure else None
        self._to_epoch = time.time() - time.monotonic()
        self._restore: list[Callable[[], None]] = []
        self._wrap()
        reference = weakref.ref(self)
        atexit.register(lambda: getattr(reference(), "close", lambda: None)())

    # What the training calls.

    def close(self) -> None:
        """Puts the clocks back to what was found, and leaves the schedule as it was."""
        self._stop_following()
        for undo in reversed(self._restore):
            undo()
        self._restore.clear()
        for captured in self._captured.values():
            captured.drop()

    def follow(self) -> None:
        """Follows the plan, as it does by itself once the plan is made; or again after `pause`."""
        if self.plan is None or self._following:
            return
        mine = self.plan["frequencies"][self._place]
        self._clocks = _native.PipelineClocks([tuple(pair) for pair in mine], self.device_id, None)
        self._following = True
        self._followed = 0
        self._look_at_clocks()

    def pause(self) -> None:
        """Leaves the clocks to the driver until `follow` is called, between two steps."""
        self._stop_following()

    @property
    def latency(self) -> float | None:
        """Seconds from requesting a clock to having it: the longest recent measurement."""
        return None if self._clocks is None else self._clocks.latency

    # Wrapping.

    def _replace(self, owner: Any, name: str, wrapper: Callable[..., Any]) -> None:
        had = vars(owner).get(name)
        setattr(owner, name, wrapper)
        self._restore.append(lambda: setattr(owner, name, had) if had is not None else delattr(owner, name))

    def _wrap(self) -> None:
        self._replace(self._schedule, "step", self._wrapped_step(self._schedule.step))
        for stage in self._stages:
            captured = self._captured[stage.stage_index] = Captured(stage, self._schedule, lambda: self._in_step)
            self._replace(stage, "forward_one_chunk", self._wrapped("forward", stage, stage.forward_one_chunk))
            self._replace(stage, "backward_one_chunk", self._wrapped("backward", stage, stage.backward_one_chunk))
            weight = stage.backward_weight_one_chunk
            self._replace(stage, "backward_weight_one_chunk", self._wrapped("backward_weight", stage, weight))
            captured.listen()

    def _wrapped(self, instruction: str, stage: Any, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(chunk: int, *args: Any, **kwargs: Any) -> Any:
            if not self._in_step:
                return call(chunk, *args, **kwargs)
            if instruction == "backward_weight" or kwargs.get("full_backward") is False:
                self._split = True
            begin = self._begin(instruction)
            done = call(chunk, *args, **kwargs)
            self._end(instruction, stage, chunk, begin)
            return done

        return wrapper

    def _wrapped_step(self, step: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            # schedule.eval() calls the step, which then runs forwards alone. A pipeline without a loss does nothing else.
            if self._schedule._loss_fn is not None and not self._schedule._has_backward:
                return self._run_aside(step, *args, **kwargs)
            self._before_step()
            self._in_step = True
            try:
                done = step(*args, **kwargs)
            finally:
                self._in_step = False
            self._after_step()
            return done

        return wrapper

    def _run_aside(self, step: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """A step that is neither observed, nor measured, nor planned."""
        followed = self._following
        self._stop_following()
        if self._measured is not None:
            self._measured.interrupt()
        try:
            return step(*args, **kwargs)
        finally:
            if followed:
                self.follow()

    def _begin(self, instruction: str) -> float:
        if self._following or self._is_recording():
            wait_for(self.device_id)
        if self._following:
            self._call_clocks("begin", instruction)
        return time.monotonic() + self._to_epoch

    def _end(self, instruction: str, stage: Any, chunk: int, begin: float) -> None:
        if self._is_recording():
            wait_for(self.device_id)
        if self._following:
            self._call_clocks("end", instruction)
        if self._step == 0 or self._is_recording():
            self._events.append((instruction, stage.stage_index, chunk, begin, time.monotonic() + self._to_epoch))

    def _call_clocks(self, what: str, *instruction: str) -> None:
        try:
            getattr(self._clocks, what)(*instruction)
        except ZeusBaseError as error:
            self._stop_following()
            self._warn(f"the plan is not followed any more: {error}")

    # The life of a training: observe, measure, plan, follow, measure.

    def _is_recording(self) -> bool:
        return self._measured is not None and self._measured.running

    def _before_step(self) -> None:
        if self._measured is not None and not self.trouble:
            before = self._measured.runs == 0 and self._step >= 1
            after = self._measured.runs == 1 and self._followed >= _STEPS_TO_LEARN
            if before or after:
                self._measured.begin()
        self._events = []

    def _after_step(self) -> None:
        self._step += 1
        if self._following:
            self._followed += 1
            self._call_clocks("end_iteration")
            self._look_at_clocks()
        if self._is_recording():
            assert self._measured is not None
            self._measured.add(self._events)
            if len(self._measured.steps) == self._measure:
                self._end_measuring()
        elif self._step == 1:
            self._steps = [(name, stage, chunk) for name, stage, chunk, _, _ in self._events]
            if self._measure == 0:
                self._make_plan()

    def _end_measuring(self) -> None:
        assert self._measured is not None
        self._measured.end()
        if self._measured.runs == 1:
            self._make_plan()
        elif self.plan is not None:
            self._exchange_measured()

    def _make_plan(self) -> None:
        """All ranks come here after the same step. Nothing that fails here ends the training."""
        begun = self._profiling_since = time.monotonic()
        trouble = ""
        try:
            self.plan = self._profile_and_plan()
        except (_Trouble, ZeusBaseError) as error:
            trouble = f"rank {distributed.get_rank()}: {error}"
        except RankLost as error:
            trouble = str(error)
        for captured in self._captured.values():
            captured.drop()
        if trouble:
            self._warn(f"no plan is followed: {trouble}")
            return
        try:
            self._summarize(time.monotonic() - begun)
        except (OSError, ValueError) as error:
            self._warn(f"the profile is not written: {error}")
        except RankLost as error:
            self._warn(f"what profiling cost is unknown: {error}")
        self.follow()

    def _profile_and_plan(self) -> dict[str, Any]:
        # Ranks that profile wait for one another, so first all know whether one cannot.
        refusal = self._refusal()
        if refusal:
            return self._agree({"trouble": refusal}, "begin")
        profiler = _native.PipelineProfiler(self.device_id, self._window)
        try:
            self._agree({"trouble": profiler.trouble}, "begin")
            return self._profile(profiler)
        finally:
            profiler.close()

    def _profile(self, profiler: Any) -> dict[str, Any]:
        assert self._monitor is not None
        self._monitor.begin_window("zeus.pipelining.profile", sync_execution=False)
        plan: dict[str, Any] = {}
        try:
            failure = ""
            try:
                self._measure_blocking(profiler)
            except RankLost as error:
                failure = str(error)
            for turn in range(_ROUNDS):
                failure = failure or self._measure_instructions(profiler, plan)
                self.rows = profiler.rows
                share = {"trouble": failure or profiler.trouble, "steps": self._steps, "rows": self.rows,
                         "blocking": self.blocking_power}
                plan = self._agree(share, str(turn))
        finally:
            self._profiling_energy = self._monitor.end_window("zeus.pipelining.profile", sync_execution=False).total_energy
        return plan

    def _refusal(self) -> str:
        """Why this rank's instructions cannot be run alone, again and again; empty if they can."""
        if self._obstacle:
            return self._obstacle
        if self._split:
            return "schedules that split the backward (zero-bubble) are not planned yet"
        return next(filter(None, (captured.refusal() for captured in self._captured.values())), "")

    def _measure_instructions(self, profiler: Any, plan: dict[str, Any]) -> str:
        """Measures in wide steps, or beside the clocks of the plan; returns what was wrong with the training's own code."""
        try:
            for index, captured in self._captured.items():
                with captured.as_it_was(self.device_id):
                    for instruction, alone, including in captured.works(self.device_id):
                        work = self._showing_progress(alone)
                        if not plan:
                            profiler.measure(index, instruction, work, including)
                            continue
                        for clock in self._planned_clocks(plan, index):
                            profiler.measure_beside(index, instruction, clock, work, including)
        except RankLost:
            raise  # the others do without what would still be measured
        except Exception as error:  # the stage's own code may raise anything
            return f"an instruction could not be run alone: {type(error).__name__}: {error}"
        return ""

    def _showing_progress(self, work: Callable[[int], None]) -> Callable[[int], None]:
        """The same work. A stage with few clocks, or a small one, is measured long before others, and waits for them."""

        def shown(times: int) -> None:
            work(times)
            if time.monotonic() - self._shown > self._patience / 10:
                self._shown = time.monotonic()
                self._ranks.advance(_PROGRESS)

        return shown

    def _planned_clocks(self, plan: dict[str, Any], stage: int) -> list[float]:
        """Of any instruction of the stage, since a backward is measured together with its forward."""
        mine = plan["frequencies"][self._place]
        used = Counter(clock for (_, where, _), (_, clock) in zip(self._steps, mine) if where == stage)
        return [clock for clock, _ in used.most_common(_MOST_CLOCKS_REFINED)]

    def _measure_blocking(self, profiler: Any) -> None:
        """In pairs, one rank waits for the other; then the other way round. A rank without a partner does not measure."""
        partner = self._place ^ 1
        if partner >= len(self._members):
            return
        self._ranks.tell(f"here/{self._place}", True)
        lost = None
        try:
            self._ranks.hear(f"here/{partner}", self._patience)
        except RankLost as error:
            lost = error
        # Both decide alike: a rank that comes when its partner has given up would wait for it in vain.
        if not self._ranks.settle(f"pair/{min(self._place, partner)}", lost is None):
            raise lost or RankLost(f"rank {self._members[partner]} did not wait for rank {self._members[self._place]}")
        token = torch.zeros(1, device=self._stages[0].device)
        other = self._members[partner]

        waited = []

        def wait() -> None:
            waited.append(True)
            distributed.recv(token, src=other, group=self._group)
            wait_for(self.device_id)

        for waits in (0, 1):
            if self._place % 2 == waits:
                self.blocking_power = profiler.measure_blocking(wait)
                if not waited:  # the profiler has trouble, and the partner sends all the same
                    wait()
            else:
                time.sleep(self._window)
                distributed.send(token, dst=other, group=self._group)

    # What ranks exchange.

    def _long(self) -> float:
        return max(self._patience, time.monotonic() - self._profiling_since)

    def _agree(self, share: dict[str, Any], turn: str) -> dict[str, Any]:
        """The plan that the first rank makes of what all share; {} if no rank has profiled yet; _Trouble if any rank has some."""
        if self._place != 0:
            self._ranks.tell(f"profile/{turn}/{self._place}", share)
            answer = self._ranks.hear(f"plan/{turn}", self._patience + self._long(), _PROGRESS)
        else:
            answer = self._plan_of(share, turn)
            self._ranks.tell(f"plan/{turn}", answer)
        if "trouble" in answer:
            raise _Trouble(answer["trouble"])
        return dict(answer)

    def _plan_of(self, share: dict[str, Any], turn: str) -> dict[str, Any]:
        if share["trouble"]:
            return {"trouble": f"rank {self._members[0]}: {share['trouble']}"}
        try:
            others = range(1, len(self._members))
            shares = [share, *(self._ranks.hear(f"profile/{turn}/{place}", self._long(), _PROGRESS) for place in others)]
        except RankLost as error:
            return {"trouble": f"a rank does not take part: {error}"}
        for place, one in enumerate(shares):
            if one["trouble"]:
                return {"trouble": f"rank {self._members[place]}: {one['trouble']}"}
        if "rows" not in share:
            return {}
        powers = [one["blocking"] for one in shares if one["blocking"] is not None]
        if not powers and len(shares) > 1:
            return {"trouble": "no rank could measure what its GPU draws while it waits for another"}
        blocking = statistics.fmean(powers) if powers else 0.0
        ranks = [([tuple(step) for step in one["steps"]], [tuple(row) for row in one["rows"]]) for one in shares]
        try:
            plan: dict[str, Any] = _native.plan_pipeline(ranks, blocking, 1, self._max_slowdown)
        except ZeusBaseError as error:
            return {"trouble": str(error)}
        self._shares = shares
        return {**plan, "blocking_w": blocking}

    def _summarize(self, seconds: float) -> None:
        """The first rank says what the plan claims, what it cost, and when that is regained."""
        plan, joules = self.plan, self._profiling_energy
        assert plan is not None
        self._ranks.tell(f"cost/{self._place}", joules)
        if self._place != 0:
            return
        try:
            joules += sum(self._ranks.hear(f"cost/{place}", self._patience) for place in range(1, len(self._members)))
        except RankLost:
            joules = math.nan
        saved = plan["fastest_energy_j"] - plan["energy_j"]
        share = 100 * saved / plan["fastest_energy_j"]
        if saved <= 0:
            regained = "never regained"
        elif math.isfinite(joules):
            regained = f"regained after {math.ceil(joules / saved):,} iterations"
        else:  # of a rank that answers too late, or whose GPU's energy is unknown
            regained = "which takes an unknown number of iterations to regain"
        self.summary = (
            f"the plan claims {share:.1f} % less energy at {plan['time_s']:.3f} s an iteration ({plan['fastest_time_s']:.3f} s at the"
            f" highest clocks); profiling took {seconds:.1f} s, the time of {seconds / plan['fastest_time_s']:.0f} iterations, and"
            f" {f'{joules:,.0f} J' if math.isfinite(joules) else 'an unknown energy'}, {regained}"
        )
        logger.info("%s", self.summary)
        if self._record is not None:
            self._write_profile(plan)

    def _write_profile(self, plan: dict[str, Any]) -> None:
        assert self._record is not None
        os.makedirs(self._record, exist_ok=True)
        lines = ["rank,stage,instruction,frequency,time,energy,time_uncertainty,energy_uncertainty"]
        for place, share in enumerate(self._shares):
            for stage, instruction, clock, seconds, wide_s, joules, wide_j in share["rows"]:
                figures = f"{seconds:.7g},{joules:.7g},{wide_s:.3g},{wide_j:.3g}"
                lines.append(f"{self._members[place]},{stage},{instruction},{clock:g},{figures}")
        write_whole(self._record / "profile.csv", "\n".join(lines) + "\n")
        write_whole(self._record / "plan.json", json.dumps({key: plan[key] for key in ("time_s", "energy_j", "frequencies")}))

    def _exchange_measured(self) -> None:
        assert self._measured is not None and self.plan is not None
        try:
            self._ranks.tell(f"measured/{self._place}", self._measured.results)
            if self._place != 0 or self._record is None:
                return
            others = [self._ranks.hear(f"measured/{place}", self._patience) for place in range(1, len(self._members))]
            everyone = [self._measured.results, *others]
            for run, name in enumerate(("before", "after")):
                iteration = measured_iteration([results[run] for results in everyone], self.plan, self._shares, followed=run == 1)
                write_whole(self._record / f"{name}.json", json.dumps(iteration))
        except (RankLost, OSError, ValueError) as error:
            self._warn(f"what was measured is not written: {error}")

    # Trouble.

    def _look_at_clocks(self) -> None:
        trouble = "" if self._clocks is None else self._clocks.trouble
        if trouble and trouble not in self.trouble:
            self._warn(trouble)

    def _stop_following(self) -> None:
        if self._following:
            self._following = False
            self._clocks.close()
            self._look_at_clocks()

    def _warn(self, trouble: str) -> None:
        self.trouble += ("; " if self.trouble else "") + trouble
        warn(logger, f"rank {self._members[self._place]}, GPU {self.device_id}: {trouble}")
