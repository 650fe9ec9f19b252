"""A training with Lightning that chooses the power limit while it trains and logs its energy. The two callbacks are all that Zeus
takes. On a GPU if there is one, else on the CPU."""

import logging

import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from zeus.integrations.lightning import EnergyLogger, LightningGlobalPowerLimitOptimizer
from zeus.monitor import ZeusMonitor
from zeus.optimizer.power_limit import MaxSlowdownConstraint

CUDA = torch.cuda.is_available()
WIDTH, POINTS = (8192, 131072) if CUDA else (128, 32768)
logging.getLogger("lightning.pytorch").setLevel(logging.WARNING)


class Parity(lightning.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(32, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 2))

    def training_step(self, batch: list, _: int) -> torch.Tensor:
        return nn.functional.cross_entropy(self.layers(batch[0]), batch[1])

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.05)


points = torch.randn(POINTS, 32)
data = TensorDataset(points, (points[:, :2].sum(1) > 0).long())
limits = LightningGlobalPowerLimitOptimizer(ZeusMonitor(), MaxSlowdownConstraint(1.05), warmup_steps=5, profile_steps=40, pl_step=50)
trainer = lightning.Trainer(max_epochs=4, accelerator="auto" if CUDA else "cpu", devices=1, logger=False, enable_checkpointing=False,
                            enable_progress_bar=False, enable_model_summary=False, callbacks=[limits, EnergyLogger(ZeusMonitor())])
trainer.fit(Parity(), DataLoader(data, batch_size=64, shuffle=True))
chosen = limits.optimizer
limit = getattr(chosen.state, "optimal_power_limit", None)
print(f"chosen: {limit // 1000} W" if limit else f"no choice: {chosen.unoptimized}")
print(f"the last epoch: {trainer.callback_metrics['train_energy'].item():.1f} J")
