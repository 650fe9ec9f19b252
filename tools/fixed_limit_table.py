#!/usr/bin/env python3
"""What a fixed power limit of 80 % saves and costs, beside limits that are chosen for each workload, from measured epochs: the
power traces of the NSDI'23 paper, in examples/research_reproducibility/zeus_nsdi23/trace of github.com/ml-energy/zeus.

  fixed_limit_table.py TRACE.csv HIGHEST_LIMIT      prints the rows of the table in docs/comparison.md
"""

import csv
import sys
from collections import defaultdict

# The paper's optimizers and batch sizes; the next smaller batch size where that one was not measured.
WORKLOADS = {"librispeech": ("adamw", 192), "squad": ("adamw", 32), "sentiment140": ("adamw", 128), "imagenet": ("adadelta", 256),
             "cifar100": ("adadelta", 1024), "movielens-1m": ("adam", 1024)}
FIXED = 0.8
SLOWDOWN = 1.05


def main() -> int:
    path, highest = sys.argv[1], int(sys.argv[2])
    epochs = defaultdict(dict)  # by workload and batch size: limit to seconds and joules of an epoch
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            seconds, watts = float(row["time_per_epoch"]), float(row["average_power"])
            epochs[row["dataset"], row["optimizer"], int(row["batch_size"])][int(row["power_limit"])] = seconds, seconds * watts
    for dataset, (optimizer, default) in WORKLOADS.items():
        size = max(batch for *names, batch in epochs if names == [dataset, optimizer] and batch <= default)
        limits = epochs[dataset, optimizer, size]
        seconds, joules = limits[highest]

        def cell(limit: int) -> str:
            return f"{limit} W: {100 * (limits[limit][1] / joules - 1):+.0f} % / {100 * (limits[limit][0] / seconds - 1):+.0f} %"

        fixed = min(limits, key=lambda limit: abs(limit - FIXED * highest))
        fast_enough = min((limit for limit in limits if limits[limit][0] <= SLOWDOWN * seconds), key=lambda limit: limits[limit][1])
        cheapest = min(limits, key=lambda limit: limits[limit][1] + highest * limits[limit][0])
        print(f"| {dataset}, {size} | {cell(fixed)} | {cell(fast_enough)} | {cell(cheapest)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
