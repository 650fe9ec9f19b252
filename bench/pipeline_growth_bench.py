#!/usr/bin/env python3
"""How the time and memory of `zeus pipeline` grow: with computations, and with measured frequencies.

  pipeline_growth_bench.py BUILD

Profiles are synthetic, with 2 % noise, stages unequal by up to 30 %. The time is that of the whole frontier; the memory
is the peak of the whole process, which reads the profile, solves, and chooses one plan.
"""

import csv
import json
import os
import pathlib
import random
import sys
import tempfile


def write_profile(path: pathlib.Path, stages: int, frequencies: int) -> None:
    draw = random.Random(1)
    with open(path, "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["stage", "instruction", "frequency", "time", "energy"])
        for stage in range(stages):
            for instruction, work in (("forward", 0.04), ("backward", 0.08)):
                size = work * draw.uniform(0.85, 1.15)
                for k in range(frequencies):
                    clock = 1.0 - 0.56 * k / max(frequencies - 1, 1)
                    time = size * (0.25 + 0.75 / clock) * draw.gauss(1, 0.02)
                    energy = time * (90 + 260 * clock**3) * draw.gauss(1, 0.02)
                    rows.writerow([stage, instruction, 1410 * clock, time, energy])


def measure(zeus: pathlib.Path, folder: pathlib.Path, stages: int, microbatches: int, frequencies: int) -> dict:
    profile, output = folder / "profile.csv", folder / "plan.json"
    write_profile(profile, stages, frequencies)
    command = [str(zeus), "pipeline", "--profile", str(profile), "--stages", str(stages), "--microbatches",
               str(microbatches), "--points", "1", "--json", str(output)]
    null = os.open(os.devnull, os.O_WRONLY)
    child = os.posix_spawn(zeus, command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, null, 1)])
    os.close(null)
    _, status, usage = os.wait4(child, 0)
    if status:
        raise SystemExit(f"zeus pipeline failed for {stages} x {microbatches}")
    result = json.loads(output.read_text(encoding="utf-8"))
    points = len(result["frontier"]) + len(result["slower_than_least_energy"])
    return {"solve_s": result["solve_s"], "points": points, "peak_mb": usage.ru_maxrss / 1024}


def main() -> None:
    zeus = pathlib.Path(sys.argv[1]) / "bin" / "zeus"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        print("  stages x micro-batches   computations   frequencies   breakpoints   frontier (s)   peak memory (MB)")
        sizes = [(4, 8, 15), (4, 32, 15), (8, 32, 15), (8, 64, 15), (8, 128, 15), (16, 128, 15), (16, 512, 15)]
        sizes += [(8, 32, count) for count in (2, 4, 8, 30, 60, 120)]
        for stages, microbatches, frequencies in sizes:
            row = measure(zeus, folder, stages, microbatches, frequencies)
            print(f"  {f'{stages} x {microbatches}':>22}{2 * stages * microbatches:>15}{frequencies:>14}"
                  f"{row['points']:>14}{row['solve_s']:>15.3f}{row['peak_mb']:>19.1f}", flush=True)


if __name__ == "__main__":
    main()
