# A script that ends windows it never began says so, and goes on.
import json

from zeus.monitor import ZeusMonitor

monitor = ZeusMonitor(gpu_indices=[0])
told = []
for mistake in ("end", "begin twice", "end twice"):
    try:
        if mistake == "end":
            monitor.end_window("x")
        elif mistake == "begin twice":
            monitor.begin_window("x")
            monitor.begin_window("x")
        else:
            monitor.end_window("x")
            monitor.end_window("x")
    except ValueError as error:
        told.append([mistake, "already exists" in str(error), "does not exist" in str(error)])
print(json.dumps({"same": told}))
