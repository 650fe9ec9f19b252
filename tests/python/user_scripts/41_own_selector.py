# The user's own selector: the lowest limit whose energy is within a tenth of the least.
# differs: what is set is put back when the script ends, and one WARNING says so
import json
import time
import warnings

from zeus.monitor import ZeusMonitor
from zeus.optimizer.power_limit import Done, GlobalPowerLimitOptimizer, OptimumSelector

warnings.simplefilter("ignore")


class Lowest(OptimumSelector):
    seen = None

    def select(self, measurements):
        self.seen = [(type(each).__name__, each.power_limit, each.energy > 0, each.time > 0) for each in measurements]
        return min(each.power_limit for each in measurements)


selector = Lowest()
monitor = ZeusMonitor(gpu_indices=[0, 1])
optimizer = GlobalPowerLimitOptimizer(monitor, selector, wait_steps=0, warmup_steps=1, profile_steps=4, pl_step=75)
optimizer.on_epoch_begin()
while not isinstance(optimizer.state, Done):
    optimizer.on_step_begin()
    time.sleep(0.04)
    optimizer.on_step_end()
print(json.dumps({"same": {"seen": selector.seen, "limit": optimizer.state.optimal_power_limit,
                           "enforced": [monitor.gpus.get_power_management_limit(gpu) for gpu in (0, 1)]}}))
