# The package's commands, as typed by a user, until Ctrl-C.
import json
import re
import signal
import subprocess
import sys
import time

results, began, takes = [], time.monotonic(), 0.0
for command in (["zeus.monitor", "power", "--gpu-indices", "0", "--update-period", "0.5"], ["zeus.monitor", "energy", "--gpu-indices", "1"],
                ["zeus.monitor"], ["zeus.monitor", "nothing"]):
    process = subprocess.Popen([sys.executable, "-um", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    said = ""
    if "power" in command:
        while "GPU0" not in said:
            said += process.stdout.readline()
        takes = time.monotonic() - began
    elif "energy" in command:
        time.sleep(2 + 3 * takes)
    if len(command) > 2:
        process.send_signal(signal.SIGINT)
    said += process.communicate(timeout=60)[0]
    results.append({"exit": process.returncode, "joules": "Total energy (J)" in said or "gpu_energy=" in said,
                    "seconds": "Total time (s)" in said or "time=" in said, "powers": bool(re.search(r"'GPU0': \d", said))})
environment = subprocess.run([sys.executable, "-m", "zeus.show_env"], capture_output=True, text=True, check=False, timeout=60)
titles = [line for line in environment.stdout.splitlines() if line.startswith("## ")]
print(json.dumps({"same": {"commands": results, "environment": environment.returncode,
                           "titles": [title for title in titles if "not work" not in title]}}))
