"""Trains a small network on spirals, with a bar for each epoch."""

import argparse
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split
from tqdm import tqdm


def spirals(n, arms=3):
    arm = torch.arange(n) % arms
    r = torch.rand(n)
    angle = 3 * r + 2 * math.pi * arm / arms + 0.15 * torch.randn(n)
    return torch.stack([r * angle.cos(), r * angle.sin()], dim=1), arm


def accuracy(model, loader):
    model.eval()
    hits = total = 0
    with torch.no_grad():
        for x, y in loader:
            hits += (model(x).argmax(1) == y).sum().item()
            total += len(y)
    return hits / total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=50)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    data = TensorDataset(*spirals(2500))
    train_set, val_set = random_split(data, [2000, 500])
    train_loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=256)

    model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3))
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)

    best = 0.0
    for epoch in range(args.epochs):
        model.train()
        running_loss = 0.0
        bar = tqdm(train_loader, desc=f"Epoch {epoch + 1}/{args.epochs}")
        for x, y in bar:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            running_loss += loss.item()
            bar.set_postfix(loss=f"{loss.item():.3f}")
        val_acc = accuracy(model, val_loader)
        best = max(best, val_acc)
        print(f"Epoch {epoch + 1}: train_loss={running_loss / len(train_loader):.4f} val_acc={val_acc:.4f}")
    print(f"Best validation accuracy: {best:.4f}")


if __name__ == "__main__":
    main()
