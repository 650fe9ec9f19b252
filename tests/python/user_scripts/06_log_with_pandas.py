# The total of each kind of window, with pandas.
# needs: pandas
import json
import time

import pandas as pd
from zeus.monitor import ZeusMonitor

monitor = ZeusMonitor(gpu_indices=[0, 1], log_file="log.csv")
for _ in range(3):
    for name, seconds in (("forward", 0.3), ("backward", 0.4)):
        monitor.begin_window(name)
        time.sleep(seconds)
        monitor.end_window(name)
log = pd.read_csv("log.csv")
log["energy"] = log.filter(like="_energy").sum(axis=1)
total = log.groupby("window_name")[["elapsed_time", "energy", "gpu0_energy", "gpu1_energy"]].sum()
print(json.dumps({
    "same": {"columns": list(log.columns), "kinds": list(total.index), "types": sorted({str(each) for each in log.dtypes[2:]})},
    "measured": [{"time": row.elapsed_time, "gpu_energy": {"0": row.gpu0_energy, "1": row.gpu1_energy}} for row in total.itertuples()]}))
