# Energy of one iteration, measured until it is steady.
import dataclasses
import json
import time

from zeus.monitor import ZeusMonitor
from zeus.profile import measure


def iteration():
    time.sleep(0.01)


result = measure(iteration, ZeusMonitor(gpu_indices=[0]), measurement_duration=0.5, cooldown_duration=0.1, num_warmup_iterations=2,
                 num_calibration_iterations=5)
print(json.dumps({"same": {"fields": [field.name for field in dataclasses.fields(result)], "iterations": result.iterations > 10,
                           "adds up": abs(result.energy_per_iter * result.iterations - result.total_energy) < 1e-6},
                  "watts": [result.total_energy / result.total_time]}))
