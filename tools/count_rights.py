#!/usr/bin/env python3
"""Counts the lines of source that a reader of the programs with rights has to read: of each object that a program links, its
source and every header of ours that this includes, by module; what several programs share, once.

  count_rights.py BUILD [PROGRAM ...]     by default zeus_setter and zeus_guardian
                  --most LINES            exit 1 if there are more

The linker lists the objects that it takes; an object that was compiled from several sources counts with all of them. Libraries
from outside are not counted.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)


def objects_of(build: pathlib.Path, program: str) -> set[str]:
    """The paths of the objects that the program links, below the build folder."""
    commands = subprocess.run(["ninja", "-C", str(build), "-t", "commands", f"zeus_program_{program}"], capture_output=True,
                              text=True, check=True).stdout.splitlines()
    link = commands[-1].removeprefix(": && ").removesuffix(" && :")
    link = re.sub(r" -o \S+", " -o /dev/null -Wl,--trace,--trace", link)
    listed = subprocess.run(link, shell=True, cwd=build, capture_output=True, text=True, check=True).stdout.splitlines()
    found = set()
    for line in listed:
        if member := re.fullmatch(r"(?:\((.*\.a)\)(.*\.o)|(.*\.a)\((.*\.o)\))", line):
            library = pathlib.Path(member[1] or member[3]).stem.removeprefix("lib")
            found |= {str(one.relative_to(build)) for one in build.glob(f"**/{library}.dir/**/{member[2] or member[4]}")}
        elif line.startswith("apps/") and line.endswith(".o"):
            found.add(line)
    return found


def sources_of(build: pathlib.Path, made: str) -> list[pathlib.Path]:
    """The sources that an object was compiled from."""
    piece = build / made.removesuffix(".o")
    if piece.exists():
        return [root / one.split("/main/")[-1] if not pathlib.Path(one).exists() else pathlib.Path(one)
                for one in INCLUDE.findall(piece.read_text())]
    folder, name = re.fullmatch(r"(.*)/CMakeFiles/[^/]+\.dir/(.*)\.o", made).groups()
    return [root / folder / name]


def included_by(file: pathlib.Path) -> list[pathlib.Path]:
    places = (root / "src", root / "include", root)
    return [place / name for name in INCLUDE.findall(file.read_text()) for place in places if (place / name).is_file()]


def files_of(build: pathlib.Path, program: str) -> set[pathlib.Path]:
    """Each source of the program, and each header of ours that it includes."""
    left = [source.resolve() for made in objects_of(build, program) for source in sources_of(build, made)]
    found: set[pathlib.Path] = set()
    while left:
        file = left.pop()
        if file not in found:
            found.add(file)
            left += included_by(file)
    return found


def module_of(file: pathlib.Path) -> str:
    path = file.relative_to(root)
    return "/".join(path.parts[1:-1]) if path.parts[0] == "src" else path.parts[0]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=lambda word: pathlib.Path(word).resolve())
    parser.add_argument("programs", nargs="*", default=["zeus_setter", "zeus_guardian"])
    parser.add_argument("--most", type=int)
    options = parser.parse_args()
    of_programs = {program: files_of(options.build, program) for program in options.programs}
    lines = {file: len(file.read_text().splitlines()) for file in set().union(*of_programs.values())}
    modules = collections.Counter()
    for file, count in lines.items():
        modules[module_of(file)] += count
    for module, count in sorted(modules.items(), key=lambda one: -one[1]):
        print(f"{count:8,}  {module}")
    for program, files in of_programs.items():
        print(f"{sum(lines[file] for file in files):8,}  {program} alone")
    together = sum(lines.values())
    print(f"{together:8,}  together")
    if options.most is not None and together > options.most:
        sys.exit(f"the programs with rights have more than {options.most:,} lines: what do they no longer need?")


if __name__ == "__main__":
    main()
