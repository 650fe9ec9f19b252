"""Trains a small network, as a script that knows nothing of Zeus: nothing but Python's standard library.

A hidden layer of a few units learns to tell the inside of a ring from its outside. Each step prints how far the epoch is,
each epoch what the network achieves on data that it has not seen: the network whose weights are the mean of those that the
second half of the epoch went through, which is steadier than the last ones are. Networks begin alike; --seed orders the data.

A step can also wait, as one does for a device: --wait-step for each step and --wait-sample for each of its samples, in
milliseconds, in small pieces, so that whoever stops the script slows that down too.

  plain_training_stdlib.py --batch-size B [--learning-rate R] [--seed S] [--epochs E] [--target T] [--samples N]
                           [--wait-step MS] [--wait-sample MS]
"""

import argparse
import math
import random
import time


def make_data(count: int, generator: random.Random) -> list[tuple[float, float, float]]:
    data = []
    for _ in range(count):
        x, y = generator.uniform(-1, 1), generator.uniform(-1, 1)
        data.append((x, y, 1.0 if 0.3 < math.hypot(x, y) < 0.8 else 0.0))
    return data


class Network:
    def __init__(self, hidden: int, generator: random.Random, spread: float = 1.0) -> None:
        self.hidden = [[generator.gauss(0, 2 * spread) for _ in range(3)] for _ in range(hidden)]
        self.output = [generator.gauss(0, 0.5 * spread) for _ in range(hidden + 1)]

    def forward(self, x: float, y: float) -> tuple[list[float], float]:
        units = [math.tanh(a * x + b * y + c) for a, b, c in self.hidden]
        total = self.output[-1] + sum(weight * unit for weight, unit in zip(self.output, units))
        return units, 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))

    def learn(self, batch: list[tuple[float, float, float]], rate: float) -> None:
        hidden = [[0.0, 0.0, 0.0] for _ in self.hidden]
        output = [0.0] * len(self.output)
        for x, y, label in batch:
            units, answer = self.forward(x, y)
            error = answer - label
            output[-1] += error
            for i, unit in enumerate(units):
                output[i] += error * unit
                back = error * self.output[i] * (1.0 - unit * unit)
                slope = hidden[i]
                slope[0] += back * x
                slope[1] += back * y
                slope[2] += back
        scale = rate / len(batch)
        for i, slope in enumerate(output):
            self.output[i] -= scale * slope
        for weights, slope in zip(self.hidden, hidden):
            for i in range(3):
                weights[i] -= scale * slope[i]

    def add(self, other: "Network", weight: float) -> None:
        for i, value in enumerate(other.output):
            self.output[i] += weight * value
        for weights, others in zip(self.hidden, other.hidden):
            for i in range(3):
                weights[i] += weight * others[i]

    def is_right(self, x: float, y: float, label: float) -> bool:
        return (self.forward(x, y)[1] > 0.5) == (label > 0.5)


def wait_for_device(milliseconds: float) -> None:
    for _ in range(round(milliseconds)):
        time.sleep(0.001)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, required=True)
    parser.add_argument("--learning-rate", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--target", type=float, default=0.9)
    parser.add_argument("--samples", type=int, default=4000)
    parser.add_argument("--wait-step", type=float, default=0.0)
    parser.add_argument("--wait-sample", type=float, default=0.0)
    options = parser.parse_args()
    data = make_data(options.samples, random.Random(0))
    held_out = make_data(2000, random.Random(1))
    generator = random.Random(options.seed)
    network = Network(16, random.Random(0))
    steps = options.samples // options.batch_size
    for epoch in range(1, options.epochs + 1):
        generator.shuffle(data)
        mean = Network(16, random.Random(0), spread=0.0)
        for step in range(steps):
            network.learn(data[step * options.batch_size:(step + 1) * options.batch_size], options.learning_rate)
            if step >= steps // 2:
                mean.add(network, 1.0 / (steps - steps // 2))
            wait_for_device(options.wait_step + options.wait_sample * options.batch_size)
            if (step + 1) % max(1, steps // 20) == 0:
                print(f"step {step + 1}/{steps}", flush=True)
        accuracy = sum(mean.is_right(*one) for one in held_out) / len(held_out)
        print(f"epoch {epoch}: accuracy {accuracy:.4f}", flush=True)
        if accuracy >= options.target:
            break


if __name__ == "__main__":
    main()
