# Requests are served in threads, each with its window on the one monitor.
import concurrent.futures
import json
import time

from zeus.monitor import ZeusMonitor

monitor = ZeusMonitor(gpu_indices=[0, 1])


def serve(request):
    name = f"request {request}"
    monitor.begin_window(name, sync_execution=False)
    time.sleep(0.6 + 0.1 * request)
    return request, monitor.end_window(name, sync_execution=False)


with concurrent.futures.ThreadPoolExecutor(4) as pool:
    results = dict(pool.map(serve, range(8)))
print(json.dumps({"same": {"requests": sorted(results), "longest": max(results, key=lambda each: results[each].time)},
                  "measured": [{"time": each.time, "gpu_energy": each.gpu_energy} for each in results.values()]}))
