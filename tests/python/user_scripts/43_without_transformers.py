# A script with a fallback if transformers is not installed.
import inspect
import json
import sys

sys.modules["transformers"] = None

from zeus.monitor import ZeusMonitor  # noqa: E402
from zeus.optimizer.power_limit import GlobalPowerLimitOptimizer  # noqa: E402

try:
    from zeus.optimizer.power_limit import HFGlobalPowerLimitOptimizer

    HFGlobalPowerLimitOptimizer(ZeusMonitor(gpu_indices=[0]))
    found = True
except ImportError:
    found = False
print(json.dumps({"same": {"found": found, "parameters": list(inspect.signature(GlobalPowerLimitOptimizer).parameters)[:7]}}))
