# A measurement is written to a JSON file as it is.
# every run
import json
import time

from zeus.monitor import ZeusMonitor

monitor = ZeusMonitor(gpu_indices=[0, 1], cpu_indices=[])
monitor.begin_window("run")
time.sleep(1.0)
result = monitor.end_window("run")
with open("result.json", "w") as file:
    json.dump(vars(result), file)
again = json.load(open("result.json"))
print(json.dumps({"same": {"keys": sorted(again), "dict": sorted(result.__dict__), "gpus": list(again["gpu_energy"])},
                  "measured": [again]}))
