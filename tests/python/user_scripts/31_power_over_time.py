# Power during a run, from its samples.
import json
import time

from zeus.monitor import PowerMonitor

if __name__ == "__main__":
    monitor = PowerMonitor(gpu_indices=[0, 1], update_period=0.05)
    while monitor.get_power() is None:
        time.sleep(0.1)
    time.sleep(0.5)
    timelines = monitor.get_power_timeline("device_instant")
    now = monitor.get_power()
    monitor.stop()
    watts = [watts for samples in timelines.values() for _, watts in samples]
    print(json.dumps({"same": {"gpus": list(timelines), "now": list(now), "some": all(timelines.values())},
                      "watts": [sum(watts) / len(watts), *now.values()]}))
