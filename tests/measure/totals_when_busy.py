#!/usr/bin/env python3
"""Whether the interval of a total over eight GPUs holds the true energy while the machine has other things to do.

  totals_when_busy.py BUILD_FOLDER [--windows N] [--busy N]

Each window is a `zeus measure` of its own, in real time, around a command that sleeps for 5 ms to 1 s, beside busy processes. The
GPUs are virtual, work in step and tick together, so that little of their errors cancels. Fails if fewer than 92 % of the intervals
of the totals, or of the single GPUs, hold the true energy.
"""

import argparse
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import busy_machine  # noqa: E402

MODELS = ("A100", "H100", "V100")
LOADS = ("constant:200W", "square:80-240W,200ms", "square:100-300W,730ms")
GPUS = 8
LEAST = 0.92


def energy_at(points: list[list[float]], time: float) -> float:
    for (before, energy), (after, next_energy) in zip(points, points[1:]):
        if before <= time <= after:
            return energy + (next_energy - energy) * (time - before) / (after - before) if after > before else next_energy
    return points[-1][1]


def holds(energy: dict | None, truth: float) -> bool:
    """An energy that is unknown, or without an interval, holds nothing here: every GPU can be measured."""
    if energy is None or energy["uncertainty"] is None:
        print("not measured:", energy)
        return False
    return abs(energy["value"] - truth) <= energy["uncertainty"]


class Windows:
    def __init__(self, build: pathlib.Path, folder: pathlib.Path) -> None:
        self.zeus = build / "bin/zeus"
        self.folder = folder
        (folder / "state").mkdir(mode=0o700)
        self.environment = {**os.environ, "ZEUS_STATE_DIR": str(folder / "state"), "HOME": str(folder)}
        self.chance = random.Random(5)

    def measure(self, number: int) -> tuple[list[bool], bool]:
        """Whether the intervals of the single GPUs and that of the total hold the true energy, in one window."""
        truth, measured = self.folder / "truth.json", self.folder / "measured.json"
        seconds = 0.005 * math.exp(self.chance.uniform(0, math.log(200)))
        begin = f"sleep {self.chance.uniform(0, 0.3):.3f}; exec '{self.zeus}' measure --json '{measured}' -- sleep {seconds:.4f}"
        subprocess.run([self.zeus, "virtual", f"{GPUS}x{MODELS[number % 3]}", "--load", LOADS[number // 3 % 3], "--truth", truth,
                        "--", "sh", "-c", begin], env=self.environment, capture_output=True, check=True)
        window = json.loads(measured.read_text())
        begin, end = window["start_monotonic_s"], window["end_monotonic_s"]
        true = {str(gpu["index"]): energy_at(gpu["energy_j"], end) - energy_at(gpu["energy_j"], begin)
                for gpu in json.loads(truth.read_text())["gpus"]}
        singles = [holds(energy, true[gpu]) for gpu, energy in window["gpu_energy_j"].items()]
        return singles, holds(window["total_gpu_energy_j"], sum(true.values()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--windows", type=int, default=400)
    parser.add_argument("--busy", type=int, default=4, help="processes beside it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, busy_machine.busy(options.busy):
        windows = Windows(options.build.resolve(), pathlib.Path(folder))
        results = [windows.measure(number) for number in range(options.windows)]
    singles = [held for window, _ in results for held in window]
    shares = {"single GPUs": sum(singles) / len(singles), "totals": sum(total for _, total in results) / len(results)}
    for what, share in shares.items():
        print(f"{share:.1%} of the intervals of {what} hold the true energy, in {options.windows} windows over {GPUS} GPUs")
    if min(shares.values()) < LEAST:
        sys.exit(f"fewer than {LEAST:.0%} do")


if __name__ == "__main__":
    main()
