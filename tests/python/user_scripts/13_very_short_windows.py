# Windows shorter than the counters' period, approximated from the current power.
import json
import warnings

from zeus.monitor import ZeusMonitor

warnings.simplefilter("ignore")
monitor = ZeusMonitor(gpu_indices=[0], approx_instant_energy=True)
results = []
for number in range(20):
    monitor.begin_window(f"tiny {number}")
    sum(range(10_000))
    results.append(monitor.end_window(f"tiny {number}"))
print(json.dumps({"same": {"all are something": all(each.gpu_energy[0] > 0 for each in results), "windows": len(results)}}))
