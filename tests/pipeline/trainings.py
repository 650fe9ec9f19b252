"""Forks the processes of trainings from one that has imported PyTorch, since importing it takes seconds of a processor each time.

  trainings.py     runs what each line of stdin asks for, and answers each with a line of JSON:
                   {"module": "pipelined_rank", "ranks": 2, "arguments": [...], "environment": {...}, "folder": "/where/ranks/speak"},
                   and "patience" in seconds
                   {"codes": [0, 0], "said": "the end of what ranks wrote"}

This process itself opens no GPU, for the virtual driver does not outlive a fork.
"""

import contextlib
import faulthandler
import importlib
import json
import multiprocessing
import os
import pathlib
import random
import signal
import socket
import sys
import time

import torch.distributed.pipelining  # noqa: F401

from zeus.integrations import pipelining  # noqa: F401

PATIENCE = 560.0  # seconds; a rank that takes longer hangs


def free_port() -> int:
    """Below those that the system gives to connections, so that no other program's takes it before it is bound."""
    while True:
        port = random.randrange(20000, 32000)
        with contextlib.suppress(OSError), socket.socket() as listener:
            listener.bind(("127.0.0.1", port))
            return port


def run(module: str, arguments: list, environment: dict, output: pathlib.Path) -> None:
    os.environ.update(environment)
    with open(output, "w", encoding="utf-8") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
    faulthandler.enable()
    importlib.import_module(module).main(arguments)
    sys.stdout.flush()


def start(module: str, ranks: int, arguments: list, environment: dict, folder: pathlib.Path) -> list:
    """The ranks' processes, each of which writes OUTPUT-N.txt into the folder."""
    group = {**environment, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": str(ranks)}
    fork = multiprocessing.get_context("fork")
    processes = [fork.Process(target=run, args=(module, arguments, {**group, "RANK": str(rank)}, output_of(folder, rank)))
                 for rank in range(ranks)]
    for process in processes:
        process.start()
    return processes


def output_of(folder: pathlib.Path, rank: int) -> pathlib.Path:
    return folder / f"output-{rank}.txt"


def wait_for(processes: list, patience: float) -> bool:
    """Whether all have ended in time; the others are ended."""
    deadline = time.monotonic() + patience
    for process in processes:
        process.join(max(deadline - time.monotonic(), 0.0))
    hang = [process for process in processes if process.is_alive()]
    for process in hang:
        os.kill(process.pid, signal.SIGABRT)  # and writes what it is doing
        process.join()
    return not hang


def main() -> None:
    for line in sys.stdin:
        wanted = json.loads(line)
        folder = pathlib.Path(wanted["folder"])
        processes = start(wanted["module"], wanted["ranks"], wanted["arguments"], wanted["environment"], folder)
        wait_for(processes, wanted.get("patience", PATIENCE))
        said = [output_of(folder, rank).read_text(encoding="utf-8")[-2000:] for rank in range(len(processes))]
        sys.stdout.write(json.dumps({"codes": [process.exitcode for process in processes], "said": "\n".join(said)}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
