# A small network really trained, with a window for each epoch; the loader has workers.
# needs: torch
import json

import torch
from torch.utils.data import DataLoader, TensorDataset
from zeus.monitor import ZeusMonitor

torch.manual_seed(0)
torch.set_num_threads(1)
inputs = torch.randn(2048, 16)
data = TensorDataset(inputs, (inputs.sum(dim=1) > 0).float())
loader = DataLoader(data, batch_size=64, shuffle=True, num_workers=2)
model = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
monitor = ZeusMonitor(gpu_indices=[0])
epochs = []
for epoch in range(3):
    monitor.begin_window("epoch")
    for batch, labels in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.binary_cross_entropy_with_logits(model(batch).squeeze(1), labels)
        loss.backward()
        optimizer.step()
    epochs.append(monitor.end_window("epoch"))
print(json.dumps({"same": {"learned": loss.item() < 0.4, "epochs": len(epochs)},
                  "measured": [{"time": each.time, "gpu_energy": each.gpu_energy} for each in epochs]}))
