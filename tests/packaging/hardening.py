"""What a hardened program or library has, by `readelf`."""

import pathlib
import re
import subprocess


def readelf(*words: object) -> str:
    return subprocess.run(["readelf", "--wide", *map(str, words)], capture_output=True, text=True, check=True).stdout


def is_elf(file: pathlib.Path) -> bool:
    with open(file, "rb") as content:
        return content.read(4) == b"\x7fELF"


def faults_of(file: pathlib.Path) -> list[str]:
    """What it lacks of what the linker gives to every file."""
    headers = readelf("--file-header", "--program-headers", file)
    dynamic = readelf("--dynamic", file)
    faults = []
    if not re.search(r"Type:\s+DYN", headers):
        faults.append("its address is not random")
    if "GNU_RELRO" not in headers:
        faults.append("its tables of functions stay writable")
    if not re.search(r"FLAGS.*\b(BIND_NOW|NOW)\b", dynamic):
        faults.append("functions are bound when they are first called")
    if re.search(r"GNU_STACK.*RWE", headers):
        faults.append("its stack can be executed")
    return faults


def checks_of(file: pathlib.Path) -> set[str]:
    """The functions that it calls when a check fails, and the checked forms of the C library's functions."""
    return set(re.findall(r"\b(__stack_chk_fail|__\w+_chk)\b", readelf("--dyn-syms", file)))
