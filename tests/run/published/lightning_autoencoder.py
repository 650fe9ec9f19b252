"""An autoencoder in Lightning without a bar, for the logs of a batch system: a callback prints a line an epoch."""

import argparse

import torch
from lightning.pytorch import Callback, LightningModule, Trainer
from torch import nn
from torch.utils.data import DataLoader


class LitAutoEncoder(LightningModule):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 4))
        self.decoder = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 64))

    def step(self, x):
        return nn.functional.mse_loss(self.decoder(self.encoder(x)), x)

    def training_step(self, batch, batch_idx):
        loss = self.step(batch)
        if batch_idx % 10 == 0:
            print(f"[epoch {self.current_epoch:02d}] batch {batch_idx:4d}  train_loss {loss.item():.5f}")
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, batch_idx):
        self.log("val_loss", self.step(batch))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=2e-3)


class PrintLosses(Callback):
    def on_validation_epoch_end(self, trainer, pl_module):
        if not trainer.sanity_checking:
            loss = trainer.callback_metrics["val_loss"].item()
            print(f"[epoch {trainer.current_epoch:02d}] val_loss {loss:.5f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=9)
    args = parser.parse_args()

    torch.manual_seed(3)
    waves = torch.sin(torch.linspace(0, 6, 64) * (0.5 + 2 * torch.rand(2944, 1)) + 6 * torch.rand(2944, 1))
    train_loader = DataLoader(waves[:2560], batch_size=args.batch_size, shuffle=True)
    val_loader = DataLoader(waves[2560:], batch_size=args.batch_size)
    trainer = Trainer(max_epochs=args.epochs, enable_progress_bar=False, enable_model_summary=False, logger=False,
                      enable_checkpointing=False, callbacks=[PrintLosses()])
    trainer.fit(LitAutoEncoder(), train_loader, val_loader)


if __name__ == "__main__":
    main()
