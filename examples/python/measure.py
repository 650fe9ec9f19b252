"""The energy of a piece of work, from Python."""

import time

from zeus.monitor import ZeusMonitor

monitor = ZeusMonitor()
with monitor.window("work") as window:
    time.sleep(0.5)                            # your work
measured = monitor.settle(window.measurement)  # waits until the number is final: 0.2 s on an A100
for gpu, energy in measured.details.gpu.items():
    print(f"GPU {gpu}: {energy} in {measured.time:.2f} s")
