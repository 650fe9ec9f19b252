# The optimizer and the user's own callback, called together.
# differs: what is set is put back when the script ends, and one WARNING says so
import json
import time
import warnings

from zeus.callback import Callback, CallbackSet
from zeus.monitor import ZeusMonitor
from zeus.optimizer.power_limit import GlobalPowerLimitOptimizer, Time

warnings.simplefilter("ignore")


class Count(Callback):
    def __init__(self):
        self.events = []

    def on_epoch_begin(self):
        self.events.append("epoch")

    def on_step_end(self):
        self.events.append("step")

    def on_evaluate(self, metric):
        self.events.append(metric)


count = Count()
plo = GlobalPowerLimitOptimizer(ZeusMonitor(gpu_indices=[0]), Time(), wait_steps=0, warmup_steps=1, profile_steps=4, pl_step=100)
callbacks = CallbackSet([plo, count])
callbacks.on_train_begin()
for epoch in range(2):
    callbacks.on_epoch_begin()
    for _ in range(7):
        callbacks.on_step_begin()
        time.sleep(0.04)
        callbacks.on_step_end()
    callbacks.on_epoch_end()
    callbacks.on_evaluate(0.5 + epoch)
print(json.dumps({"same": {"events": count.events, "state": type(plo.state).__name__, "tried": [each.power_limit for each in plo.measurements],
                           "a callback": isinstance(plo, Callback)}}))
callbacks.on_train_end()
