"""A character-level language model, trained for a number of iterations rather than epochs."""

import argparse
import time

import torch
import torch.nn as nn
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--batch_size", type=int, default=16)
parser.add_argument("--block_size", type=int, default=24)
parser.add_argument("--max_iters", type=int, default=320)
parser.add_argument("--eval_interval", type=int, default=40)
parser.add_argument("--eval_iters", type=int, default=5)
parser.add_argument("--log_interval", type=int, default=5)
parser.add_argument("--learning_rate", type=float, default=3e-3)
args = parser.parse_args()

torch.manual_seed(1337)
text = " ".join(f"{a} times {b} is {a * b}." for a in range(100) for b in range(20))
chars = sorted(set(text))
stoi = {ch: i for i, ch in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text], dtype=torch.long)
n = int(0.9 * len(data))
train_data, val_data = data[:n], data[n:]
print(f"dataset has {len(data):,} characters, {len(chars)} unique")


def get_batch(split):
    source = train_data if split == "train" else val_data
    ix = torch.randint(len(source) - args.block_size, (args.batch_size,))
    x = torch.stack([source[i:i + args.block_size] for i in ix])
    y = torch.stack([source[i + 1:i + args.block_size + 1] for i in ix])
    return x, y


class CharModel(nn.Module):
    def __init__(self, vocab, width=48):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, vocab)

    def forward(self, x, targets):
        logits = self.head(self.rnn(self.embed(x))[0])
        return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))


model = CharModel(len(chars))
print(f"number of parameters: {sum(p.numel() for p in model.parameters()) / 1e6:.2f}M")
optimizer = torch.optim.AdamW(model.parameters(), lr=args.learning_rate)


@torch.no_grad()
def estimate_loss():
    model.eval()
    out = {split: sum(model(*get_batch(split)).item() for _ in range(args.eval_iters)) / args.eval_iters
           for split in ("train", "val")}
    model.train()
    return out


t0 = time.time()
for iter_num in range(args.max_iters + 1):
    if iter_num % args.eval_interval == 0:
        losses = estimate_loss()
        print(f"step {iter_num}: train loss {losses['train']:.4f}, val loss {losses['val']:.4f}")
    if iter_num == args.max_iters:
        break
    loss = model(*get_batch("train"))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    t1 = time.time()
    if iter_num % args.log_interval == 0:
        print(f"iter {iter_num}: loss {loss.item():.4f}, time {(t1 - t0) * 1000:.2f}ms")
    t0 = t1
