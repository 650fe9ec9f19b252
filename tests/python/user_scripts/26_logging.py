# What the package logs to the user's own handler: from which loggers, and that it logs what was done.
import json
import logging

from zeus.monitor import ZeusMonitor

records = []


class Keep(logging.Handler):
    def emit(self, record):
        records.append((record.name, record.levelname, record.getMessage()))


logging.getLogger("zeus").addHandler(Keep())
logging.getLogger("zeus").setLevel(logging.DEBUG)
monitor = ZeusMonitor(gpu_indices=[0], log_file="log.csv")
monitor.begin_window("named window")
monitor.end_window("named window")
of_energy = [message for name, _, message in records if name == "zeus.monitor.energy"]
print(json.dumps({"same": {
    "energy says something": bool(of_energy), "the window is named": any("named window" in each for each in of_energy),
    "the GPUs are named": any("[0]" in each for each in of_energy),
    "nothing bad": [each for each in records if each[1] in ("WARNING", "ERROR")], "root is left alone": logging.root.handlers}}))
