"""Run by existing_client_test.py in an interpreter with the existing package, as a user without rights.

  existing_client.py PART [ARGUMENT ...] [+ PART ...]

Each part prints lines of JSON, and reads a line when it should wait for a check. Readings come with the driver library's
values before and after them, or with the times before and after.
"""

import asyncio
import ctypes
import json
import sys
import time
import warnings

import pynvml
from zeus.device.cpu.rapl import RAPLCPUs
from zeus.device.gpu.nvidia import NVIDIAGPUs
from zeus.monitor import ZeusMonitor
from zeus.monitor.power_streaming import PowerStreamingClient
from zeus.optimizer.power_limit import GlobalPowerLimitOptimizer
from zeus.utils.zeusd import ZeusdClient, ZeusdConfig, require_capabilities

GPUS = [0, 1]
CPUS = [0, 1]


class Truth(ctypes.Structure):
    _fields_ = [(name, ctypes.c_double) for name in ("time", "energy", "power", "work", "speed", "clock", "temperature")]


def tell(**facts: object) -> None:
    print(json.dumps(facts), flush=True)


def show(**facts: object) -> None:
    """Until the test has checked it."""
    tell(**facts)
    sys.stdin.readline()


def handles() -> list:
    pynvml.nvmlInit()
    return [pynvml.nvmlDeviceGetHandleByIndex(gpu) for gpu in GPUS]


def joules_around(read) -> dict:
    """The result of `read`, with the driver's counter (mJ) before and after."""
    before = [pynvml.nvmlDeviceGetTotalEnergyConsumption(each) for each in handles()]
    value = read()
    return {"before": before, "told": value, "after": [pynvml.nvmlDeviceGetTotalEnergyConsumption(each) for each in handles()]}


def times_around(read) -> dict:
    before = time.monotonic()
    value = read()
    return {"before": before, "told": value, "after": time.monotonic()}


def name_of_failure(work) -> str:
    try:
        work()
    except Exception as error:  # noqa: BLE001: its name is what is told
        return f"{type(error).__name__}: {error}"
    return "none"


def refused() -> None:
    tell(connect=name_of_failure(ZeusdClient),
         limit=name_of_failure(lambda: NVIDIAGPUs().set_power_management_limit(0, 150_000)),
         energy=name_of_failure(lambda: RAPLCPUs().cpus[0].get_total_energy_consumption()),
         optimizer=name_of_failure(lambda: GlobalPowerLimitOptimizer(ZeusMonitor(gpu_indices=GPUS, cpu_indices=[]))))


def capabilities() -> None:
    """What this user may and may not do."""
    client = ZeusdClient()
    everything = {"read_gpu": True, "control_gpu": True, "read_cpu": True}
    tell(error=client.auth_error, may=[client.can_read_gpu, client.can_control_gpu, client.can_read_cpu],
         scopes=sorted(client.granted_scopes), all=name_of_failure(lambda: require_capabilities(client, **everything)),
         these=name_of_failure(lambda: require_capabilities(client, **everything, gpu_ids=GPUS, cpu_ids=CPUS)),
         others=name_of_failure(lambda: require_capabilities(client, gpu_ids=[1, 7], cpu_ids=[8])))


def client(token: str) -> None:
    """Each method of the client, and the two routes without a method."""
    asked = ZeusdClient()
    tell(endpoint=asked.endpoint, gpus=[(gpu.id, gpu.name) for gpu in asked.gpus], gpu_ids=asked.gpu_ids, cpu_ids=asked.cpu_ids,
         cpus=[(cpu.id, cpu.dram_available) for cpu in asked.cpus], dram=asked.dram_available, auth=asked.auth_required)
    tell(energy=joules_around(lambda: asked.get_gpu_energy(GPUS)), power=asked.get_gpu_power(GPUS).power_mw,
         all_power=asked.get_gpu_power().power_mw, limit=asked.get_power_limit(), constraints=asked.get_power_limit_constraints(GPUS),
         persistence=asked.get_persistence_mode(), wall=times_around(lambda: (asked.get_time(), time.time())))
    for domains in ((True, True), (True, False), (False, True)):
        tell(cpu_energy=times_around(lambda: {cpu: (told.cpu_energy_uj, told.dram_energy_uj) for cpu, told in
                                              asked.get_cpu_energy(CPUS, *domains).items()}))  # noqa: B023: called at once
    tell(cpu_power=times_around(lambda: {cpu: (told.cpu_mw, told.dram_mw)
                                         for cpu, told in asked.get_cpu_power().power_mw.items()}))
    memory = min(pynvml.nvmlDeviceGetSupportedMemoryClocks(handles()[0]))
    for name, arguments in (("set_persistence_mode", ([1], True)), ("set_persistence_mode", ([1], False)),
                            ("set_power_limit", ([0, 1], 175_000)), ("set_power_limit", ([1], 150_000, False)),
                            ("set_gpu_locked_clocks", ([1], 600, 900)), ("reset_gpu_locked_clocks", ([1],)),
                            ("set_mem_locked_clocks", ([1], memory, memory)), ("reset_mem_locked_clocks", ([1],)),
                            ("set_gpu_locked_clocks", ([0, 1], 600, 900, False))):
        getattr(asked, name)(*arguments)
        show(set=name)
    with asked.make_client() as http:
        answer = http.post(asked.url("/gpu/reset_locked_clocks"), params={"gpu_ids": "0,1", "block": "true"})
        show(set="reset_locked_clocks", status=answer.status_code)
    own = ZeusdConfig.from_env()
    with ZeusdConfig(own.host_port, own.socket_path, token).make_client() as http:
        tell(who=http.get(own.url("/auth/whoami")).json())


def streams(readings: str) -> None:
    config = ZeusdConfig.from_env()
    watched = PowerStreamingClient([config])

    def is_whole(all_readings: dict) -> bool:
        told = all_readings.get(config.endpoint)
        return told is not None and len(told.gpu_power_w) == len(GPUS) and len(told.cpu_power_w) == len(CPUS)

    def told_of(all_readings: dict) -> dict:
        told = all_readings[config.endpoint]
        return {"gpu": told.gpu_power_w, "cpu": {cpu: (each.cpu_w, each.dram_w) for cpu, each in told.cpu_power_w.items()},
                "late": time.time() - told.timestamp_s}

    async def asynchronously() -> dict:
        async for each in watched:
            if is_whole(each):
                return told_of(each)

    heard = []
    for each in watched:
        if is_whole(each):
            heard.append(told_of(each))
        if len(heard) == int(readings):
            break
    show(heard=heard, threads=sorted(thread.name.split("-stream-")[0] for thread in watched._threads))
    tell(later=asyncio.run(asynchronously()), snapshot=told_of(watched.get_power()))
    watched.stop()
    one = PowerStreamingClient([ZeusdConfig(config.host_port, config.socket_path, config.token, [1], [])])
    for each in one:
        tell(one=told_of(each))
        break
    one.stop()
    show(missing=name_of_failure(lambda: PowerStreamingClient(
        [ZeusdConfig(config.host_port, config.socket_path, config.token, [7], [])])))


def devices() -> None:
    gpus = NVIDIAGPUs()
    tell(kinds=[type(gpu).__name__ for gpu in gpus.gpus], waits=[gpu.supports_nonblocking_setters for gpu in gpus.gpus])
    for name, arguments in (("set_persistence_mode", (1, True)), ("set_power_management_limit", (0, 175_000)),
                            ("set_power_management_limit", (1, 150_000, False)), ("set_gpu_locked_clocks", (1, 600, 900)),
                            ("reset_gpu_locked_clocks", (1,)), ("reset_power_management_limit", (0,))):
        getattr(gpus, name)(*arguments)
        show(set=name, limit=[gpus.get_power_management_limit(gpu) for gpu in GPUS], persistence=gpus.get_persistence_mode(1))
    packages = RAPLCPUs()

    def energy(cpu: int) -> tuple:
        told = packages.get_total_energy_consumption(cpu)
        return told.cpu_mj, told.dram_mj

    tell(kinds=[type(cpu).__name__ for cpu in packages.cpus],
         energy=[[times_around(lambda: energy(cpu)) for cpu in CPUS] for _ in range(3)])  # noqa: B023: called at once


def monitor(seconds: str) -> None:
    watching = ZeusMonitor(gpu_indices=GPUS)
    tell(cpus=watching.cpu_indices)
    begin = joules_around(lambda: times_around(lambda: watching.begin_window("window")))
    time.sleep(float(seconds))
    end = joules_around(lambda: times_around(lambda: vars(watching.end_window("window"))))
    tell(begin=begin, end=end)


def optimizer(work: str, step: str, warmup: str, profiled: str) -> None:
    """Trains in steps that take as long as both virtual GPUs need for this many seconds of work under their limits."""
    driver = ctypes.CDLL("libnvidia-ml.so.1")
    chosen = GlobalPowerLimitOptimizer(ZeusMonitor(gpu_indices=GPUS, cpu_indices=[]), pl_step=int(step), warmup_steps=int(warmup),
                                       profile_steps=int(profiled))

    def truth(gpu: int) -> Truth:
        told = Truth()
        driver.zeus_virtual_read_truth(gpu, ctypes.byref(told))
        return told

    # The GPUs are kept busy: after a late step, the next one catches up. No more do: steps without time take no energy.
    done = [truth(gpu).work for gpu in GPUS]
    chosen.on_epoch_begin()
    while type(chosen.state).__name__ != "Done":
        chosen.on_step_begin()
        for gpu in GPUS:
            done[gpu] = max(done[gpu], truth(gpu).work - float(work)) + float(work)
            while (left := done[gpu] - (now := truth(gpu)).work) > 1e-6:
                time.sleep(min(0.01, left / now.speed))
        chosen.on_step_end()
    chosen.on_epoch_end()
    show(limit=chosen.state.optimal_power_limit, profile=[each.dict() for each in chosen.measurements])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    words = sys.argv[1:]
    while words:
        end = words.index("+") if "+" in words else len(words)
        globals()[words[0]](*words[1:end])
        words = words[end + 1:]
