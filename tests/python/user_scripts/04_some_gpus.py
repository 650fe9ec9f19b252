# Only the GPUs that this job was given, in the given order.
import json
import time

from zeus.monitor import ZeusMonitor

given = [int(part) for part in "1,0".split(",")]
monitor = ZeusMonitor(gpu_indices=given, cpu_indices=[])
monitor.begin_window("job")
time.sleep(1.0)
job = monitor.end_window("job")
first, second = job.gpu_energy.values()
print(json.dumps({"same": {"indices": monitor.gpu_indices, "order": list(job.gpu_energy), "cpus": job.cpu_energy},
                  "measured": [{"time": job.time, "gpu_energy": job.gpu_energy}], "shape": [first, second]}))
