#!/usr/bin/env python3
"""Compiles files alone, so that each includes what it uses: builds compile several sources in one piece, after precompiled headers,
which hides what is missing.

  check_alone.py [--root DIR] [--compiler g++] [FILE ...]     all headers and sources by default (make nightly); exit 1 if any
                                                              does not compile
  check_alone.py --changed       those that the last ten commits touched, headers that include one of them, and sources whose
                                 own header is one of them
  check_alone.py --minutes N     the same for the commits of the last day, the latest changes first; begins no file after so many
                                 minutes, and says how many are left
  check_alone.py --headers       headers only; --sources: sources only, tests included

Sources are compiled as the database of `cmake --preset tidy` says (made when it is missing), without writing anything; headers
with ccache where it is installed, so that a second run costs little.
"""

import argparse
import json
import math
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig

from source_tree import LAST_TEN, changed_files, commits_of_a_day, in_time, source_files, why_no_history

# These need a library that a build machine may lack.
NEEDS_MORE = {"examples/mpi/mpi_collective.hpp", "include/zeus/torch.hpp"}
# These include Python's own headers.
EXTENSION = "python/native/"
INCLUDED = re.compile(r'#include [<"]([^">]+)')
HEADERS = {".hpp", ".h"}


def complaint_of(command: list, folder: pathlib.Path, name: str) -> str:
    """What the compiler says; empty when the file compiles."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    return "" if done.returncode == 0 else f"{name} does not compile alone:\n{done.stderr}"


def compile_header(root: pathlib.Path, header: pathlib.Path, compiler: str, scratch: pathlib.Path) -> str:
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
    return complaint_of(command, root, relative)


def compile_source(root: pathlib.Path, entry: dict) -> str:
    command = shlex.split(entry["command"])
    output = command.index("-o")
    del command[output:output + 2]
    while "=" in command[0] or pathlib.Path(command[0]).name in ("cmake", "-E", "env", "ccache"):
        del command[0]
    return complaint_of([*command, "-fsyntax-only"], pathlib.Path(entry["directory"]), str(pathlib.Path(entry["file"]).relative_to(root)))


def sources_of(root: pathlib.Path) -> dict[pathlib.Path, dict]:
    """The database's entries of hand-written files."""
    subprocess.run(["cmake", "--preset", "tidy"], cwd=root, stdout=subprocess.DEVNULL, check=True)
    build = root / "build-tidy"
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    files = {pathlib.Path(entry["file"]): entry for entry in entries}
    return {path: files[path] for path in sorted(files) if path.is_relative_to(root) and not path.is_relative_to(build)}


def touched(root: pathlib.Path, files: list[pathlib.Path], commits: list[str]) -> list[pathlib.Path]:
    """The files that these commits changed, the latest first; then headers that include one of them, and sources and tests whose own
    header changed."""
    changed = {path: turn for turn, path in enumerate(changed_files(root, commits))}
    headers = {path for path in changed if path.suffix in HEADERS}
    names = {re.sub("^(src|include)/", "", path.relative_to(root).as_posix()) for path in headers}
    units = {path.with_suffix("") for path in headers}
    found = [path for path in files
             if path in changed or (names.intersection(INCLUDED.findall(path.read_text(encoding="utf-8"))) if path.suffix in HEADERS
                                    else path.with_name(path.stem.removesuffix("_test")) in units)]
    return sorted(found, key=lambda path: changed.get(path, len(changed)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--compiler", default="g++", help="of headers")
    parser.add_argument("--changed", action="store_true")
    parser.add_argument("--minutes", type=float, default=math.inf, metavar="N")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--headers", action="store_true")
    kind.add_argument("--sources", action="store_true")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    root = options.root.resolve()
    in_a_day = options.minutes < math.inf
    if (options.changed or in_a_day) and (reason := why_no_history(root)):
        print(f"{reason}, so what changed is unknown: no file is checked; without --changed, all are")
        return 0

    named = [path.resolve() for path in options.files]
    headers = [path for path in named if path.suffix in HEADERS] if named else source_files(root, HEADERS)
    headers = [] if options.sources else [path for path in headers if path.relative_to(root).as_posix() not in NEEDS_MORE]
    wants_sources = not options.headers and (not named or any(path.suffix not in HEADERS for path in named))
    entries = sources_of(root) if wants_sources else {}
    if named:
        unknown = [str(path) for path in named if path.suffix not in HEADERS and path not in entries]
        if unknown:
            sys.exit(f"no target compiles {', '.join(unknown)}")
        entries = {path: entries[path] for path in named if path in entries}
    files = [*headers, *entries]
    if options.changed or in_a_day:
        files = touched(root, files, commits_of_a_day(root) if in_a_day else LAST_TEN)

    scratch = root / "build-headers"  # always the same place, so that ccache recognizes the files
    scratch.mkdir(exist_ok=True)
    complaints = [complaint for _, complaint in
                  in_time(files, lambda path: compile_source(root, entries[path]) if path in entries
                          else compile_header(root, path, options.compiler, scratch), options.minutes)]
    for complaint in filter(None, complaints):
        print(complaint, file=sys.stderr)
    if not options.headers:
        left = complaints.count(None)
        print(f"{len(files) - left} files compiled alone" + (f"; the time is up: {left} are left for `make nightly`" if left else ""))
    return 1 if any(complaints) else 0


if __name__ == "__main__":
    sys.exit(main())
