# The monitor's own log, read again with the csv module.
import csv
import json
import time

from zeus.monitor import ZeusMonitor

monitor = ZeusMonitor(gpu_indices=[0, 1], log_file="runs/energy.csv")
for name in ("warm up", "train", "evaluate"):
    monitor.begin_window(name)
    time.sleep(1.0)
    monitor.end_window(name)
with open("runs/energy.csv", newline="") as file:
    rows = list(csv.DictReader(file))
print(json.dumps({
    "same": {"columns": list(rows[0]), "names": [row["window_name"] for row in rows],
             "in order": sorted(row["start_time"] for row in rows) == [row["start_time"] for row in rows]},
    "measured": [{"time": float(row["elapsed_time"]), "gpu_energy": {gpu: float(row[f"gpu{gpu}_energy"]) for gpu in (0, 1)}}
                 for row in rows]}))
