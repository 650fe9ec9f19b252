# The same with processes that are spawned; what they measured comes back as it is.
# every run
import json
import multiprocessing
import time

from zeus.monitor import ZeusMonitor


def work(gpu):
    monitor = ZeusMonitor(gpu_indices=[gpu])
    monitor.begin_window("work")
    time.sleep(1.0)
    return monitor.end_window("work")


if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        results = pool.map(work, [0, 1])
    print(json.dumps({"same": [list(each.gpu_energy) for each in results],
                      "measured": [{"time": each.time, "gpu_energy": each.gpu_energy} for each in results]}))
