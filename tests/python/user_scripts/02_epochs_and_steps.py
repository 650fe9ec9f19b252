# Windows of epochs, with windows of steps within them.
import json
import time

from zeus.monitor import ZeusMonitor

monitor = ZeusMonitor(gpu_indices=[0, 1])
epochs, steps = [], []
for epoch in range(2):
    monitor.begin_window("epoch")
    for step in range(3):
        monitor.begin_window("step")
        time.sleep(0.3)
        steps.append(monitor.end_window("step"))
    epochs.append(monitor.end_window("epoch"))
within = all(sum(each.time for each in steps[3 * number:3 * number + 3]) <= epochs[number].time for number in range(2))
print(json.dumps({"same": {"epochs": len(epochs), "steps": len(steps), "steps lie within": within},
                  "measured": [{"time": each.time, "gpu_energy": each.gpu_energy} for each in epochs]}))
