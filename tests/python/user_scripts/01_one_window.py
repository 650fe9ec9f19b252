# The time and energy of a piece of work, as one line of JSON.
# every run
import dataclasses
import json
import time

from zeus.monitor import ZeusMonitor

monitor = ZeusMonitor()
monitor.begin_window("work")
time.sleep(1.0)
result = monitor.end_window("work")
print(json.dumps({"same": {"fields": [field.name for field in dataclasses.fields(result)], "gpus": list(result.gpu_energy)},
                  "measured": [dataclasses.asdict(result)]}))
