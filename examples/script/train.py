"""Learns to separate two clouds of points, in plain Python, and prints what training scripts usually print. It does not use
Zeus."""

import argparse
import math
import random

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=64)
parser.add_argument("--epochs", type=int, default=40)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()

DIMENSIONS, POINTS = 24, 32768
draw = random.Random(options.seed)


def point() -> tuple[list[float], int]:
    label = draw.randrange(2)
    return [draw.gauss(0.35 * (2 * label - 1), 1.0) / (1 + i) for i in range(DIMENSIONS)], label


def probability(weights: list[float], features: list[float]) -> float:
    return 1 / (1 + math.exp(-sum(w * x for w, x in zip(weights, features))))


train, held_out = [point() for _ in range(POINTS)], [point() for _ in range(2048)]
weights, rate = [0.0] * DIMENSIONS, 0.03 * math.sqrt(options.batch_size)
steps = POINTS // options.batch_size
for epoch in range(1, options.epochs + 1):
    draw.shuffle(train)
    for step in range(steps):
        gradient = [0.0] * DIMENSIONS
        for features, label in train[step * options.batch_size:(step + 1) * options.batch_size]:
            error = probability(weights, features) - label
            gradient = [g + error * x for g, x in zip(gradient, features)]
        weights = [w - rate * g / options.batch_size for w, g in zip(weights, gradient)]
        print(f"step {step + 1}/{steps}")
    right = sum((probability(weights, features) > 0.5) == label for features, label in held_out)
    print(f"epoch {epoch}: val_acc={right / len(held_out):.4f}")
