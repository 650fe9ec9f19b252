"""Trains a convolutional network on images that it draws itself, with PyTorch: on a GPU if there is one, else on the CPU. It does
not use Zeus."""

import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

CUDA = torch.cuda.is_available()
DEVICE = torch.device("cuda" if CUDA else "cpu")
SIDE, WIDTH = (64, 256) if CUDA else (16, 8)  # so that a GPU has work, and a CPU is done soon

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=64)
parser.add_argument("--epochs", type=int, default=40)
parser.add_argument("--images", type=int, default=8192)
options = parser.parse_args()


def drawn(count: int, seed: int) -> TensorDataset:
    """Noise with one brighter corner, whose number is the label."""
    draw = torch.Generator().manual_seed(seed)
    images = torch.randn(count, 1, SIDE, SIDE, generator=draw)
    labels = torch.randint(4, (count,), generator=draw)
    half = SIDE // 2
    for label in range(4):
        row, column = half * (label // 2), half * (label % 2)
        images[labels == label, :, row:row + half, column:column + half] += 0.25
    return TensorDataset(images, labels)


torch.manual_seed(0)
model = nn.Sequential(
    nn.Conv2d(1, WIDTH, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(WIDTH, WIDTH, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
    nn.Flatten(), nn.Linear(4 * WIDTH, 4),
).to(DEVICE)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
loader = DataLoader(drawn(options.images, seed=1), batch_size=options.batch_size, shuffle=True, pin_memory=CUDA)
held_out = drawn(2048, seed=2)

for epoch in range(1, options.epochs + 1):
    model.train()
    for step, (images, labels) in enumerate(loader, 1):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images.to(DEVICE)), labels.to(DEVICE))
        loss.backward()
        optimizer.step()
        print(f"step {step}/{len(loader)} loss={loss.item():.3f}")
    model.eval()
    with torch.no_grad():
        right = sum((model(images.to(DEVICE)).argmax(1) == labels.to(DEVICE)).sum().item()
                    for images, labels in DataLoader(held_out, batch_size=512))
    print(f"epoch {epoch}: val_acc={right / len(held_out):.4f}")
