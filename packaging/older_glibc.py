#!/usr/bin/env python3
"""Writes libraries to link against instead of this system's glibc: they have its symbols with the newest version that an older glibc
has, and no code. What is linked against them runs with that glibc and all later ones, or the linker names the symbol that it lacks
(packaging/older_glibc.c has what our programs need of those).

  older_glibc.py 2.28 FOLDER     the folder is for the linker's -L, before the system's
"""

import pathlib
import re
import subprocess
import sys

LIBRARIES = ("libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2")
# Whose symbols have moved into libc. Programs of an older glibc need them by name.
EMPTIED = ("libpthread.so.0", "libdl.so.2", "librt.so.1")
SYMBOL = re.compile(r"^\s*\d+: [0-9a-f]+\s+(\d+|0x[0-9a-f]+) (FUNC|IFUNC|OBJECT|TLS|NOTYPE)\s+(?:GLOBAL|WEAK)\s+DEFAULT\s+(?:\d+|ABS) "
                    r"(\w+)@@?GLIBC_([\d.]+)$", re.MULTILINE)


def number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def of_library(path: str, newest: str) -> dict[str, tuple[str, str, int]]:
    """Symbol to (version, type, size)."""
    found: dict[str, tuple[str, str, int]] = {}
    listed = subprocess.run(["readelf", "--dyn-syms", "--wide", path], capture_output=True, text=True, check=True).stdout
    for size, kind, name, version in SYMBOL.findall(listed):
        if number(version) <= number(newest) and (name not in found or number(version) > number(found[name][0])):
            found[name] = (version, kind, int(size, 0))
    return found


def assembly(symbols: dict[str, tuple[str, str, int]]) -> str:
    lines = []
    for name, (version, kind, size) in sorted(symbols.items()):
        section = ".text" if kind in ("FUNC", "IFUNC") else '.section .tbss,"awT",@nobits' if kind == "TLS" else ".bss"
        kind = {"IFUNC": "function", "FUNC": "function", "TLS": "tls_object"}.get(kind, "object")
        lines += [section, f".symver stub_{name}, {name}@@@GLIBC_{version}", f".globl stub_{name}", f".type stub_{name}, @{kind}",
                  f".size stub_{name}, {size}", f"stub_{name}:", ".skip 8" if section == ".text" else f".skip {max(size, 1)}"]
    return "\n".join([*lines, '.section .note.GNU-stack,"",@progbits', ""])


def make(folder: pathlib.Path, name: str, symbols: dict[str, tuple[str, str, int]]) -> None:
    source, script = folder / f"{name}.s", folder / f"{name}.map"
    source.write_text(assembly(symbols), encoding="utf-8")
    versions = sorted({version for version, _, _ in symbols.values()}, key=number)
    script.write_text("".join(f"GLIBC_{version} {{ }};\n" for version in versions), encoding="utf-8")
    scripted = [f"-Wl,--version-script={script}"] if versions else []
    subprocess.run(["gcc", "-shared", "-nostdlib", f"-Wl,-soname,{name}", *scripted, "-o", folder / name, source], check=True)


def main() -> None:
    newest, folder = sys.argv[1], pathlib.Path(sys.argv[2]).absolute()
    folder.mkdir(parents=True, exist_ok=True)

    def system(name: str) -> str:
        return subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip()

    for name in LIBRARIES:
        make(folder, name, of_library(system(name), newest))
    for name in EMPTIED:
        make(folder, name, {})
    # Where the linker looks for -lc, -lm and the rest.
    needed = " ".join(str(folder / name) for name in EMPTIED)
    (folder / "libc.so").write_text(f"GROUP ( {folder}/libc.so.6 {system('libc_nonshared.a')} {needed} "
                                    f"AS_NEEDED ( {folder}/ld-linux-x86-64.so.2 ) )\n", encoding="utf-8")
    (folder / "libm.so").write_text(f"GROUP ( {folder}/libm.so.6 )\n", encoding="utf-8")
    for name in ("pthread", "dl", "rt"):
        (folder / f"lib{name}.so").write_text(f"GROUP ( {folder}/libc.so.6 )\n", encoding="utf-8")


if __name__ == "__main__":
    main()
