# One monitor for all work, another for billed work.
import json
import time

from zeus.monitor import ZeusMonitor

everything = ZeusMonitor(log_file="all.csv")
billed = ZeusMonitor(gpu_indices=[1], log_file="billed.csv")
everything.begin_window("work")
time.sleep(0.4)
billed.begin_window("work")
time.sleep(0.8)
bill = billed.end_window("work")
whole = everything.end_window("work")
headers = [open(name).readline().strip() for name in ("all.csv", "billed.csv")]
print(json.dumps({"same": headers, "measured": [{"time": each.time, "gpu_energy": each.gpu_energy} for each in (bill, whole)]}))
