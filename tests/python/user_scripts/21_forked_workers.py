# Workers that are forked measure one GPU each.
import json
import multiprocessing
import time

from zeus.monitor import ZeusMonitor


def work(gpu, queue):
    monitor = ZeusMonitor(gpu_indices=[gpu])
    monitor.begin_window("work")
    time.sleep(1.0)
    result = monitor.end_window("work")
    queue.put((gpu, result.time, result.gpu_energy))


if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    workers = [context.Process(target=work, args=(gpu, queue)) for gpu in (0, 1)]
    for worker in workers:
        worker.start()
    found = sorted(queue.get() for _ in workers)
    for worker in workers:
        worker.join()
    print(json.dumps({"same": {"gpus": [gpu for gpu, _, _ in found], "exit": [worker.exitcode for worker in workers]},
                      "measured": [{"time": seconds, "gpu_energy": energy} for _, seconds, energy in found]}))
