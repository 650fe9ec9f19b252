# Measurements travel to another process, and back from a file, as pickles.
import copy
import json
import pickle
import time

from zeus.monitor import Measurement, ZeusMonitor

monitor = ZeusMonitor(gpu_indices=[0])
monitor.begin_window("run")
time.sleep(1.0)
result = monitor.end_window("run")
with open("result.pickle", "wb") as file:
    pickle.dump({"run": result, "by hand": Measurement(time=1.0, gpu_energy={0: 2.0})}, file)
with open("result.pickle", "rb") as file:
    found = pickle.load(file)
print(json.dumps({
    "same": {"equal": found["run"] == result, "copied": copy.deepcopy(result) == result,
             "name": type(result).__qualname__, "by hand": [found["by hand"].time, found["by hand"].total_energy],
             "named in the file": b"zeus.monitor.energy" in open("result.pickle", "rb").read()},
    "measured": [{"time": found["run"].time, "gpu_energy": found["run"].gpu_energy}]}))
