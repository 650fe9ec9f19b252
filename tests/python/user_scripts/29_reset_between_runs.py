# Windows that a failed run left open are dropped before the next.
import json
import time

from zeus.monitor import ZeusMonitor

monitor = ZeusMonitor(gpu_indices=[0])
opened = []
for run in range(3):
    monitor.begin_window("run")
    monitor.begin_window(f"detail {run}")
    opened.append(sorted(monitor.measurement_states))
    monitor.reset_windows()
monitor.begin_window("run")
time.sleep(1.0)
run = monitor.end_window("run")
print(json.dumps({"same": opened, "measured": [{"time": run.time, "gpu_energy": run.gpu_energy}]}))
