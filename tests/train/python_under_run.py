"""A Python training for under_run_test.py: a power-limit optimizer that gets steps and epochs, and a printed metric, as in
scripts with callbacks.

  python_under_run.py
"""

import os
import time

from zeus.monitor import ZeusMonitor
from zeus.optimizer.power_limit import GlobalPowerLimitOptimizer

SAMPLES = 4800
EPOCHS = {16: 2, 32: 3, 64: 5}


def main() -> None:
    batch_size = int(os.environ["ZEUS_BATCH_SIZE"])
    optimizer = GlobalPowerLimitOptimizer(ZeusMonitor())
    optimizer.on_train_begin()
    for epoch in range(1, EPOCHS[batch_size] + 1):
        optimizer.on_epoch_begin()
        for step in range(SAMPLES // batch_size):
            optimizer.on_step_begin()
            for _ in range(4):
                time.sleep(0.001)
            optimizer.on_step_end()
            print(f"step {step + 1}/{SAMPLES // batch_size}", flush=True)
        optimizer.on_epoch_end()
        print(f"accuracy {0.9 * epoch / EPOCHS[batch_size]!r}", flush=True)
    print("unoptimized:", optimizer.unoptimized, flush=True)
    optimizer.on_train_end()


if __name__ == "__main__":
    main()
