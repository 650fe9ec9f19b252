# A launcher gives each child one GPU by CUDA_VISIBLE_DEVICES, and measures them all from outside.
# every run
import json
import os
import subprocess
import sys

from zeus.monitor import ZeusMonitor

CHILD = """
import json, time
from zeus.monitor import ZeusMonitor
monitor = ZeusMonitor()
monitor.begin_window("child")
time.sleep(1.0)
child = monitor.end_window("child")
print(json.dumps({"time": child.time, "gpu_energy": child.gpu_energy}))
"""

monitor = ZeusMonitor()
monitor.begin_window("children")
children = [subprocess.Popen([sys.executable, "-c", CHILD], env={**os.environ, "CUDA_VISIBLE_DEVICES": str(gpu)},
                             stdout=subprocess.PIPE, text=True) for gpu in (1, 0)]
parts = [json.loads(child.communicate()[0]) for child in children]
whole = monitor.end_window("children")
print(json.dumps({"same": {"exit": [child.returncode for child in children], "gpus": [list(part["gpu_energy"]) for part in parts],
                           "all": list(whole.gpu_energy)},
                  "measured": [*parts, {"time": whole.time, "gpu_energy": whole.gpu_energy}]}))
