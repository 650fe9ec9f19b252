#!/usr/bin/env python3
"""Holds every source file to the rules of CONTRIBUTING.md that a script can check: sizes, names, forbidden calls, and headers
that open with their contract.

  check_source.py [--root DIR]     exit 1 if anything is refused
  check_source.py --longest        also prints the longest files and functions, for reading: length alone is no reason to split
                                   what belongs together
"""

import argparse
import ast
import pathlib
import re
import sys

from source_tree import CPP_SUFFIXES, is_test, source_files

# Only very large files and functions are refused.
FILE_LINES = 1000
FUNCTION_LINES = 120
PUBLIC_HEADER_LINES = 300

REFUSED_NAMES = {"common", "util", "utils", "helper", "helpers", "manager", "misc"}

# Only base, programs, tests and drivers (which take the place of the vendor's library) may ask the system for these.
ASKS_THE_SYSTEM = re.compile(
    r"\b(?:std::)?(?:getenv|secure_getenv|setenv|popen|system|fork|execvp?e?|posix_spawnp?)\s*\("
    r"|\b(?:waitpid|waitid|wait4|prctl|sigtimedwait|sigwaitinfo)\s*\(|/proc/self/exe"
    r"|\b(?:steady_clock|system_clock|high_resolution_clock)::now\b|\bclock_gettime\s*\(|\bgettimeofday\s*\("
)
MAY_ASK = ("src/base/", "apps/", "tests/", "drivers/", "fuzz/", "bench/", "examples/", "tools/")
RANDOM_HEADER = re.compile(r"#\s*include\s*<random>")

NOT_A_FUNCTION = re.compile(r"^(?:\} )?(?:namespace|class|struct|enum|union|extern|if|for|while|switch|else|do|try|catch)\b")
STRING_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'|//.*')


class Report:
    def __init__(self) -> None:
        self.refused = 0
        self.sizes: list[tuple[int, str, str]] = []

    def refuse(self, where: str, what: str) -> None:
        self.refused += 1
        print(f"{where}: {what}", file=sys.stderr)

    def size(self, where: str, what: str, lines: int, most: int) -> None:
        self.sizes.append((lines, where, what))
        if lines > most:
            self.refuse(where, f"{what} has {lines} lines; more than {most} are refused: split it")

    def print_longest(self, count: int) -> None:
        for kind in ("the file", "the function"):
            print(f"{kind}s with most lines:")
            for lines, where, _ in sorted((size for size in self.sizes if size[2] == kind), reverse=True)[:count]:
                print(f"  {lines:5}  {where}")


def statement_start(lines: list[str], number: int) -> int:
    """The first line of the statement that ends on line `number` (signatures may take several lines)."""
    while number > 0 and lines[number - 1].rstrip() and not lines[number - 1].rstrip().endswith((";", "{", "}", ":", ">")):
        number -= 1
    return number


def cpp_functions(lines: list[str]):
    """(first line, length) of each function, by matching braces."""
    code = [STRING_OR_COMMENT.sub("", line) for line in lines]
    open_blocks: list[int | None] = []
    for number, line in enumerate(code):
        for position, character in enumerate(line):
            if character == "{":
                first = statement_start(code, number)
                header = " ".join(part.strip() for part in code[first:number]) + " " + line[:position].strip()
                is_function = ")" in header and not NOT_A_FUNCTION.match(header.strip())
                open_blocks.append(first if is_function else None)
            elif character == "}" and open_blocks:
                first = open_blocks.pop()
                if first is not None:
                    yield first + 1, number - first + 1


def python_functions(text: str):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno - node.lineno + 1


# Other people's scripts use these import paths, so their names are fixed.
NAMED_BY_OTHERS = "python/zeus_cpp/"


def check_names(report: Report, relative: pathlib.PurePath) -> None:
    if relative.as_posix().startswith(NAMED_BY_OTHERS):
        return
    for part in (*relative.parts[:-1], relative.stem):
        if part in REFUSED_NAMES:
            report.refuse(relative.as_posix(), f"'{part}' says nothing: name it after what it is for")
    if relative.suffix in CPP_SUFFIXES and not re.fullmatch(r"[a-z0-9_]+", relative.stem):
        report.refuse(relative.as_posix(), "files are named in lower_snake, after their main type or verb")


def check_calls(report: Report, relative: pathlib.PurePath, lines: list[str]) -> None:
    name = relative.as_posix()
    for number, line in enumerate(lines, 1):
        code = line.split("//")[0]
        if not name.startswith(MAY_ASK) and not is_test(relative) and ASKS_THE_SYSTEM.search(code):
            report.refuse(f"{name}:{number}", "time, environment and processes are arguments (Clock, Environment); "
                          f"only base and programs ask the system\n    {line.strip()}")
        if RANDOM_HEADER.search(code) and not name.startswith("bench/"):
            report.refuse(f"{name}:{number}", "randomness comes from base/random.hpp: that of <random> differs between "
                          "standard libraries")


def check_contract(report: Report, relative: pathlib.PurePath, lines: list[str]) -> None:
    if relative.suffix == ".cpp" or not lines:
        return
    if not lines[0].startswith(("// ", "/* ")):
        report.refuse(f"{relative.as_posix()}:1", "a header opens with a comment: what it is, who may call it from which "
                      "thread, who owns what")


def check_file(report: Report, root: pathlib.Path, path: pathlib.Path) -> None:
    relative = path.relative_to(root)
    name = relative.as_posix()
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    check_names(report, relative)
    report.size(name, "the file", len(lines), FILE_LINES)
    for first, length in python_functions(text) if path.suffix == ".py" else cpp_functions(lines):
        report.size(f"{name}:{first}", "the function", length, FUNCTION_LINES)
    if path.suffix in CPP_SUFFIXES:
        check_calls(report, relative, lines)
        check_contract(report, relative, lines)
        if name.startswith("include/"):
            report.size(name, "the public header", len(lines), PUBLIC_HEADER_LINES)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--longest", action="store_true")
    options = parser.parse_args()
    report = Report()
    for path in source_files(options.root, CPP_SUFFIXES | {".py"}):
        check_file(report, options.root, path)
    if options.longest:
        report.print_longest(10)
    return 1 if report.refused else 0


if __name__ == "__main__":
    sys.exit(main())
