# The user's own decorator that adds up a function's energy.
import collections
import functools
import json
import time

from zeus.monitor import ZeusMonitor

monitor = ZeusMonitor(gpu_indices=[0, 1])
joules, seconds = collections.Counter(), collections.Counter()


def measured(function):
    @functools.wraps(function)
    def wrapper(*arguments, **more):
        monitor.begin_window(function.__name__, sync_execution=False)
        try:
            return function(*arguments, **more)
        finally:
            result = monitor.end_window(function.__name__, sync_execution=False)
            joules[function.__name__] += result.total_energy
            seconds[function.__name__] += result.time
    return wrapper


@measured
def tokenize(text):
    time.sleep(0.4)
    return text.split()


@measured
def embed(words, size=4):
    time.sleep(0.5)
    return [[0.0] * size for _ in words]


for line in ("one two", "three"):
    embed(tokenize(line))
print(json.dumps({"same": [sorted(joules), tokenize.__name__, embed(["x"], size=2)],
                  "watts": [joules[name] / seconds[name] / 2 for name in sorted(joules)]}))
