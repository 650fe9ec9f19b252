# Measurements as plain values: compared, changed, printed.
import dataclasses
import json

from zeus.monitor import Measurement
from zeus.monitor.energy import MeasurementState

one = Measurement(2.0, {0: 10.0, 1: 20.0}, {0: 5.0})
two = dataclasses.replace(one, time=4.0)
total = one.total_energy
one.gpu_energy[0] = 15.0
state = MeasurementState(time=1.5, gpu_energy={0: 100.0})
print(json.dumps({"same": {
    "text": repr(two), "total": total, "as tuple": dataclasses.astuple(two)[:2], "equal": one == dataclasses.replace(one),
    "differs": one == two, "power": [energy / two.time for energy in two.gpu_energy.values()],
    "state": [state.time, state.gpu_energy, state.cpu_energy, state.total_energy], "dict": dataclasses.asdict(two)}}, default=str))
