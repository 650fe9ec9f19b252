"""A small GPT in four uneven stages, trained as a pipeline whose clocks Zeus measures, plans and sets.

  torchrun --standalone --nproc-per-node 4 train.py [--steps N] [--measure N] [--record FOLDER]

The two lines for Zeus are marked. Without GPUs, run it on virtual ones (`zeus virtual 4xA100 -- torchrun ...`): then the small
GPT computes on the CPU, and each layer also lets its virtual GPU work for as long as a large one would (virtual_work.py).
"""

import argparse
import os

import torch
import torch.distributed
from torch.distributed.pipelining import PipelineStage, Schedule1F1B
from virtual_work import virtual_work

from zeus.integrations.pipelining import PipelineFrequencies  # for Zeus

VOCABULARY, WIDTH, LENGTH, HEADS = 64, 32, 16, 4
MICROBATCHES, BATCH = 8, 16
LAYERS = (3, 4, 4, 3)  # of each stage; the first also has the embedding, and the last the head
SEED = 1


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(WIDTH) for _ in range(2))
        self.mix = torch.nn.Linear(WIDTH, 3 * WIDTH)
        self.out = torch.nn.Linear(WIDTH, WIDTH)
        self.feed = torch.nn.Sequential(torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.GELU(), torch.nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        heads = self.mix(self.norms[0](x)).view(*x.shape[:2], 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        seen = torch.nn.functional.scaled_dot_product_attention(*heads, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(x.shape))
        return x + self.feed(self.norms[1](x))


class Stage(torch.nn.Module):
    def __init__(self, index: int, work) -> None:
        super().__init__()
        self.work = work
        self.embed = torch.nn.Embedding(VOCABULARY, WIDTH) if index == 0 else None
        self.blocks = torch.nn.ModuleList(Block() for _ in range(LAYERS[index]))
        self.head = torch.nn.Linear(WIDTH, VOCABULARY) if index == len(LAYERS) - 1 else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with self.work.forward():
            x = x if self.embed is None else self.embed(x)
            for block in self.blocks:
                x = block(x)
            x = x if self.head is None else self.head(x)
        return self.work.backward(x)


def loss_of(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.cross_entropy(output.flatten(0, 1), target.flatten())


def batch_of(step: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Sequences in which each letter follows from the one before."""
    draw = torch.Generator().manual_seed(SEED + step)
    letters = torch.randint(VOCABULARY, (BATCH, 1), generator=draw)
    for _ in range(LENGTH):
        letters = torch.cat([letters, (letters[:, -1:] * 5 + 3) % VOCABULARY], dim=1)
    return letters[:, :-1], letters[:, 1:]


def stage_of(index: int, work) -> Stage:
    torch.manual_seed(SEED + index)
    return Stage(index, work)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=32)
    parser.add_argument("--measure", type=int, default=8, help="iterations to measure without and with the plan")
    parser.add_argument("--record", default="pipeline", help="the folder for what is measured")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rank = int(os.environ["RANK"])
    on_gpu = torch.cuda.is_available()
    device = torch.device("cuda", rank) if on_gpu else torch.device("cpu")
    torch.distributed.init_process_group("nccl" if on_gpu else "gloo")
    module = stage_of(rank, virtual_work(rank, LAYERS[rank] + (rank in (0, 3)) * 0.5)).to(device)
    optimizer = torch.optim.AdamW(module.parameters(), lr=3e-3)
    schedule = Schedule1F1B(PipelineStage(module, rank, len(LAYERS), device), MICROBATCHES, loss_fn=loss_of)
    frequencies = PipelineFrequencies(schedule, rank, measure=arguments.measure, record=arguments.record)  # for Zeus
    for step in range(arguments.steps):
        inputs, targets = (each.to(device) for each in batch_of(step))
        optimizer.zero_grad()
        losses: list[torch.Tensor] = []
        if rank == 0:
            schedule.step(inputs)
        else:
            schedule.step(target=targets, losses=losses)
        optimizer.step()
        if losses:
            print(f"step {step}: loss {torch.stack(losses).mean():.6f}", flush=True)
    frequencies.close()
    if rank == 0:
        print(frequencies.summary or f"no plan: {frequencies.trouble}")
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
