"""Trains with PyTorch's DistributedDataParallel, a process for each GPU (on the CPU if PyTorch sees no GPU), and finds the power
limit meanwhile. The lines that end with `# Zeus` are all that Zeus takes."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset
from zeus.monitor import ZeusMonitor  # Zeus
from zeus.optimizer.power_limit import GlobalPowerLimitOptimizer, MaxSlowdownConstraint  # Zeus

CUDA = torch.cuda.is_available()
EPOCHS, BATCH_SIZE = 4, 64
WIDTH, POINTS = (8192, 262144) if CUDA else (256, 32768)

dist.init_process_group("nccl" if CUDA else "gloo")
rank, local = dist.get_rank(), int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", local) if CUDA else torch.device("cpu")
if CUDA:
    torch.cuda.set_device(device)
else:
    torch.set_num_threads(1)

torch.manual_seed(0)
points = torch.randn(POINTS, 32)
data = TensorDataset(points, (points[:, :2].sum(1) > 0).long())
sampler = DistributedSampler(data)
loader = DataLoader(data, batch_size=BATCH_SIZE, sampler=sampler, pin_memory=CUDA)
layers = nn.Sequential(nn.Linear(32, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 2)).to(device)
model = DistributedDataParallel(layers, device_ids=[local] if CUDA else None)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

# All ranks set the same limit. 5 % more time is allowed.
plo = GlobalPowerLimitOptimizer(ZeusMonitor(gpu_indices=[local]), MaxSlowdownConstraint(1.05),  # Zeus
                                warmup_steps=5, profile_steps=40, pl_step=50)  # Zeus
for epoch in range(1, EPOCHS + 1):
    sampler.set_epoch(epoch)
    plo.on_epoch_begin()  # Zeus
    for features, labels in loader:
        plo.on_step_begin()  # Zeus
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(features.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()
        plo.on_step_end()  # Zeus
    plo.on_epoch_end()  # Zeus
    if rank == 0:
        print(f"epoch {epoch}: loss={loss.item():.3f}", flush=True)

if rank == 0:
    for one in plo.measurements:
        print(f"{one.power_limit} W: {one.energy:.2f} J and {one.time:.3f} s for {plo.profile_steps} steps")
    limit = getattr(plo.state, "optimal_power_limit", None)
    print(f"chosen: {limit // 1000} W" if limit else f"no choice: {plo.unoptimized}")
dist.destroy_process_group()
