# And with a fork server, while the parent measures the whole.
import concurrent.futures
import json
import multiprocessing
import time

from zeus.monitor import ZeusMonitor


def work(gpu):
    monitor = ZeusMonitor(gpu_indices=[gpu])
    monitor.begin_window("part")
    time.sleep(1.0)
    part = monitor.end_window("part")
    return {"time": part.time, "gpu_energy": part.gpu_energy}


if __name__ == "__main__":
    monitor = ZeusMonitor()
    monitor.begin_window("whole")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("forkserver")) as pool:
        parts = list(pool.map(work, [0, 1, 0]))
    whole = monitor.end_window("whole")
    print(json.dumps({"same": {"parts": len(parts), "whole is longer": all(whole.time > part["time"] for part in parts)},
                      "measured": [*parts, {"time": whole.time, "gpu_energy": whole.gpu_energy}]}))
