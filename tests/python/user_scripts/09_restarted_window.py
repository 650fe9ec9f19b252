# The clock starts again when the first batch was only a warm-up.
import json
import time

from zeus.monitor import ZeusMonitor

monitor = ZeusMonitor(gpu_indices=[0, 1])
began = time.time()
monitor.begin_window("train")
time.sleep(0.3)
monitor.begin_window("train", restart=True)
time.sleep(1.0)
train = monitor.end_window("train")
print(json.dumps({"same": {"only the second part": train.time < time.time() - began - 0.3, "open": list(monitor.measurement_states)},
                  "measured": [vars(train)]}))
