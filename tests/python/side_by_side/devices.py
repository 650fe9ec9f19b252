"""Cases of devices, of power and temperature over time, of the contents of windows, and of the small tools. On 3xH100,1xP100
that
draw 180 W each; torch is the stand-in beside the tests."""

import abc
import asyncio
import dataclasses
import itertools
import logging
import os
import pathlib
import sys
import time
import warnings

import torch
from cases import Cases
from zeus.callback import Callback, CallbackSet
from zeus.device import common, get_cpus, get_gpus, get_soc
from zeus.device.cpu.rapl import RAPLFile
from zeus.device.gpu.common import EmptyGPUs
from zeus.monitor import PowerMonitor, TemperatureMonitor, ZeusMonitor
from zeus.monitor.power import PowerDomain
from zeus.utils.async_utils import create_task
from zeus.utils.env import get_env
from zeus.utils.framework import all_reduce, get_rank, get_world_size, is_distributed, sync_execution
from zeus.utils.logging import FileAndConsole
from zeus.utils.lr_scaler import LinearScaler, SquareRootScaler
from zeus.utils.metric import avg_power, energy, zeus_cost
from zeus.utils.multiprocessing import warn_if_global_in_subprocess

WATTS = 180.0
FORMER = {
    "getName": "get_name", "getPowerManagementLimitConstraints": "get_power_management_limit_constraints",
    "getSupportedMemoryClocks": "get_supported_memory_clocks", "getInstantPowerUsage": "get_instant_power_usage",
    "getAveragePowerUsage": "get_average_power_usage", "supportsGetTotalEnergyConsumption": "supports_get_total_energy_consumption",
    "getGpuTemperature": "get_gpu_temperature"}
cases = Cases()


def warned(function, *arguments) -> tuple:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        answer = function(*arguments)
    return answer, [each.category.__name__ for each in said]


def check_gpus() -> None:
    with cases.scenario("GPUs"):
        gpus = get_gpus()
        cases.expect("are one object", get_gpus() is gpus, True)
        cases.expect("are three", (len(gpus), len(gpus.gpus)), (3, 3))
        for index in range(3):
            gpu = gpus.gpus[index]
            cases.expect(f"{index} knows its index", gpu.gpu_index, index)
            for name in ("get_name", "get_power_management_limit", "get_power_management_limit_constraints", "get_persistence_mode",
                         "get_supported_memory_clocks", "supports_get_total_energy_consumption"):
                cases.expect(f"{index}: {name} either way", getattr(gpus, name)(index), getattr(gpu, name)())
            cases.expect(f"{index}: its limits", gpu.get_power_management_limit_constraints(), (200_000, 700_000))
            cases.expect(f"{index}: its limit", gpu.get_power_management_limit(), 700_000)
            cases.expect_near(f"{index}: power now", gpu.get_instant_power_usage(), 180_000, 2000)
            cases.expect_near(f"{index}: power on average", gpu.get_average_power_usage(), 180_000, 2000)
            began, first = time.time(), gpu.get_total_energy_consumption()
            time.sleep(0.3)
            used = gpu.get_total_energy_consumption() - first
            # Within an update of the counter, a tenth of a second.
            cases.expect_near(f"{index}: energy in mJ", used, (time.time() - began) * 180_000, 20_000)
            memory = gpu.get_supported_memory_clocks()
            cases.expect(f"{index}: clocks", (max(gpu.get_supported_graphics_clocks(memory[0])) > 1000, len(memory) > 0),
                         (True, True))
            cases.expect(f"{index}: waits in setters", gpu.supports_nonblocking_setters, False)
            for former, present in FORMER.items():
                answer, said = warned(getattr(gpu, former))
                cases.expect(f"{index}: {former}", (type(answer), set(said) <= {"DeprecationWarning"}),
                             (type(getattr(gpu, present)()), True))
        for former, present in FORMER.items():
            cases.expect(f"all: {former}", type(getattr(gpus, former)(1)), type(getattr(gpus, present)(1)))
        cases.expect_error("beyond the last", "IndexError", gpus.get_name, 3)
        with cases.scenario("set"):
            for index, limit in ((0, 400_000), (1, 200_000), (2, 650_000), (0, 350_000)):
                gpus.set_power_management_limit(index, limit)
                cases.expect(f"{index} to {limit}", gpus.get_power_management_limit(index), limit)
            cases.expect_error("too high", "ZeusBaseGPUError", gpus.set_power_management_limit, 0, 900_000)
            cases.expect_error("too low", "ZeusBaseGPUError", gpus.set_power_management_limit, 0, 1_000)
            cases.expect("after what was refused", gpus.get_power_management_limit(0), 350_000)
            for index in range(3):
                gpus.reset_power_management_limit(index)
            cases.expect("reset", [gpus.get_power_management_limit(index) for index in range(3)], [700_000] * 3)
            for number, enabled in enumerate((True, False, True)):
                gpus.set_persistence_mode(0, enabled)
                cases.expect(f"persistence, {number} times changed", gpus.get_persistence_mode(0), enabled)
            clock = max(gpus.get_supported_memory_clocks(0))
            cases.expect("clocks", [gpus.set_gpu_locked_clocks(0, 600, 900), gpus.reset_gpu_locked_clocks(0),
                                    gpus.set_memory_locked_clocks(0, clock, clock), gpus.reset_memory_locked_clocks(0)], [None] * 4)
    with cases.scenario("no devices"):
        none = EmptyGPUs()
        cases.expect("no GPUs", (len(none), list(none.gpus)), (0, []))
        for name in ("get_name", "get_power_management_limit_constraints", "get_total_energy_consumption", "get_gpu_temperature"):
            cases.expect_error_with(f"no GPUs: {name}", "ValueError", "No GPUs available.", getattr(none, name), 0)
        cases.expect_error("no chip", "ZeusSoCInitError", get_soc)
        if not os.path.exists("/sys/class/powercap/intel-rapl"):
            cases.expect_error("no CPUs", "ZeusCPUInitError", get_cpus)


def doubt(measured, gpu: int) -> float:
    """Four half-widths of the stated interval, as in windows_test.py; 0 if there is none."""
    details = getattr(measured, "details", None)
    return 0.0 if details is None else 4 * details.gpu[gpu].uncertainty + 0.05


def check_truth() -> None:
    """Three ways to sleep; GPUs with an energy counter and one without."""
    with cases.scenario("windows of constant power"):
        for gpus in ([0], [1, 2], [2, 0, 1]):
            monitor = ZeusMonitor(gpu_indices=gpus, cpu_indices=[])
            for seconds in (0.05, 0.1, 0.25, 0.5):
                for again in range(3):
                    time.sleep(0.007 * again)
                    monitor.begin_window("w", sync_execution=False)
                    time.sleep(seconds)
                    measured = monitor.end_window("w", sync_execution=False)
                    for gpu, joules in measured.gpu_energy.items():
                        cases.expect_near(f"{gpus}: {seconds} s, GPU {gpu}, time {again}", joules, WATTS * measured.time,
                                          max(0.05 * WATTS * measured.time, doubt(measured, gpu)))
        rough = ZeusMonitor(gpu_indices=[0], approx_instant_energy=True)
        for number in range(5):
            rough.begin_window("w", sync_execution=False)
            measured = rough.end_window("w", sync_execution=False)
            cases.expect(f"approximated at once, time {number}", measured.gpu_energy[0] > 0, True)


def check_synchronizing() -> None:
    with cases.scenario("synchronizing"):
        for gpus in ([0], [2, 1], [0, 1, 2]):
            monitor = ZeusMonitor(gpu_indices=gpus)
            for begin, end, times in ((True, True, 2), (True, False, 1), (False, True, 1), (False, False, 0)):
                torch.synchronized.clear()
                monitor.begin_window("w", sync_execution=begin)
                monitor.end_window("w", sync_execution=end)
                cases.expect(f"{gpus}, at the beginning {begin}, at the end {end}", torch.synchronized, gpus * times)
            torch.synchronized.clear()
            monitor.begin_window("w")
            monitor.end_window("w", cancel=True)
            cases.expect(f"{gpus}, cancelled", torch.synchronized, gpus * 2)
        torch.synchronized.clear()
        sync_execution([1, 2])
        cases.expect("by hand", torch.synchronized, [1, 2])
        cases.expect_error("an unknown framework", "RuntimeError", sync_execution, [0], sync_with="caffe")
        none = ZeusMonitor(gpu_indices=[])
        torch.synchronized.clear()
        none.begin_window("w")
        none.end_window("w")
        cases.expect("without GPUs", torch.synchronized, [])


def check_old_gpu() -> None:
    with cases.scenario("a GPU without a counter"):
        monitor = ZeusMonitor(cpu_indices=[])
        monitor.begin_window("w", sync_execution=False)
        time.sleep(0.5)
        measured = monitor.end_window("w", sync_execution=False)
        cases.expect("is measured", list(measured.gpu_energy), [0])
        cases.expect_near("has its power", measured.total_energy / measured.time, WATTS, 0.1 * WATTS)


def near(watts: float) -> bool:
    """As accurate as the sensor."""
    return abs(watts - WATTS) < 2


def wait_for(first_sample) -> None:
    deadline = time.monotonic() + 20
    while first_sample() is None and time.monotonic() < deadline:
        time.sleep(0.05)


def check_power() -> None:
    with cases.scenario("power"):
        cases.expect_error("of no GPU", "ValueError", PowerMonitor, gpu_indices=[])
        cases.expect_error("in no domain", "ValueError", PowerMonitor, gpu_indices=[0], power_domains=[])
        cases.expect_error("in an unknown domain", "ValueError", PowerMonitor, gpu_indices=[0], power_domains=["nothing"])
        monitor = PowerMonitor(gpu_indices=[0, 2], update_period=0.05, power_domains=["device_instant", PowerDomain.DEVICE_AVERAGE])
        wait_for(monitor.get_power)
        began = time.time()
        time.sleep(0.6)
        ended = time.time()
        cases.expect("its GPUs", monitor.gpu_indices, [0, 2])
        cases.expect("its domains", {PowerDomain(each).value for each in monitor.measurement_domains},
                     {"device_instant", "device_average"})
        for domain in ("device_instant", PowerDomain.DEVICE_INSTANT, "device_average", PowerDomain.DEVICE_AVERAGE):
            found = monitor.get_power_timeline(domain)
            cases.expect(f"{domain}: over time", (list(found), all(found.values())), ([0, 2], True))
            cases.expect(f"{domain}: values", {near(watts) for each in found.values() for _, watts in each}, {True})
            cases.expect(f"{domain}: in order", all(each == sorted(each) for each in found.values()), True)
            cases.expect(f"{domain}: of one GPU", list(monitor.get_power_timeline(domain, gpu_index=2)), [2])
            cases.expect(f"{domain}: of a GPU it does not watch", monitor.get_power_timeline(domain, gpu_index=1), {})
            cases.expect(f"{domain}: afterwards", all(not each for each in monitor.get_power_timeline(
                domain, start_time=ended + 100).values()), True)
        joules = monitor.get_energy(began, ended)
        cases.expect("energy's GPUs", list(joules), [0, 2])
        for gpu, each in joules.items():
            cases.expect_near(f"energy of GPU {gpu}", each, WATTS * (ended - began), 0.1 * WATTS * (ended - began))
        for when in (None, (began + ended) / 2, began - 100, ended + 100):
            cases.expect(f"at {'any' if when is None else round(when - began)} s", {
                gpu: near(watts) for gpu, watts in monitor.get_power(when).items()}, {0: True, 2: True})
        cases.expect("all over time", set(monitor.get_all_power_timelines()), {"device_instant", "device_average"})
        cases.expect_error_with("in a domain it does not watch", "ValueError", "is not being monitored",
                                monitor.get_power_timeline, "memory_average")
        cases.expect("a GPU's samples", {gpu: type(each).__name__ for gpu, each in
                                         monitor.samples[PowerDomain.DEVICE_INSTANT].items()}, {0: "deque", 2: "deque"})
        monitor.stop()
        monitor.stop()
        cases.expect("stopped, it still knows", {gpu: near(watts) for gpu, watts in monitor.get_power().items()},
                     {0: True, 2: True})
    with cases.scenario("temperature"):
        cases.expect_error("of no GPU", "ValueError", TemperatureMonitor, gpu_indices=[])
        monitor = TemperatureMonitor(gpu_indices=[1], update_period=0.05)
        wait_for(monitor.get_temperature)
        cases.expect("now", {gpu: 10 < each < 100 for gpu, each in (monitor.get_temperature() or {}).items()}, {1: True})
        found = monitor.get_temperature_timeline()
        cases.expect("over time", (list(found), all(isinstance(each, int) for _, each in found[1])), ([1], True))
        cases.expect("of a GPU it does not watch", monitor.get_temperature_timeline(gpu_index=0), {})
        monitor.stop()


class Device(abc.ABC, metaclass=common.DeprecatedAliasABCMeta):
    @common.deprecated_alias("getName")
    @abc.abstractmethod
    def get_name(self) -> str: ...

    @common.deprecated_alias("setValue")
    def set_value(self, value: int) -> None:
        self.value = value


class Named(Device):
    def get_name(self) -> str:
        return "named"


@dataclasses.dataclass
class Fields(Device):
    value: int = 0

    def get_name(self) -> str:
        return f"field {self.value}"


def check_aliases() -> None:
    with cases.scenario("former names"):
        cases.expect("said once", warned(Named().getName), ("named", ["DeprecationWarning"]))
        for device, name in ((Named(), "named"), (Fields(3), "field 3")):
            cases.expect(f"{name}: said before", warned(device.getName), (name, []))
            cases.expect(f"{name}: is silent by its present name", warned(device.get_name), (name, []))
            device.setValue(7)
            cases.expect(f"{name}: passes arguments on", device.value, 7)
            device.setValue(value=8)
            cases.expect(f"{name}: passes names on", device.value, 8)
        cases.expect_error("an abstract class is not made", "TypeError", Device)


def check_environment() -> None:
    with cases.scenario("get_env"):
        for text, kind, answer in (("3", int, 3), ("-1", int, -1), ("0.5", float, 0.5), ("1e3", float, 1000.0),
                                   ("text", str, "text"), ("", str, ""), ("true", bool, True), ("True", bool, True), ("TRUE", bool, True),
                                   ("false", bool, False), ("False", bool, False), ("/tmp", pathlib.Path, pathlib.Path("/tmp"))):
            os.environ["CASE"] = text
            cases.expect(f"{text!r} as {kind.__name__}", get_env("CASE", kind), answer)
            cases.expect(f"{text!r} as {kind.__name__}, with a default", get_env("CASE", kind, default=answer), answer)
        for text, kind in (("three", int), ("3.5", int), ("half", float), ("yes", bool), ("1", bool), ("", bool), ("", int)):
            os.environ["CASE"] = text
            cases.expect_error(f"{text!r} as {kind.__name__}", "ValueError", get_env, "CASE", kind)
        del os.environ["CASE"]
        for kind, default in ((int, 5), (str, "x"), (bool, True), (bool, False), (float, 0.0), (int, 0), (str, "")):
            cases.expect(f"not set, default {default!r}", get_env("CASE", kind, default), default)
        cases.expect_error("not set, no default", "ValueError", get_env, "CASE", int)


def check_tools() -> None:
    with cases.scenario("tools"):
        for bs, lr, new in itertools.product((32, 64), (0.1, 0.01), (16, 64, 1024)):
            cases.expect_near(f"linear {bs} {lr} {new}", LinearScaler(bs=bs, lr=lr).compute_lr(new), lr * new / bs, 1e-12)
            cases.expect_near(f"square root {bs} {lr} {new}", SquareRootScaler(bs=bs, lr=lr).compute_lr(new_bs=new),
                              lr * (new / bs) ** 0.5, 1e-12)
        for eta, joules, seconds in itertools.product((0, 0.3, 1), (10.0, 2000.0), (1.0, 60.0)):
            cases.expect_near(f"cost {eta} {joules} {seconds}", zeus_cost(joules, seconds, eta, 300),
                              eta * joules + (1 - eta) * 300 * seconds, 1e-9)
        log = pathlib.Path(cases.folder) / "power.csv"
        log.write_text("Time,Power\n" + "".join(
            f"2024-01-01 00:00:{second:02}.0,{1000 * (100 + second)}\n" for second in range(12)))
        cases.expect_near("energy of a log", energy(str(log)), 1050.0, 1e-6)
        cases.expect_near("energy from 2 s on", energy(str(log), start=2), 848.0, 1e-6)
        cases.expect_near("energy up to 4 s", energy(str(log), end=4), 408.0, 1e-6)
        cases.expect_near("energy of the last 3 s", energy(str(log), start=-3), 325.5, 1e-6)
        cases.expect_near("power of a log", avg_power(str(log)), 105.0, 1e-6)
        cases.expect("alone",
                     (all_reduce([1.5, 2.0], "sum"), all_reduce([3], "max"), is_distributed(), get_rank(), get_world_size()),
                     ([1.5, 2.0], [3], False, 0, 1))
        console, path = sys.stdout, pathlib.Path(cases.folder) / "tee.txt"
        sys.stdout = sys.stderr
        tee = FileAndConsole(path)
        tee.write("said")
        tee.flush()
        sys.stdout = console
        cases.expect("said twice", path.read_text(), "said")
        told = []
        each = [Callback(), Callback()]
        for number, callback in enumerate(each):
            for name in [name for name in dir(Callback) if name.startswith("on_")]:
                setattr(callback, name, lambda *arguments, name=name, number=number: told.append((name, number, arguments)))
        both = CallbackSet(each)
        for name, arguments in (("on_train_begin", ()), ("on_epoch_begin", ()), ("on_step_begin", ()), ("on_step_end", ()),
                                ("on_instruction_begin", ("forward",)), ("on_instruction_end", ("forward",)), ("on_epoch_end", ()),
                                ("on_evaluate", (0.5,)), ("on_train_end", ())):
            told.clear()
            getattr(both, name)(*arguments)
            cases.expect(f"{name} reaches both", told, [(name, 0, arguments), (name, 1, arguments)])
            cases.expect(f"{name} does nothing by itself", getattr(Callback(), name)(*arguments), None)
        cases.expect("callbacks are kept", both.callbacks, each)
        cases.expect("no warning in a main program", warned(warn_if_global_in_subprocess, both), (None, []))

        async def fail() -> None:
            raise RuntimeError("lost")

        async def run() -> None:
            create_task(fail(), logging.getLogger("cases"))
            await asyncio.sleep(0.01)

        said: list = []
        handler = logging.Handler()
        handler.emit = said.append
        logging.getLogger("cases").addHandler(handler)
        asyncio.run(run())
        cases.expect("a task's error is logged", [record.levelname for record in said], ["ERROR"])


def check_zones() -> None:
    """Of a tree like the kernel's."""
    with cases.scenario("zones"):
        zone = pathlib.Path(cases.folder) / "intel-rapl:0"
        zone.mkdir()
        for missing in ("name", "max_energy_range_uj", "energy_uj"):
            for name, content in (("name", "package-0\n"), ("energy_uj", "5000\n"), ("max_energy_range_uj", "262143328850\n")):
                (zone / name).unlink(missing_ok=True)
                if name != missing:
                    (zone / name).write_text(content)
            cases.expect_error(f"without {missing}", "ZeusRAPLFileInitError", RAPLFile, str(zone))
        (zone / "energy_uj").write_text("5000\n")
        file = RAPLFile(str(zone))
        cases.expect("whole", (file.name, file.max_energy_range_uj), ("package-0", 262143328850.0))


def main() -> None:
    for work in (check_aliases, check_environment, check_tools, check_zones, check_synchronizing):
        cases.in_a_process_of_its_own(work, CUDA_VISIBLE_DEVICES="0,1,2")
    for work in (check_truth, check_gpus):
        cases.in_a_process_of_its_own(work, CUDA_VISIBLE_DEVICES="0,1,2")
    cases.in_a_process_of_its_own(check_power, CUDA_VISIBLE_DEVICES="0,1,2")
    cases.in_a_process_of_its_own(check_old_gpu, CUDA_VISIBLE_DEVICES="3")
    cases.print()


if __name__ == "__main__":
    main()
