# The second run uses the profile of the first, with another selector.
# differs: what is set is put back when the script ends, and one WARNING says so
import json
import pathlib
import warnings

from zeus.monitor import ZeusMonitor
from zeus.optimizer.power_limit import Done, Energy, GlobalPowerLimitOptimizer, MaxSlowdownConstraint, Time

warnings.simplefilter("ignore")
points = [(250, 1000.0, 4.0), (200, 860.0, 4.3), (150, 780.0, 5.2), (100, 900.0, 9.0)]
path = pathlib.Path("profile.json")
path.write_text(json.dumps({"measurements": [{"power_limit": w, "energy": j, "time": s} for w, j, s in points]}))
monitor = ZeusMonitor(gpu_indices=[0])
chosen = []
for selector in (Energy(), Time(), MaxSlowdownConstraint(1.1), MaxSlowdownConstraint(factor=2.5)):
    optimizer = GlobalPowerLimitOptimizer(monitor, optimum_selector=selector, profile_path=path)
    chosen.append([isinstance(optimizer.state, Done), optimizer.state.optimal_power_limit, optimizer.current_power_limit,
                   monitor.gpus.get_power_management_limit(0)])
    del optimizer
print(json.dumps({"same": chosen}))
