# The highest temperature of the GPUs.
import json
import time

from zeus.monitor import TemperatureMonitor

if __name__ == "__main__":
    monitor = TemperatureMonitor(gpu_indices=[0, 1], update_period=0.1)
    while monitor.get_temperature() is None:
        time.sleep(0.1)
    time.sleep(0.5)
    found = monitor.get_temperature_timeline()
    hottest = {gpu: max(degrees for _, degrees in samples) for gpu, samples in found.items()}
    now = monitor.get_temperature()
    monitor.stop()
    print(json.dumps({"same": {"gpus": list(hottest), "plausible": all(20 < each < 100 for each in hottest.values()), "now": list(now)}}))
