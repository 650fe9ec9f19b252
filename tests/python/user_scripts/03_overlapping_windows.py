# Loading overlaps with computing; each has its window.
import json
import time

from zeus.monitor import ZeusMonitor

monitor = ZeusMonitor(gpu_indices=[0])
monitor.begin_window("load")
time.sleep(0.5)
monitor.begin_window("compute")
time.sleep(0.5)
load = monitor.end_window("load")
time.sleep(0.5)
compute = monitor.end_window("compute")
print(json.dumps({"same": {"loads before": load.time >= 1.0, "computes while loading": compute.time >= 1.0},
                  "measured": [{"time": each.time, "gpu_energy": each.gpu_energy} for each in (load, compute)]}))
