# A training loop under the optimizer: what it tried, what it wrote, and that it finished.
# every run
# differs: what is set is put back when the script ends, and one WARNING says so
import json
import time
import warnings

from zeus.monitor import ZeusMonitor
from zeus.optimizer.power_limit import GlobalPowerLimitOptimizer

warnings.simplefilter("ignore")
monitor = ZeusMonitor(gpu_indices=[0, 1])
optimizer = GlobalPowerLimitOptimizer(monitor, wait_steps=1, warmup_steps=1, profile_steps=5, pl_step=50, profile_path="profile.json")
states = []
for epoch in range(2):
    optimizer.on_epoch_begin()
    for step in range(16):
        optimizer.on_step_begin()
        time.sleep(0.1)
        optimizer.on_step_end()
        states.append(type(optimizer.state).__name__)
    optimizer.on_epoch_end()
profile = json.load(open("profile.json"))["measurements"]
print(json.dumps({
    "same": {"limits": [each["power_limit"] for each in profile], "keys": sorted(profile[0]), "states": sorted(set(states)),
             "last": states[-1], "measured": len(optimizer.measurements), "tried": optimizer.power_limits},
    "watts": [each["energy"] / each["time"] / 2 / min(180, each["power_limit"]) * 180 for each in profile]}))
