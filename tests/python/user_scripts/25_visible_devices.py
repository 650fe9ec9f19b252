# The script hides a GPU from itself before the first use.
import json
import os
import time

os.environ["CUDA_VISIBLE_DEVICES"] = "1"

from zeus.device import get_gpus  # noqa: E402
from zeus.monitor import ZeusMonitor  # noqa: E402

monitor = ZeusMonitor()
monitor.begin_window("one")
time.sleep(1.0)
one = monitor.end_window("one")
print(json.dumps({"same": {"seen": len(get_gpus()), "indices": monitor.gpu_indices, "gpus": list(one.gpu_energy)},
                  "measured": [{"time": one.time, "gpu_energy": one.gpu_energy}]}))
