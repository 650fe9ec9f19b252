#!/usr/bin/env python3
"""Compiles each header alone, so that its users need to include nothing else.

  check_headers.py [--root DIR] [--compiler g++] [HEADER ...]     all headers by default (make nightly); exit 1 if any does
                                                                  not stand alone
  check_headers.py --changed       those that the last ten commits touched, and those that include one of them

Uses ccache where it is installed, so that a second run costs little.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig

from source_tree import changed_files, source_files, why_no_history

# These need a library that a build machine may lack.
NEEDS_MORE = {"examples/mpi/mpi_collective.hpp", "include/zeus/torch.hpp"}
# These include Python's own headers.
EXTENSION = "python/native/"
INCLUDED = re.compile(r'#include [<"]([^">]+)')


def compile_alone(root: pathlib.Path, header: pathlib.Path, compiler: str, scratch: pathlib.Path) -> str:
    """The compiler's complaint; empty when the header stands alone."""
    relative = header.relative_to(root).as_posix()
    language = "c" if header.suffix == ".h" else "c++"
    unit = scratch / (relative.replace("/", "_") + (".c" if language == "c" else ".cpp"))
    unit.write_text(f'#include "{relative}"\n', encoding="utf-8")
    standard = "-std=c11" if language == "c" else "-std=c++20"
    options = ["-fvisibility=hidden"]  # both as in cmake/compile_options.cmake
    warnings = ["-Wall", "-Wextra", "-Wno-missing-field-initializers", "-Werror"]
    # By relative paths, so that ccache recognizes them in another clone.
    name = unit.relative_to(root).as_posix()
    command = [compiler, "-x", language, standard, *options, *warnings, "-Iinclude", "-Isrc", "-I.", "-c", name, "-o",
               f"{name}.o"]
    if relative.startswith(EXTENSION):
        command.append("-isystem" + sysconfig.get_path("include"))
    ccache = shutil.which("ccache")
    if ccache:
        command.insert(0, ccache)
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=root)
    return "" if done.returncode == 0 else f"{relative} does not compile alone:\n{done.stderr}"


def touched(root: pathlib.Path, headers: list[pathlib.Path]) -> list[pathlib.Path]:
    """The headers that changed lately, and those that include one of them."""
    changed = set(changed_files(root, ["--max-count=10"])).intersection(headers)
    names = {re.sub("^(src|include)/", "", path.relative_to(root).as_posix()) for path in changed}
    return [path for path in headers
            if path in changed or names.intersection(INCLUDED.findall(path.read_text(encoding="utf-8")))]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--changed", action="store_true")
    parser.add_argument("headers", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    root = options.root.resolve()
    headers = [path.resolve() for path in options.headers] or source_files(root, {".hpp", ".h"})
    if options.changed:
        if reason := why_no_history(root):
            print(f"{reason}, so what changed is unknown: no header is checked; without --changed, all are")
            return 0
        headers = touched(root, headers)
    headers = [path for path in headers if path.relative_to(root).as_posix() not in NEEDS_MORE]
    scratch = root / "build-headers"  # always the same place, so that ccache recognizes the files
    scratch.mkdir(exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = list(pool.map(lambda path: compile_alone(root, path, options.compiler, scratch), headers))
    for complaint in filter(None, complaints):
        print(complaint, file=sys.stderr)
    return 1 if any(complaints) else 0


if __name__ == "__main__":
    sys.exit(main())
