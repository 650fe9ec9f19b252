"""One rank of the training of examples/torch_pipeline, on virtual GPUs, with what tests vary and look at. Run by
trainings.py, or under torch.distributed.run; for each schedule in turn, writes SCHEDULE-N.json into the folder OUT.

  pipelined_rank.py OUT [--schedules 1f1b,gpipe|interleaved,zero-bubble] [--steps N] [--measure N] [--layer S] [--pairs N]
  pipelined_rank.py OUT --single       the same training in one process, without a pipeline and without Zeus
  pipelined_rank.py OUT --example      examples/torch_pipeline itself, in shorter layers and windows
"""

import argparse
import contextlib
import functools
import json
import logging
import pathlib
import sys
import time

import torch
import torch.distributed
from torch.distributed import pipelining
from torch.utils.checkpoint import checkpoint

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "torch_pipeline"))
import train  # noqa: E402
import virtual_work  # noqa: E402

from zeus_cpp import _native  # noqa: E402
from zeus_cpp.integrations._pipeline_measured import Measured  # noqa: E402

STEPS_OF_A_BLOCK = 2


class WatchedWork(virtual_work.VirtualWork):
    """Notes the true clock and power in the middle of each instruction: a faster clock for the next one may come before its end."""

    def __init__(self, *arguments) -> None:
        super().__init__(*arguments)
        self.seen: list = []

    @contextlib.contextmanager
    def run(self, seconds: float):
        with super().run(seconds):
            middle = self.truth().work_s + seconds / 2
            yield
            while (left := middle - (truth := self.truth()).work_s) > 0:
                time.sleep(max(left / truth.speed, 1e-5))
            self.seen.append((truth.clock_mhz, truth.power_w))


class Recomputing(torch.nn.Module):
    """A stage that keeps no activations: its backward runs its forward again, to the end, where the virtual GPU's work ends."""

    def __init__(self, stage: torch.nn.Module) -> None:
        super().__init__()
        self.stage = stage

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return checkpoint(self.stage, x, use_reentrant=False, early_stop=False)


class LogLines(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def single(steps: int) -> list:
    """The mean loss of each step."""
    stages = [train.stage_of(index, virtual_work.NoWork()) for index in range(4)]
    optimizers = [torch.optim.AdamW(stage.parameters(), lr=3e-3) for stage in stages]
    losses = []
    for step in range(steps):
        inputs, targets = train.batch_of(step)
        for optimizer in optimizers:
            optimizer.zero_grad()
        of_parts = []
        for x, y in zip(inputs.chunk(train.MICROBATCHES), targets.chunk(train.MICROBATCHES)):
            for stage in stages:
                x = stage(x)
            loss = train.loss_of(x, y)
            (loss / train.MICROBATCHES).backward()
            of_parts.append(loss.detach())
        for optimizer in optimizers:
            optimizer.step()
        losses.append(float(torch.stack(of_parts).mean()))
    return losses


def schedule_of(name: str, rank: int, make_stage):
    """(schedule, modules): two stages on each of two ranks where the schedule interleaves."""
    device = torch.device("cpu")
    kinds = {"1f1b": pipelining.Schedule1F1B, "gpipe": pipelining.ScheduleGPipe}
    if name in kinds:
        module = make_stage(rank)
        return kinds[name](pipelining.PipelineStage(module, rank, 4, device), train.MICROBATCHES, loss_fn=train.loss_of), [module]
    kind = pipelining.ScheduleInterleaved1F1B if name == "interleaved" else pipelining.ScheduleInterleavedZeroBubble
    mine = [rank, rank + 2]
    modules = [make_stage(index) for index in mine]
    stages = [pipelining.PipelineStage(module, index, 4, device) for module, index in zip(modules, mine)]
    return kind(stages, train.MICROBATCHES, loss_fn=train.loss_of), modules


def energies() -> float:
    truth = virtual_work.Truth()
    joules = 0.0
    for gpu in range(torch.distributed.get_world_size()):
        virtual_work.ctypes.CDLL("libnvidia-ml.so.1").zeus_virtual_read_truth(gpu, virtual_work.ctypes.byref(truth))
        joules += truth.energy_j
    return joules


class Absent:
    """In place of PipelineFrequencies, on a rank that does not take part."""

    trouble, summary, plan, rows, blocking_power = "", "", None, (), None

    def close(self) -> None:
        pass


class TrueWindows:
    """Notes the true time and energy of each run of each instruction while it is profiled, by the virtual GPU."""

    def __init__(self, gpu: int) -> None:
        self.runs: list = []  # (row of the profile, times, seconds, joules)
        self._gpu = gpu

    def profiler(self, native):
        noted = self

        class Profiler:
            def __init__(self, device_id, window):
                self._native = native(device_id, window)

            def __getattr__(self, name):
                return getattr(self._native, name)

            def measure(self, stage, instruction, work, including):
                self._native.measure(stage, instruction, noted.noting(self, work), including)

            def measure_beside(self, stage, instruction, clock, work, including):
                self._native.measure_beside(stage, instruction, clock, noted.noting(self, work), including)

        return Profiler

    def noting(self, profiler, work):
        truth = virtual_work.VirtualWork.truth_of

        def noted(times):
            before = truth(self._gpu)
            work(times)
            after = truth(self._gpu)
            self.runs.append((len(profiler.rows), times, after.time_s - before.time_s, after.energy_j - before.energy_j))

        return noted


def add_fault(fault: str) -> None:
    assert virtual_work.ctypes.CDLL("libnvidia-ml.so.1").zeus_virtual_add_fault(fault.encode()) == 0


class Enough(Exception):
    pass


def of_one_clock(native):
    """The profiler of a GPU that can be locked to its highest clock alone: nothing is measured at the others."""

    class Profiler:
        def __init__(self, device_id, window):
            self._native = native(device_id, window)
            self._most = 0

        def __getattr__(self, name):
            return getattr(self._native, name)

        def measure(self, stage, instruction, work, including):
            self._most = len(self._native.rows) + 1

            def at_one(times):
                if len(self._native.rows) == self._most:
                    raise Enough
                work(times)

            with contextlib.suppress(Enough):
                self._native.measure(stage, instruction, at_one, including)

    return Profiler


def exact_rows(frequencies, works: list, rank: int) -> list:
    """The profile without noise: what the virtual GPU's kernels take and draw at each clock that was measured."""
    from zeus.device import get_gpus

    rows = []
    for stage, instruction, clock, *_ in frequencies.rows:
        get_gpus().set_gpu_locked_clocks(rank, int(clock), int(clock))
        works[0]._submit(virtual_work.KERNELS)
        truth = works[0].truth()
        seconds = works[0]._seconds * (1 if instruction == "forward" else 2) / truth.speed
        rows.append((stage, instruction, clock, seconds, 0.0, truth.power_w * seconds, 0.0))
    works[0]._submit(virtual_work.WAITING)
    get_gpus().reset_gpu_locked_clocks(rank)
    return rows


def cost_of_following(frequencies, recorded: bool, steps: int = 200) -> float:
    """Microseconds on the training's thread for an instruction that does nothing else, measured besides or not: the median."""
    if recorded:
        frequencies._measured = Measured(frequencies.device_id, None)
        frequencies._measured.running = True
    calls = {}
    for stage in frequencies._stages:
        for name in ("forward", "backward"):
            calls[name, stage.stage_index] = frequencies._wrapped(name, stage, lambda chunk: None)
    frequencies._in_step = True
    each = []
    for _ in range(steps):
        for name, stage, chunk in frequencies._steps:
            begun = time.perf_counter()
            calls[name, stage](chunk)
            each.append(time.perf_counter() - begun)
        frequencies._call_clocks("end_iteration")
    frequencies._in_step = False
    return 1e6 * sorted(each)[len(each) // 2]


def main(words: list) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--schedules", default="1f1b")
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--measure", type=int, default=0)
    parser.add_argument("--layer", type=float, default=0.001)
    parser.add_argument("--pairs", type=int, default=0)
    parser.add_argument("--window", type=float, default=0.05)
    parser.add_argument("--single", action="store_true")
    parser.add_argument("--example", action="store_true")
    parser.add_argument("--absent", type=int, help="a rank that trains without Zeus")
    parser.add_argument("--late", type=int, help="a rank that begins to profile when the others' patience is over")
    parser.add_argument("--one-clock", type=int, help="a rank whose GPU has no other clock than its highest")
    parser.add_argument("--recompute", type=int, help="a rank whose stages keep no activations")
    parser.add_argument("--patience", type=float, default=20.0)
    parser.add_argument("--record", type=pathlib.Path, help="instead of OUT, for profile.csv and plan.json")
    parser.add_argument("--truth", action="store_true", help="also note the truth of what is profiled, and what following costs")
    parser.add_argument("--fault", help="of this session's driver, once the last rank begins to measure instructions")
    arguments = parser.parse_args(words)
    torch.set_num_threads(1)
    if arguments.single:
        (arguments.out / "single.json").write_text(json.dumps(single(arguments.steps)), encoding="utf-8")
        return
    virtual_work.LAYER = arguments.layer
    if arguments.example:
        train.PipelineFrequencies = functools.partial(train.PipelineFrequencies, window=arguments.window)
        record = arguments.out / "pipeline"
        sys.argv[1:] = ["--steps", str(arguments.steps), "--measure", str(arguments.measure), "--record", str(record)]
        train.main()
        return
    torch.distributed.init_process_group("gloo")
    if arguments.one_clock == torch.distributed.get_rank():
        _native.PipelineProfiler = of_one_clock(_native.PipelineProfiler)
    for schedule in arguments.schedules.split(","):
        run(arguments, schedule)
    torch.distributed.destroy_process_group()


def run(arguments, name: str) -> None:
    from zeus.integrations import pipelining as ours

    log = LogLines()
    logging.getLogger("zeus.integrations.pipelining").addHandler(log)
    rank = torch.distributed.get_rank()
    works = []

    def make_stage(index: int) -> torch.nn.Module:
        works.append(WatchedWork(rank, train.LAYERS[index] + (index in (0, 3)) * 0.5))
        stage = train.stage_of(index, works[-1])
        return Recomputing(stage) if rank == arguments.recompute else stage

    schedule, modules = schedule_of(name, rank, make_stage)
    optimizer = torch.optim.AdamW([each for module in modules for each in module.parameters()], lr=3e-3)
    true = TrueWindows(rank)
    if arguments.truth:
        ours._native.PipelineProfiler = true.profiler(ours._native.PipelineProfiler)
    frequencies = ours.PipelineFrequencies(schedule, rank, measure=arguments.measure, record=arguments.record or arguments.out,
                                          window=arguments.window,
                                          patience=arguments.patience) if rank != arguments.absent else Absent()
    if rank == arguments.late:
        profile = frequencies._profile
        frequencies._profile = lambda profiler: time.sleep(4 * arguments.patience) or profile(profiler)
    if arguments.fault and rank == torch.distributed.get_world_size() - 1:
        measure = frequencies._measure_instructions
        frequencies._measure_instructions = lambda *more: add_fault(arguments.fault) or measure(*more)
    losses: list = []
    clocks: list = []

    def run_step(step: int) -> None:
        inputs, targets = train.batch_of(step)
        optimizer.zero_grad()
        seen: list = []
        for work in works:
            work.seen.clear()
        last = rank == torch.distributed.get_world_size() - 1
        arguments_of_step = (inputs,) if rank == 0 else ()
        schedule.step(*arguments_of_step, **({"target": targets, "losses": seen} if last else {}))
        if last:
            losses.append(float(torch.stack([each.detach() for each in seen]).mean()))
        if frequencies.plan is not None and step > 1 and len(works) == 1:
            clocks.append((frequencies._following, works[0].seen[:]))
        optimizer.step()

    begun = time.monotonic()
    for step in range(arguments.steps):
        run_step(step)
        if step == 1 and rank != arguments.absent and frequencies._following:
            (arguments.out / f"follows-{rank}").touch()
    blocks = []
    for pair in range(arguments.pairs):
        for followed in (False, True):
            frequencies.follow() if followed else frequencies.pause()
            if followed and pair == 0:
                for _ in range(4):  # the follower learns when instructions begin
                    run_step(arguments.steps)
            torch.distributed.barrier()
            start = time.monotonic(), energies()
            for _ in range(STEPS_OF_A_BLOCK):
                run_step(arguments.steps)
            torch.distributed.barrier()
            blocks.append((followed, (time.monotonic() - start[0]) / STEPS_OF_A_BLOCK, (energies() - start[1]) / STEPS_OF_A_BLOCK))
    cost_us = [cost_of_following(frequencies, recorded) for recorded in (False, True)] if arguments.truth and frequencies.plan else None
    steps = [] if rank == arguments.absent else frequencies._steps
    frequencies.close()
    exact = exact_rows(frequencies, works, rank) if arguments.truth else None
    random = [float(torch.rand(1)), [float(each.detach().sum()) for module in modules for each in module.parameters()][0]]
    result = {"losses": losses, "trouble": frequencies.trouble, "warnings": log.lines, "summary": frequencies.summary, "plan": frequencies.plan,
              "rows": frequencies.rows, "blocking": frequencies.blocking_power, "clocks": clocks, "blocks": blocks, "random": random,
              "seconds": time.monotonic() - begun, "true": true.runs, "cost_us": cost_us, "exact": exact,
              "steps": steps, "works": [len(work.seen) for work in works]}
    (arguments.out / f"{name}-{rank}.json").write_text(json.dumps(result), encoding="utf-8")
    torch.distributed.barrier()


if __name__ == "__main__":
    main(sys.argv[1:])
