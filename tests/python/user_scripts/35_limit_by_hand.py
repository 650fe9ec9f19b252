# The same work under three limits that are set by hand.
# differs: what is set is put back when the script ends, and one WARNING says so
import json
import time
import warnings

from zeus.device import get_gpus
from zeus.monitor import ZeusMonitor

warnings.simplefilter("ignore")
gpus = get_gpus()
monitor = ZeusMonitor(gpu_indices=[0])
results, limits = [], []
for watts in (250, 150, 100):
    gpus.set_power_management_limit(0, watts * 1000)
    limits.append(gpus.get_power_management_limit(0))
    time.sleep(0.1)
    monitor.begin_window(f"{watts} W")
    time.sleep(1.0)
    result = monitor.end_window(f"{watts} W")
    results.append(result.gpu_energy[0] / result.time / min(watts, 180) * 180)
gpus.reset_power_management_limit(0)
print(json.dumps({"same": {"limits": limits, "reset": gpus.get_power_management_limit(0)}, "watts": results}))
