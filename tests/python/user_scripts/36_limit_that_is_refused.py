# A limit beyond what the GPU allows is refused, and the script falls back to the highest.
# differs: what is set is put back when the script ends, and one WARNING says so
import json
import warnings

from zeus.device import get_gpus
from zeus.device.exception import ZeusBaseGPUError
from zeus.exception import ZeusBaseError

warnings.simplefilter("ignore")
gpus = get_gpus()
lowest, highest = gpus.get_power_management_limit_constraints(1)
refused = []
for limit in (highest + 1000, lowest - 1000, 0):
    try:
        gpus.set_power_management_limit(1, limit)
    except ZeusBaseGPUError as error:
        refused.append([isinstance(error, ZeusBaseError), isinstance(error.message, str)])
        gpus.set_power_management_limit(1, highest)
print(json.dumps({"same": {"refused": refused, "limit": gpus.get_power_management_limit(1)}}))
