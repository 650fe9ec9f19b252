# The user's own context manager around windows.
import contextlib
import json
import time

from zeus.monitor import ZeusMonitor

monitor = ZeusMonitor(gpu_indices=[0])
results = {}


@contextlib.contextmanager
def measured(name):
    monitor.begin_window(name)
    try:
        yield
    finally:
        results[name] = monitor.end_window(name)


with measured("outer"):
    with measured("inner"):
        time.sleep(0.8)
    with contextlib.suppress(KeyError), measured("failing"):
        time.sleep(0.8)
        raise KeyError("lost")
print(json.dumps({"same": list(results), "measured": [{"time": each.time, "gpu_energy": each.gpu_energy} for each in results.values()]}))
