# Coroutines that wait for one another, each measured.
import asyncio
import json

from zeus.monitor import ZeusMonitor

monitor = ZeusMonitor(gpu_indices=[0])


async def generate(prompt, seconds):
    monitor.begin_window(prompt, sync_execution=False)
    await asyncio.sleep(seconds)
    return prompt, monitor.end_window(prompt, sync_execution=False)


async def main():
    return await asyncio.gather(generate("long", 1.2), generate("short", 0.6), generate("middle", 0.9))

results = asyncio.run(main())
print(json.dumps({"same": sorted(dict(results), key=lambda prompt: dict(results)[prompt].time),
                  "measured": [{"time": each.time, "gpu_energy": each.gpu_energy} for _, each in results]}))
