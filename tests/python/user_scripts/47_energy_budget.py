# Training ends when its budget of joules is spent.
import json
import time

from zeus.monitor import ZeusMonitor

BUDGET = 150.0
monitor = ZeusMonitor(gpu_indices=[0, 1])
spent, epochs = 0.0, []
while spent < BUDGET and len(epochs) < 20:
    monitor.begin_window(f"epoch {len(epochs)}")
    time.sleep(0.15)
    epochs.append(monitor.end_window(f"epoch {len(epochs)}"))
    spent += epochs[-1].total_energy
print(json.dumps({"same": {"not at once": len(epochs) > 1, "spent": spent >= BUDGET},
                  "watts": [sum(each.total_energy for each in epochs) / sum(each.time for each in epochs) / 2]}))
