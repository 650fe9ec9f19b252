# Samples in a table of pandas, with its mean for each GPU.
# needs: pandas
import json
import time

import pandas as pd
from zeus.monitor import PowerMonitor

if __name__ == "__main__":
    began = time.time()
    monitor = PowerMonitor(update_period=0.05)
    while monitor.get_power() is None:
        time.sleep(0.1)
    time.sleep(0.5)
    rows = [{"domain": domain, "gpu": gpu, "time": when - began, "power": watts}
            for domain, found in monitor.get_all_power_timelines().items() for gpu, samples in found.items()
            for when, watts in samples]
    monitor.stop()
    table = pd.DataFrame(rows)
    table = table[table.domain == "device_instant"]
    means = table.groupby("gpu").power.mean()
    print(json.dumps({"same": {"columns": list(table.columns), "gpus": [int(each) for each in means.index],
                               "times": bool(table.time.between(0, 60).all())}, "watts": [float(each) for each in means]}))
