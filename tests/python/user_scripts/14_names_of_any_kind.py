# Windows named by numbers and pairs, like dictionary keys.
import json
import time

from zeus.monitor import ZeusMonitor

monitor = ZeusMonitor(gpu_indices=[0], log_file="log.csv")
results = {}
for epoch in range(2):
    monitor.begin_window(epoch)
    for step in range(2):
        monitor.begin_window((epoch, step))
        time.sleep(0.8)
        results[(epoch, step)] = monitor.end_window((epoch, step))
    results[epoch] = monitor.end_window(epoch)
still_open = list(monitor.measurement_states)
lines = open("log.csv").read().splitlines()
print(json.dumps({"same": {"names": [str(name) for name in results], "open": still_open, "lines": len(lines)},
                  "measured": [{"time": each.time, "gpu_energy": each.gpu_energy} for each in results.values()]}))
