# A log from another machine is replayed without GPUs.
import json

from zeus.utils.testing import ReplayZeusMonitor

with open("old.csv", "w") as file:
    file.write("start_time,window_name,elapsed_time,gpu0_energy,gpu3_energy\n")
    for number in range(4):
        file.write(f"{1000.0 + number},epoch,{1.5 + number},{100.0 + number},{50.5 + number}\n")
monitor = ReplayZeusMonitor(log_file="old.csv", ignore_sync_execution=True)
epochs = []
for _ in range(4):
    monitor.begin_window("epoch")
    epochs.append(monitor.end_window("epoch"))
monitor.begin_window("epoch")
try:
    monitor.end_window("epoch")
    beyond = "nothing"
except RuntimeError:
    beyond = "told"
print(json.dumps({"same": {"gpus": list(monitor.gpu_indices), "times": [each.time for each in epochs],
                           "energies": [each.gpu_energy for each in epochs], "total": sum(each.total_energy for each in epochs), "beyond": beyond}}))
