# A step that fails is not counted, and is tried again.
import json
import time

from zeus.monitor import ZeusMonitor

monitor = ZeusMonitor(gpu_indices=[0], log_file="steps.csv")
cancelled, counted = [], []
for attempt in range(3):
    monitor.begin_window("step")
    try:
        time.sleep(0.8)
        if attempt == 1:
            raise MemoryError("too large")
    except MemoryError:
        cancelled.append(monitor.end_window("step", cancel=True))
    else:
        counted.append(monitor.end_window("step"))
print(json.dumps({"same": {"cancelled": [[each.time, each.gpu_energy, each.total_energy] for each in cancelled],
                           "lines": len(open("steps.csv").read().splitlines())},
                  "measured": [{"time": each.time, "gpu_energy": each.gpu_energy} for each in counted]}))
