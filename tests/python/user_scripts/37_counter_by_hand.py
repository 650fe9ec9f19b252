# The energy counter of the driver, read twice.
import json
import time

from zeus.device import get_gpus

gpus = get_gpus()
began, before = time.time(), [gpus.get_total_energy_consumption(gpu) for gpu in (0, 1)]
time.sleep(1.0)
seconds, after = time.time() - began, [gpus.get_total_energy_consumption(gpu) for gpu in (0, 1)]
power = [gpus.get_instant_power_usage(gpu) / 1000 for gpu in (0, 1)]
joules = [(late - early) / 1000 for early, late in zip(before, after)]
print(json.dumps({"same": {"grows": [late > early for early, late in zip(before, after)], "whole": [type(each).__name__ for each in after]},
                  "watts": power, "shape": [joules, seconds]}))
