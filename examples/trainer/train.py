"""A training with Hugging Face's Trainer that chooses the power limit while it trains. The callback is the only change for
Zeus."""

import torch
from transformers import Trainer, TrainingArguments
from zeus.monitor import ZeusMonitor
from zeus.optimizer.power_limit import HFGlobalPowerLimitOptimizer


class Parity(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 2))

    def forward(self, features: torch.Tensor, labels: torch.Tensor) -> dict:
        answers = self.layers(features)
        return {"loss": torch.nn.functional.cross_entropy(answers, labels), "logits": answers}


points = torch.randn(32768, 16)
data = [{"features": point, "labels": (point[:2].sum() > 0).long()} for point in points]
callback = HFGlobalPowerLimitOptimizer(ZeusMonitor(), warmup_steps=5, profile_steps=10, pl_step=50)
arguments = TrainingArguments("parity", per_device_train_batch_size=32, num_train_epochs=5, report_to=[], save_strategy="no",
                              use_cpu=True, disable_tqdm=True)
Trainer(Parity(), arguments, train_dataset=data, callbacks=[callback]).train()
state = callback.optimizer.state
print(f"done: {state.optimal_power_limit // 1000} W" if hasattr(state, "optimal_power_limit") else f"not done: {state}")
