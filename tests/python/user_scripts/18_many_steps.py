# Every step has its window; together they are the whole.
import json
import time

from zeus.monitor import ZeusMonitor

monitor = ZeusMonitor(gpu_indices=[0])
joules = seconds = 0.0
monitor.begin_window("all")
for step in range(60):
    monitor.begin_window(f"step {step}", sync_execution=False)
    time.sleep(0.01)
    result = monitor.end_window(f"step {step}", sync_execution=False)
    joules += result.gpu_energy[0]
    seconds += result.time
whole = monitor.end_window("all")
print(json.dumps({"same": {"nothing open": len(monitor.measurement_states) == 0, "within the whole": seconds <= whole.time},
                  "watts": [joules / seconds], "measured": [{"time": whole.time, "gpu_energy": whole.gpu_energy}]}))
