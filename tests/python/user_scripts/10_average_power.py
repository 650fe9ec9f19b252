# Average power of each GPU, and of all together.
import json
import time

from zeus.monitor import ZeusMonitor

monitor = ZeusMonitor(gpu_indices=[0, 1])
monitor.begin_window("half a second")
time.sleep(0.5)
result = monitor.end_window("half a second")
each = [energy / result.time for energy in result.gpu_energy.values()]
print(json.dumps({"same": {"sum": abs(result.total_energy - sum(result.gpu_energy.values())) < 1e-6, "gpus": len(each)},
                  "watts": [*each, result.total_energy / result.time / 2]}))
