"""Measures from the command line until it is interrupted: `python -m zeus.monitor energy`, `python -m zeus.monitor power`."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from datetime import datetime

from zeus_cpp.monitor import PowerMonitor, ZeusMonitor
from zeus_cpp.monitor.power import PowerDomain


def energy(gpu_indices: list[int] | None = None) -> None:
    """Measures the energy of GPUs until Ctrl-C, and prints it."""
    monitor = ZeusMonitor(gpu_indices)
    key = "zeus.monitor.energy"
    # No framework runs in this process.
    monitor.begin_window(key, sync_execution=False)
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        pass
    print("Total energy (J):", monitor.settle(monitor.end_window(key, sync_execution=False)))


def _named(values: dict[int, float]) -> dict[str, float]:
    return {f"GPU{index}": value for index, value in values.items()}


def power(gpu_indices: list[int] | None = None, update_period: float = 1.0,
          power_domain: str = PowerDomain.DEVICE_INSTANT.value) -> None:
    """Prints the power of GPUs every `update_period` seconds until Ctrl-C, and then their energy."""
    domain = PowerDomain(power_domain)
    monitor = PowerMonitor(gpu_indices, update_period, power_domains=[domain])
    began = time.time()
    try:
        while True:
            time.sleep(update_period)
            powers = monitor.get_power(power_domain=domain)
            if powers is not None:
                moment = datetime.now().isoformat(sep=" ", timespec="milliseconds")
                # In one piece, so that Ctrl-C does not tear a line.
                print(f"{moment} {_named(powers)}\n", end="", flush=True)
    except KeyboardInterrupt:
        pass
    ended = time.time()
    energies = None if domain is PowerDomain.MEMORY_AVERAGE else monitor.get_energy(began, ended, domain)
    monitor.stop()
    print("Total time (s):", ended - began)
    if energies is not None:
        print("Total energy (J):", _named(energies))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m zeus.monitor", description="Measures GPUs until it is interrupted.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, about in (("energy", "time and energy, at the end"), ("power", "power, as it changes")):
        command = commands.add_parser(name, help=about)
        command.add_argument("--gpu-indices", type=int, nargs="+", metavar="N", help="GPUs to measure (default: all)")
    command.add_argument("--update-period", type=float, default=1.0, metavar="SEC", help="seconds between lines")
    command.add_argument("--power-domain", choices=[domain.value for domain in PowerDomain],
                         default=PowerDomain.DEVICE_INSTANT.value, help="which power")
    options = vars(parser.parse_args(arguments))
    {"energy": energy, "power": power}[options.pop("command")](**options)


if __name__ == "__main__":
    main()
