#!/usr/bin/env python3
"""What a plan saves in a real pipelined training on virtual GPUs, by their truth, and how good the profile is that it was made of:
examples/torch_pipeline, whose blocks of two iterations alternate without the plan (the yardstick) and under it.

  pipeline_training_bench.py BUILD
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))
import python_environment  # noqa: E402

RANKS, PAIRS = 4, 20
CLOSE_MHZ, CAP_W = 15.0, 395.0


def train(build: pathlib.Path, folder: str) -> list:
    python = python_environment.interpreter(build, "trainers")
    command = [build / "bin" / "zeus", "virtual", f"{RANKS}xA100", "--", python, ROOT / "tests" / "pipeline" / "trainings.py"]
    words = [folder, "--steps", 2, "--layer", 0.009, "--window", 0.25, "--pairs", PAIRS, "--patience", 120, "--truth"]
    wanted = {"module": "pipelined_rank", "ranks": RANKS, "arguments": [str(word) for word in words], "environment": {}, "folder": folder,
              "patience": 3000}
    environment = {**os.environ, "PYTHONPATH": str(build / "package"), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([str(word) for word in command], input=json.dumps(wanted) + "\n", capture_output=True, text=True, check=True,
                          env=environment)
    answer = json.loads(done.stdout)
    if any(answer["codes"]):
        sys.exit(answer["said"])
    return [json.loads((pathlib.Path(folder) / f"1f1b-{rank}.json").read_text(encoding="utf-8")) for rank in range(RANKS)]


def clocks_as_planned(ranks: list) -> float:
    """The share of instructions in whose middle the GPU ran at the planned clock, or was held down by its power limit."""
    seen = []
    for place, rank in enumerate(ranks):
        planned = [clock for _, clock in rank["plan"]["frequencies"][place]]
        for followed, clocks in rank["clocks"]:
            if followed:
                seen += [abs(clock - wanted) <= CLOSE_MHZ or (clock < wanted and power >= CAP_W)
                         for (clock, power), wanted in zip(clocks, planned, strict=True)]
    return statistics.fmean(seen)


def inside_intervals(rank: dict) -> tuple[list, list]:
    """For each row of the profile, whether its time and its energy are within their intervals of the true values of the same runs."""
    times, energies = [], []
    truth: dict = {}
    for place, (stage, instruction, clock, time_s, wide_s, energy_j, wide_j) in enumerate(rank["rows"]):
        # A row's runs are two or three until the clock has settled, then windows of four parts; one window counts.
        runs = [run for run in rank["true"] if run[0] == place]
        runs = runs[len(runs) % 4 :]
        windows = [runs[first : first + 4] for first in range(0, len(runs), 4)]
        means = [(sum(part[2] for part in window) / sum(part[1] for part in window),
                  sum(part[3] for part in window) / sum(part[1] for part in window)) for window in windows]
        less_s, less_j = truth[stage, "forward", clock] if instruction == "backward" else (0.0, 0.0)
        true_s, true_j = min(((s - less_s, j - less_j) for s, j in means), key=lambda one: abs(one[0] - time_s))
        truth[stage, instruction, clock] = true_s, true_j
        times.append(abs(true_s - time_s) <= wide_s)
        energies.append(abs(true_j - energy_j) <= wide_j)
    return times, energies


def energy_of(ranks: list, frequencies: list, blocking: float) -> float:
    """Of an iteration under these clocks, by the profile without noise."""
    known = {(stage, instruction, clock): (seconds, joules) for rank in ranks
             for stage, instruction, clock, seconds, _, joules, _ in rank["exact"]}
    ends: dict = {}
    places, free = [0] * len(ranks), [0.0] * len(ranks)
    computing = joules_of_all = 0.0
    while any(place < len(rank["steps"]) for place, rank in zip(places, ranks)):
        for number, rank in enumerate(ranks):
            if places[number] == len(rank["steps"]):
                continue
            instruction, stage, microbatch = rank["steps"][places[number]]
            neighbour = stage - 1 if instruction == "forward" else stage + 1
            awaited = (instruction, neighbour, microbatch)
            if 0 <= neighbour < len(ranks) and awaited not in ends:
                continue
            seconds, joules = known[stage, instruction, frequencies[number][places[number]][1]]
            free[number] = max(free[number], ends.get(awaited, 0.0)) + seconds
            ends[instruction, stage, microbatch] = free[number]
            places[number] += 1
            computing += seconds
            joules_of_all += joules
    return joules_of_all + blocking * (len(ranks) * max(free) - computing)


def lost_by_noise(ranks: list) -> float:
    """Points of saving that the plan of the measured profile loses to that of the profile without noise, both judged by the latter."""
    from zeus.optimizer.pipeline_frequency import plan_pipeline

    plan, blocking = ranks[0]["plan"], ranks[0]["plan"]["blocking_w"]
    best = plan_pipeline([([tuple(step) for step in rank["steps"]], [tuple(row) for row in rank["exact"]]) for rank in ranks], blocking)
    fastest = [[(name, max(clock for _, _, clock, *_ in rank["rows"])) for name, *_ in rank["steps"]] for rank in ranks]
    all_fastest = energy_of(ranks, fastest, blocking)
    measured, exact = (1 - energy_of(ranks, one["frequencies"], blocking) / all_fastest for one in (plan, best))
    return 100 * (exact - measured)


def main() -> int:
    build = pathlib.Path(sys.argv[1]).resolve()
    sys.path.insert(0, str(build / "package"))
    with tempfile.TemporaryDirectory() as folder:
        ranks = train(build, folder)
    trouble = [rank["trouble"] for rank in ranks if rank["trouble"]]
    if trouble:
        print(f"  {trouble[0]}")
        return 1
    blocks = ranks[0]["blocks"]
    without, with_plan = ([one for one in blocks if one[0] == followed] for followed in (False, True))
    saved = statistics.median(1 - ours[2] / theirs[2] for theirs, ours in zip(without, with_plan, strict=True))
    slower = statistics.median(ours[1] / theirs[1] - 1 for theirs, ours in zip(without, with_plan, strict=True))
    plan = ranks[0]["plan"]
    print(f"  true energy, median of {PAIRS} pairs: {100 * saved:.2f} % less; the plan claims {100 * (1 - plan['energy_j'] / plan['fastest_energy_j']):.2f} %")
    print(f"  time, median: {100 * slower:+.2f} %")
    print(f"  clocks as planned in the middle of instructions: {100 * clocks_as_planned(ranks):.2f} %")
    inside = [inside_intervals(rank) for rank in ranks]
    for name, which in (("times", 0), ("energies", 1)):
        all_of = [each for one in inside for each in one[which]]
        print(f"  profile: {100 * statistics.fmean(all_of):.1f} % of {len(all_of)} {name} inside their intervals")
    print(f"  the plan loses {lost_by_noise(ranks):.2f} points of saving to that of a profile without noise")
    following, recording = (statistics.median(rank["cost_us"][which] for rank in ranks) for which in (0, 1))
    print(f"  following costs {following:.1f} us an instruction on the training's thread, and {recording:.1f} us while it is measured")
    print(f"  {ranks[0]['summary']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
