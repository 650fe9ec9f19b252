# A table of the GPUs of this machine.
import json

from zeus.device import get_gpus

gpus = get_gpus()
table = []
for index in range(len(gpus)):
    lowest, highest = gpus.get_power_management_limit_constraints(index)
    table.append({"index": index, "name": gpus.get_name(index), "lowest": lowest // 1000, "highest": highest // 1000,
                  "limit": gpus.get_power_management_limit(index), "persistent": gpus.get_persistence_mode(index),
                  "memory clocks": gpus.get_supported_memory_clocks(index), "counts": gpus.supports_get_total_energy_consumption(index)})
print(json.dumps({"same": {"table": table, "homogeneous": len({row["name"] for row in table}) == 1,
                           "objects": [gpu.gpu_index for gpu in gpus.gpus]}}))
