"""Trains a small network on the CPU, as a script without Zeus: with PyTorch, or with Python's standard library alone.

A hidden layer of a few units learns to separate the inside of a ring from its outside. Steps print the progress of the
epoch, and each epoch prints the accuracy on unseen data, with weights averaged over the second half of the epoch, which is
steadier than the last weights. All networks begin with the same weights; --seed orders the data.

A step can also wait, as if for a device: --wait-step for each step and --wait-sample for each of its samples, in
milliseconds, in small pieces, so that stopping the script slows the wait down too.

  plain_training.py --batch-size B [--with stdlib|pytorch] [--learning-rate R] [--seed S] [--epochs E] [--target T]
                    [--samples N] [--wait-step MS] [--wait-sample MS]
"""

import argparse
import math
import random
import time

HELD_OUT = 2000


class Network:
    """With Python's standard library."""

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


class PlainTraining:
    UNITS = 16

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.data = self.make_data(options.samples, random.Random(0))
        self.held_out = self.make_data(HELD_OUT, random.Random(1))
        self.generator = random.Random(options.seed)
        self.network = Network(self.UNITS, random.Random(0))
        self.steps = options.samples // options.batch_size

    @staticmethod
    def make_data(count: int, generator: random.Random) -> list[tuple[float, float, float]]:
        data = []
        for _ in range(count):
            x, y = generator.uniform(-1, 1), generator.uniform(-1, 1)
            data.append((x, y, 1.0 if 0.3 < math.hypot(x, y) < 0.8 else 0.0))
        return data

    def begin_epoch(self) -> None:
        self.generator.shuffle(self.data)
        self.mean = Network(self.UNITS, random.Random(0), spread=0.0)

    def learn(self, step: int) -> None:
        size = self.options.batch_size
        self.network.learn(self.data[step * size:(step + 1) * size], self.options.learning_rate)

    def average(self) -> None:
        self.mean.add(self.network, 1.0 / (self.steps - self.steps // 2))

    def accuracy(self) -> float:
        return sum(self.mean.is_right(*one) for one in self.held_out) / len(self.held_out)


class PyTorchTraining:
    UNITS = 32

    def __init__(self, options: argparse.Namespace) -> None:
        import torch

        self.torch = torch
        torch.set_num_threads(1)
        torch.manual_seed(0)
        self.held_out = self.make_data(HELD_OUT, 1)
        self.network = torch.nn.Sequential(torch.nn.Linear(2, self.UNITS), torch.nn.Tanh(), torch.nn.Linear(self.UNITS, 1))
        torch.nn.init.normal_(self.network[0].weight, std=2.0)
        torch.nn.init.normal_(self.network[0].bias, std=2.0)
        self.optimizer = torch.optim.SGD(self.network.parameters(), lr=options.learning_rate)
        self.loader = torch.utils.data.DataLoader(self.make_data(options.samples, 0), batch_size=options.batch_size,
                                                  shuffle=True, drop_last=True,
                                                  generator=torch.Generator().manual_seed(options.seed))
        self.steps = len(self.loader)

    def make_data(self, count: int, seed: int):
        points = self.torch.rand(count, 2, generator=self.torch.Generator().manual_seed(seed)) * 2 - 1
        radius = points.norm(dim=1)
        return self.torch.utils.data.TensorDataset(points, ((radius > 0.3) & (radius < 0.8)).float())

    def begin_epoch(self) -> None:
        self.batches = iter(self.loader)
        self.mean = self.torch.optim.swa_utils.AveragedModel(self.network)

    def learn(self, step: int) -> None:
        points, labels = next(self.batches)
        self.optimizer.zero_grad()
        self.torch.nn.functional.binary_cross_entropy_with_logits(self.network(points).squeeze(1), labels).backward()
        self.optimizer.step()

    def average(self) -> None:
        self.mean.update_parameters(self.network)

    def accuracy(self) -> float:
        with self.torch.no_grad():
            points, labels = self.held_out.tensors
            return ((self.mean(points).squeeze(1) > 0) == (labels > 0.5)).float().mean().item()


def wait_for_device(milliseconds: float) -> None:
    piece, stopped = 0.001, 0.0025
    left = milliseconds / 1000
    while left > 0:
        begun = time.monotonic()
        time.sleep(min(piece, left))
        took = time.monotonic() - begun
        # If a piece took much longer, the script was stopped, half way through on average; if it took a little longer,
        # it was only late, as on a busy machine.
        left -= took if took < stopped else piece / 2


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--with", dest="framework", choices=("stdlib", "pytorch"), default="stdlib")
    parser.add_argument("--batch-size", type=int, required=True)
    parser.add_argument("--learning-rate", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--target", type=float, default=0.9)
    parser.add_argument("--samples", type=int, default=4000)
    parser.add_argument("--wait-step", type=float, default=0.0)
    parser.add_argument("--wait-sample", type=float, default=0.0)
    options = parser.parse_args()
    training = (PyTorchTraining if options.framework == "pytorch" else PlainTraining)(options)
    for epoch in range(1, options.epochs + 1):
        training.begin_epoch()
        for step in range(training.steps):
            training.learn(step)
            if step >= training.steps // 2:
                training.average()
            wait_for_device(options.wait_step + options.wait_sample * options.batch_size)
            if (step + 1) % max(1, training.steps // 20) == 0:
                print(f"step {step + 1}/{training.steps}", flush=True)
        accuracy = training.accuracy()
        print(f"epoch {epoch}: accuracy {accuracy:.4f}", flush=True)
        if accuracy >= options.target:
            break


if __name__ == "__main__":
    main()
