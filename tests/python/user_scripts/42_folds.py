# Cross-validation: each fold has its monitor and its optimizer.
# differs: what is set is put back when the script ends, and one WARNING says so
import json
import random
import time
import warnings

from zeus.monitor import ZeusMonitor
from zeus.optimizer.power_limit import Energy, GlobalPowerLimitOptimizer

warnings.simplefilter("ignore")
samples = list(range(24))
random.Random(1).shuffle(samples)
folds, results = [samples[part::3] for part in range(3)], []
for number, held_out in enumerate(folds):
    training = [sample for sample in samples if sample not in held_out]
    monitor = ZeusMonitor(gpu_indices=[0], log_file=f"fold{number}.csv")
    optimizer = GlobalPowerLimitOptimizer(monitor, Energy(), wait_steps=0, warmup_steps=1, profile_steps=4, pl_step=100)
    monitor.begin_window("fold")
    optimizer.on_epoch_begin()
    for _ in training:
        optimizer.on_step_begin()
        time.sleep(0.03)
        optimizer.on_step_end()
    optimizer.on_epoch_end()
    fold = monitor.end_window("fold")
    results.append({"fold": number, "state": type(optimizer.state).__name__, "tried": [each.power_limit for each in optimizer.measurements],
                    "steps": len(training), "some energy": fold.total_energy > 0})
print(json.dumps({"same": results}))
