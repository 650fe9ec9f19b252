#!/usr/bin/env python3
"""Fits the distributions of epochs to the target of the built-in workloads (src/physics/builtin_workloads.cpp).

  fit_epochs.py TRAINING_TRACE        the published summary_train.csv

Prints, per workload, the parameters of docs/physics.md's model and, per batch size, the values of the trace and of the model.
"""

import csv
import math
import sys
from collections import defaultdict

WORKLOADS = {
    "librispeech/deepspeech2/adamw": "40",
    "squad/bert_base_uncased/adamw": "84.0",
    "sentiment140/bert_base_uncased/adamw": "0.84",
    "imagenet/resnet50/adadelta": "0.65",
    "cifar100/shufflenetv2/adadelta": "0.6",
    "movielens-1m/ncf/adam": "0.41",
}
FAILURE_WIDTH = 0.15  # in octaves: the range over which the probability of a failure changes


def read(path: str) -> dict:
    runs = defaultdict(lambda: defaultdict(list))
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            name = f"{row['dataset']}/{row['network']}/{row['optimizer']}"
            if name in WORKLOADS and float(row["target_metric"]) == float(WORKLOADS[name]):
                epoch = row["target_epoch"]
                reached = epoch not in ("", "nan")
                runs[name][math.log2(int(row["batch_size"]))].append(float(epoch) if reached else None)
    return runs


def solve(matrix: list, right: list) -> list:
    """Gaussian elimination with pivoting, on a slightly damped system."""
    size = len(right)
    rows = [matrix[i][:] + [right[i]] for i in range(size)]
    for i in range(size):
        rows[i][i] += 1e-9
    for i in range(size):
        pivot = max(range(i, size), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(size):
            if r != i:
                factor = rows[r][i] / rows[i][i]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[i])]
    return [rows[i][size] / rows[i][i] for i in range(size)]


def basis(x: float, low: float, high: float) -> list:
    above = max(0.0, x - high)
    return [1.0, max(0.0, low - x), above, above * above]


def fit_mean(points: list) -> tuple:
    """Least squares over the mean of log epochs, for each pair of knees; the best pair wins."""
    best = None
    octaves = sorted({x for x, _ in points})
    for low in octaves:
        for high in (x for x in octaves if x >= low):
            features = [basis(x, low, high) for x, _ in points]
            normal = [[sum(f[i] * f[j] for f in features) + (1e-3 if i == j and i else 0.0) for j in range(4)]
                      for i in range(4)]
            weights = solve(normal, [sum(f[i] * y for f, (_, y) in zip(features, points)) for i in range(4)])
            error = sum((sum(w * g for w, g in zip(weights, f)) - y) ** 2 for f, (_, y) in zip(features, points))
            if best is None or error < best[0] - 1e-9:
                best = (error, low, high, weights)
    return best[1:]


def failure_probability(x: float, below: float, above: float) -> float:
    def logistic(z: float) -> float:
        return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, z / FAILURE_WIDTH))))
    return 1.0 - (1.0 - logistic(below - x)) * (1.0 - logistic(x - above))


def fit_failures(runs: dict) -> tuple:
    """The most likely pair of edges; at most half an octave outside the tried sizes."""
    octaves = sorted(runs)
    steps = [octaves[0] - 2 + 0.125 * i for i in range(int((octaves[-1] - octaves[0] + 4) / 0.125) + 1)]

    def log_likelihood(below: float, above: float) -> float:
        total = 0.0
        for x, epochs in runs.items():
            p = min(1 - 1e-9, max(1e-9, failure_probability(x, below, above)))
            failed = sum(e is None for e in epochs)
            total += failed * math.log(p) + (len(epochs) - failed) * math.log(1 - p)
        return total

    # Of equally likely edges, the widest pair.
    return max(((b, a) for b in steps for a in steps if a > b),
               key=lambda edges: (round(log_likelihood(*edges), 3), edges[1] - edges[0]))


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    for name, runs in sorted(read(sys.argv[1]).items()):
        points = [(x, math.log(e)) for x, epochs in runs.items() for e in epochs if e is not None]
        low, high, weights = fit_mean(points)
        squares = degrees = 0.0
        for epochs in runs.values():
            logs = [math.log(e) for e in epochs if e is not None]
            if len(logs) > 1:
                mean = sum(logs) / len(logs)
                squares += sum((y - mean) ** 2 for y in logs)
                degrees += len(logs) - 1
        spread = max(0.02, math.sqrt(squares / degrees))
        below, above = fit_failures(runs)
        print(f"{name}\n    .log_epochs = {weights[0]:.4f}, .low_knee = {low:.4f}, .low_slope = {weights[1]:.4f}, "
              f".high_knee = {high:.4f}, .high_slope = {weights[2]:.4f}, .high_bend = {weights[3]:.4f}, "
              f".spread = {spread:.4f}, .fails_below = {below:.3f}, .fails_above = {above:.3f}")
        for x, epochs in sorted(runs.items()):
            reached = [e for e in epochs if e is not None]
            seen = sum(reached) / len(reached) if reached else float("nan")
            said = math.exp(sum(w * g for w, g in zip(weights, basis(x, low, high))))
            print(f"    # {round(2 ** x):>6}  epochs {seen:7.2f}, said {said:7.2f}   "
                  f"failed {len(epochs) - len(reached)} of {len(epochs)}, "
                  f"said {failure_probability(x, below, above):.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
