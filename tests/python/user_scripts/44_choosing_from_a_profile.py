# What different aims would choose from one profile, without any GPU being set.
import json

from zeus.optimizer.power_limit import Energy, MaxSlowdownConstraint, PowerLimitMeasurement, Time, ZeusCost
from zeus.utils.metric import zeus_cost

profile = [PowerLimitMeasurement(power_limit=300, energy=3000.0, time=10.0), PowerLimitMeasurement(power_limit=250, energy=2600.0, time=10.4),
           PowerLimitMeasurement(power_limit=200, energy=2300.0, time=11.5), PowerLimitMeasurement(power_limit=150, energy=2250.0, time=15.0),
           PowerLimitMeasurement(power_limit=100, energy=2700.0, time=27.0)]
chosen = {"energy": Energy().select(profile), "time": Time().select(profile)}
for tenth in range(11):
    chosen[f"eta {tenth / 10}"] = ZeusCost(eta_knob=tenth / 10, world_size=1).select(profile)
for factor in (1.0, 1.04, 1.1, 1.15, 1.5, 2.7, 10.0):
    chosen[f"factor {factor}"] = MaxSlowdownConstraint(factor=factor).select(profile)
costs = {each.power_limit: round(zeus_cost(each.energy, each.time, 0.5, 300), 6) for each in profile}
print(json.dumps({"same": [chosen, costs, profile[0].dict(), json.loads(profile[1].json())]}))
