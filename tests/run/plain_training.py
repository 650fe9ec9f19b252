"""Trains a small network with PyTorch on the CPU, as a script that knows nothing of Zeus.

A hidden layer of a few units learns to tell the inside of a ring from its outside. Steps print how far the epoch is, each
epoch what the network achieves on data that it has not seen: the network whose weights are the mean of those that the second
half of the epoch went through, which is steadier than the last ones are. Networks begin alike; --seed orders the data. A step can also wait, as one does for a device: --wait-step for
each step and --wait-sample for each of its samples, in milliseconds, in small pieces, so that whoever stops the script slows
that down too.

  plain_training.py --batch-size B [--learning-rate R] [--seed S] [--epochs E] [--target T] [--samples N]
                    [--wait-step MS] [--wait-sample MS]
"""

import argparse
import time

import torch


def make_data(count: int, seed: int) -> torch.utils.data.TensorDataset:
    points = torch.rand(count, 2, generator=torch.Generator().manual_seed(seed)) * 2 - 1
    radius = points.norm(dim=1)
    return torch.utils.data.TensorDataset(points, ((radius > 0.3) & (radius < 0.8)).float())


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
    torch.set_num_threads(1)
    torch.manual_seed(0)
    data = make_data(options.samples, 0)
    held_out = make_data(2000, 1)
    network = torch.nn.Sequential(torch.nn.Linear(2, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
    torch.nn.init.normal_(network[0].weight, std=2.0)
    torch.nn.init.normal_(network[0].bias, std=2.0)
    optimizer = torch.optim.SGD(network.parameters(), lr=options.learning_rate)
    loader = torch.utils.data.DataLoader(data, batch_size=options.batch_size, shuffle=True, drop_last=True,
                                         generator=torch.Generator().manual_seed(options.seed))
    for epoch in range(1, options.epochs + 1):
        mean = torch.optim.swa_utils.AveragedModel(network)
        for step, (points, labels) in enumerate(loader, 1):
            optimizer.zero_grad()
            torch.nn.functional.binary_cross_entropy_with_logits(network(points).squeeze(1), labels).backward()
            optimizer.step()
            if step > len(loader) // 2:
                mean.update_parameters(network)
            wait_for_device(options.wait_step + options.wait_sample * options.batch_size)
            if step % max(1, len(loader) // 20) == 0:
                print(f"step {step}/{len(loader)}", flush=True)
        with torch.no_grad():
            points, labels = held_out.tensors
            accuracy = ((mean(points).squeeze(1) > 0) == (labels > 0.5)).float().mean().item()
        print(f"epoch {epoch}: accuracy {accuracy:.4f}", flush=True)
        if accuracy >= options.target:
            break


if __name__ == "__main__":
    main()
