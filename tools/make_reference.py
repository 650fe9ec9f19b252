#!/usr/bin/env python3
"""Writes docs/reference: the command line from what `--help` prints (its golden files, which cli.contract holds to the parser),
C++ and C from the public headers, Python from its interface (the golden file that python.types holds to the package).

  make_reference.py             writes the pages
  make_reference.py --check     exit 1 where a page is not what would be written
"""

import argparse
import ast
import difflib
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "golden"
HEADERS = ROOT / "include" / "zeus"
# Namespaces that users do not see (tests/docs/headers_test.py has the same list).
INSIDE = {"detail", "control", "job_library", "measure", "pacing", "train"}
NOTE = "<!-- Written by tools/make_reference.py. Do not edit. -->\n\n"


def fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```\n\n"


def command_line() -> str:
    page = "# Command line\n\n" + NOTE
    page += "What `--help` prints. What scripts may rely on, JSON included, is in [contracts of the command line](../cli.md).\n\n"
    for program, folder in (("zeus", "cli"), ("zeusd", "zeusd")):
        commands = {}
        for path in sorted((GOLDEN / folder).glob("help*.txt")):
            commands[" ".join([program, *path.stem.split("_")[1:]])] = path.read_text(encoding="utf-8")
        listed = re.findall(r"^  ([a-z]+) {2,}", commands[program].partition("\nCommands:")[2], re.MULTILINE)
        place = {name: number for number, name in enumerate(listed)}
        for command in sorted(commands, key=lambda name: (place.get((name.split() + [""])[1], -1), name)):
            page += f"## {command}\n\n" + fenced("text", commands[command])
    return page


def prose(comment: list[str]) -> str:
    """The lines of a comment as Markdown: what is indented by three is code."""
    return "".join((f"    {line[3:]}" if line.startswith("   ") else line.removeprefix(" ").replace("<", "&lt;")) + "\n"
                   for line in comment)


def contract(lines: list[str]) -> tuple[list[str], int]:
    """The comment that a header opens with, and the line after it."""
    comment = []
    for number, line in enumerate(lines):
        found = re.match(r"(?://|/\*| \*)(.*?)(?: ?\*/)?$", line)
        if not found:
            return comment, number
        comment.append(found[1])
    return comment, len(lines)


def without_private(declaration: str) -> str:
    """A class as its users see it."""
    seen = re.sub(r"^( *) (?:private|protected):\n.*?(?=^\1 public:|^\1\};)", "", declaration, flags=re.MULTILINE | re.DOTALL)
    seen = re.sub(r"\n\n(?= *\};)", "\n", seen)
    # How enumerations are written down.
    seen = re.sub(r"^constexpr auto names_of\(.*?^\}\n?", "", seen, flags=re.MULTILINE | re.DOTALL)
    seen = re.sub(r"^  friend [^{;]*;\n", "", seen, flags=re.MULTILINE)
    return re.sub(r"^[ ]*(?://|/\*) NOLINT.*\n", "", seen, flags=re.MULTILINE)


def declarations(text: str) -> list[str]:
    """What stands between empty lines at the level of the namespace, each with its comment; what is inside of other namespaces is
    left out."""
    found, part, depth, within = [], [], 0, []
    for line in text.splitlines():
        opens = re.match(r"(?:inline )?namespace ([\w:]*) ?\{$", line)
        if opens and depth == 0:
            within.append(opens[1].split("::")[-1])
            continue
        if re.match(r"\}  // (?:inline )?namespace", line) and depth == 0:
            within.pop()
            continue
        if line.startswith(("#", 'extern "C"')) or INSIDE.intersection(within):
            continue
        code = re.sub(r"//.*|/\*.*?\*/|\"(?:\\.|[^\"])*\"|'(?:\\.|[^'])'", "", line)
        depth += code.count("{") + code.count("(") - code.count("}") - code.count(")")
        if line.strip() or depth > 0:
            part.append(line)
        elif part:
            found.append("\n".join(part))
            part = []
    return [each for each in [*found, "\n".join(part)] if each.strip() and not is_nothing(each)]


def is_nothing(declaration: str) -> bool:
    """Forward declarations, and what belongs to the making of a header."""
    code = re.sub(r"//[^\n]*|/\*.*?\*/", "", declaration, flags=re.MULTILINE | re.DOTALL).strip()
    return not code or re.fullmatch(r"(?:(?:class|struct) \w+;\s*)+", code) is not None or code in {"}", "};"}


def headers(names: list[str], language: str) -> str:
    page = ""
    for name in names:
        lines = (HEADERS / name).read_text(encoding="utf-8").splitlines()
        comment, begins = contract(lines)
        page += f"## zeus/{name}\n\n{prose(comment)}\n"
        for declaration in declarations("\n".join(lines[begins:])):
            if seen := without_private(declaration).strip("\n"):
                page += fenced(language, seen)
    return page


def cpp() -> str:
    included = re.findall(r"#include <zeus/([\w.]+\.hpp)>", (HEADERS / "zeus.hpp").read_text(encoding="utf-8"))
    others = sorted(path.name for path in HEADERS.glob("*.hpp") if path.name not in {*included, "zeus.hpp", "export.hpp"})
    page = "# C++\n\n" + NOTE + "The public headers. `<zeus/zeus.hpp>` has all of them but " + ", ".join(
        f"`<zeus/{name}>`" for name in others) + ". Begin with [Write C++](../start/cpp.md).\n\n"
    return page + headers(included + others, "cpp")


def c() -> str:
    page = "# C\n\n" + NOTE + "Both headers. `examples/window/window.c` is a whole program. Begin with [Write C++](../start/cpp.md).\n\n"
    return page + headers(["zeus.h", "jobs.h"], "c")


def docstring(module: str) -> str:
    """The first paragraph of a module's, where the package has one."""
    base = ROOT / "python" / "zeus_cpp" / pathlib.Path(*module.split(".")[1:])
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.is_file():
            return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split("\n\n")[0]
    return ""


def python() -> str:
    page = "# Python\n\n" + NOTE
    page += "Every module with what it has; `name of module` is the same as that module's. Begin with [Write Python](../start/python.md).\n\n"
    module, listed = "", []
    for line in [*(GOLDEN / "python" / "interface.txt").read_text(encoding="utf-8").splitlines(), "end"]:
        if line.startswith(" "):
            listed.append(line.removeprefix("  "))
            continue
        if listed:
            said = docstring(module)
            page += f"## {module}\n\n" + (f"{said}\n\n" if said else "") + fenced("python", "\n".join(listed))
        module, listed = line, []
    return page


PAGES = {"cli.md": command_line, "cpp.md": cpp, "c.md": c, "python.md": python}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    stale = 0
    for name, make in PAGES.items():
        path, text = ROOT / "docs" / "reference" / name, make()
        if not check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            stale += 1
            there = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
            print("\n".join(list(difflib.unified_diff(there, text.splitlines(), f"docs/reference/{name}", "as it would be",
                                                      lineterm=""))[:20]), file=sys.stderr)
    if stale:
        print("docs/reference is out of date: run tools/make_reference.py, and read the diff", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
