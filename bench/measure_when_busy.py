#!/usr/bin/env python3
"""How well windows are measured while the machine has other things to do, through the driver and in real time.

  measure_when_busy.py BUILD_FOLDER [--load N...] [--pinned] [--rounds N] [--longest MS] [--cold]

Prints the table of measure_through_driver for each load: beside N more processes that want a processor all the time. From the
second load on it also prints how many times as wide the intervals are as under the first. 25 GPUs, one window of each length on
each GPU a round: 16 rounds are 400 windows a line. Not part of `make bench`, since it takes 10 minutes; `--load 0` means something
on an idle machine only.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "support"))
import busy_machine  # noqa: E402

ROW = re.compile(r"  (?P<load>\S+) +(?P<window>\d+) ms +(?:cold +)?[\d.]+ J \|"
                 r" +[\d.]+ % +(?P<settled>[\d.]+) % +[\d.]+ +(?P<settled_j>[\d.]+) J \|"
                 r" +[\d.]+ % +(?P<at_once>[\d.]+) % +[\d.]+ +(?P<at_once_j>[\d.]+) J")


def table(build: pathlib.Path, options: argparse.Namespace) -> list[re.Match]:
    command = [build / "bin/zeus", "virtual", "25xA100", "--", build / "bench/measure_through_driver", options.rounds,
               options.longest, *(["cold"] if options.cold else [])]
    rows = []
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True) as program:
        for line in program.stdout:
            print(line, end="", flush=True)
            if found := ROW.match(line):
                rows.append(found)
    if program.returncode:
        sys.exit(program.returncode)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--load", type=int, nargs="+", default=[0, 8], metavar="N", help="processes beside it (0 and 8)")
    parser.add_argument("--pinned", action="store_true", help="each of them to one processor")
    parser.add_argument("--rounds", type=int, default=16)
    parser.add_argument("--longest", type=float, default=1070, help="window, in ms (1070; the other one is 5130)")
    parser.add_argument("--cold", action="store_true", help="the counter is not read for 4 s before each window")
    options = parser.parse_args()
    first: list[re.Match] = []
    for load in options.load:
        print(f"beside {load} busy processes; {os.getloadavg()[0]:.0f} have wanted a processor in the last minute", flush=True)
        with busy_machine.busy(load, options.pinned):
            rows = table(options.build, options)
        if first:
            print(f"times as wide as beside {options.load[0]}    settled  at once")
            for alone, beside in zip(first, rows, strict=True):
                wider = [float(beside[kind]) / max(float(alone[kind]), 0.01) for kind in ("settled_j", "at_once_j")]
                print(f"  {alone['load']:<22}{alone['window']:>6} ms{wider[0]:>9.1f}{wider[1]:>9.1f}")
        print(flush=True)
        first = first or rows


if __name__ == "__main__":
    main()
