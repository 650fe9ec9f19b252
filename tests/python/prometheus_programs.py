"""Debian's Pushgateway and Prometheus, for tests, and the reading of what they answer."""

import contextlib
import random
import re
import shutil
import socket
import subprocess
import time
import unittest
import urllib.request

LINE = re.compile(r'([a-z_]+)\{(.*)\} (\S+)')


def get(url: str) -> str:
    with urllib.request.urlopen(url, timeout=20) as answer:
        return answer.read().decode()


def samples(text: str, job: str) -> dict:
    """Name and labels, without the job's and an empty instance, to value."""
    found = {}
    for line in text.splitlines():
        match = LINE.fullmatch(line)
        if match:
            labels = dict(re.findall(r'([a-z_]+)="((?:[^"\\]|\\.)*)"', match[2]))
            if labels.pop("job", None) == job:
                labels.pop("instance", None)
                found[(match[1], *sorted(labels.items()))] = float(match[3])
    return found


def key(name: str, window: str, index: int, **more: str) -> tuple:
    return (name, *sorted({"window": window, "index": str(index), **more}.items()))


def free_port() -> int:
    """Below those that the system gives to connections, so that no other program's takes it before it is bound."""
    while True:
        port = random.randrange(20000, 32000)
        with contextlib.suppress(OSError), socket.socket() as found:
            found.bind(("127.0.0.1", port))
            return port


@contextlib.contextmanager
def running(program: str, ready: str, *arguments: str):
    if shutil.which(program) is None:
        raise unittest.SkipTest(f"skipped: {program} is not installed; Debian has a package of that name")
    with subprocess.Popen([program, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(600):
                with contextlib.suppress(OSError):
                    get(ready)
                    break
                time.sleep(0.05)
            yield
        finally:
            process.terminate()


@contextlib.contextmanager
def gateway():
    address = f"127.0.0.1:{free_port()}"
    with running("prometheus-pushgateway", f"http://{address}/-/ready", f"--web.listen-address={address}", "--persistence.file="):
        yield address
