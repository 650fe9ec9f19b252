#!/usr/bin/env python3
"""Holds every #include to layers.toml, and layers.toml to itself.

  check_layers.py [--root DIR]     checks; prints each offending line with the rule it breaks; exit 1 if there is any
  check_layers.py --cmake          prints the same file as CMake variables (cmake/layers.cmake reads them)
"""

from __future__ import annotations

import argparse
import pathlib
import re
import sys

from source_tree import CPP_SUFFIXES, Layers, is_test, source_files

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
TEST_SUPPORT = "tests/support/"


# Public headers that connect Zeus with a library of the user's program; zeus/zeus.hpp includes none of them.
FOR_PROGRAMS_THAT_USE_IT = {"include/zeus/torch.hpp", "include/zeus/fmt.hpp"}


class Checker:
    def __init__(self, root: pathlib.Path):
        self.root = root
        self.layers = Layers.load(root)
        self.problems: list[str] = []
        self.owner_of_header = {
            f"zeus/{header}": module.name for module in self.layers.modules.values() for header in module.public
        }
        # Longest folder first, so that src/optimize/cost wins over src/optimize.
        self.folders = sorted(
            ((module.folder.rstrip("/") + "/", module.name) for module in self.layers.modules.values()),
            key=lambda pair: -len(pair[0]),
        )

    def report(self, where: str, what: str) -> None:
        self.problems.append(f"{where}: {what}")

    # layers.toml itself

    def check_declaration(self) -> None:
        for module in self.layers.modules.values():
            for listed in module.uses:
                if listed != "*" and not self.layers.expand((listed,), module.floor):
                    self.report("layers.toml", f"{module.name} uses {listed}, which is not a module")
            for header in module.public:
                if not (self.root / "include" / "zeus" / header).exists():
                    self.report("layers.toml", f"{module.name} lists zeus/{header}, which does not exist")
            for other_name in sorted(self.layers.allowed(module.name)):
                other = self.layers.modules[other_name]
                if other.floor >= module.floor:
                    self.report(
                        "layers.toml",
                        f"{module.name} (floor {module.floor}) uses {other.name} (floor {other.floor}): "
                        "arrows go down only",
                    )
            for external in module.external + module.test_external:
                if external not in self.layers.external:
                    self.report("layers.toml", f"{module.name} lists the external {external}, which is not declared")

    # source files

    def module_of_file(self, relative: str) -> str | None:
        for folder, name in self.folders:
            if relative.startswith(folder):
                return name
        return self.owner_of_header.get(relative.removeprefix("include/"))

    def module_of_include(self, include: str) -> str | None:
        """The module that an include path belongs to; None for other projects' headers."""
        if include in self.owner_of_header:
            return self.owner_of_header[include]
        for prefix in ("src/", ""):
            for folder, name in self.folders:
                if (prefix + include).startswith(folder):
                    return name
        return None

    def check_file(self, path: pathlib.Path) -> None:
        relative = path.relative_to(self.root).as_posix()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if match:
                for problem in self.judge(relative, match[2], quoted=match[1] == '"'):
                    self.report(f"{relative}:{number}", f"{problem}\n    {line.strip()}")

    def judge(self, relative: str, include: str, quoted: bool) -> list[str]:
        if relative.startswith("include/"):
            return self.judge_public_header(relative, include)
        if any(relative.startswith(folder + "/") for folder in self.layers.public_only):
            own = quoted and "/" not in include
            if self.module_of_include(include) and not include.startswith("zeus/") and not own:
                return [f"{relative.split('/')[0]} sees include/zeus only"]
            return []
        for program in self.layers.programs.values():
            if relative == program.source:
                allowed = self.layers.expand(program.uses, float("inf")) | {"base"}
                return self.judge_include(f"the program {program.name}", allowed, set(program.external), include, quoted)
        module = self.module_of_file(relative)
        if module is None:
            if relative.startswith(("src/", "apps/", "drivers/")):
                return ["this file belongs to no module or program of layers.toml"]
            return []
        in_test = is_test(pathlib.PurePath(relative))
        if in_test and (include.startswith(("gtest/", "gmock/")) or include.startswith(TEST_SUPPORT)):
            return []
        if self.layers.modules[module].over_library and include in self.owner_of_header:
            return []
        allowed = self.layers.allowed(module, in_test) | {module}
        return self.judge_include(module, allowed, self.layers.allowed_external(module, in_test), include, quoted)

    def judge_include(self, who: str, allowed: set[str], external: set[str], include: str, quoted: bool) -> list[str]:
        target = self.module_of_include(include)
        if target is not None:
            if target in allowed:
                return []
            return [f"{who} may not use {target}: {self.reason(who, target)}"]
        for name, entry in self.layers.external.items():
            if include.startswith(tuple(entry["headers"])):
                if name in external:
                    return []
                return [f"{who} does not list the external library {name} in layers.toml"]
        if quoted or include.startswith("zeus/"):
            return [f"'{include}' belongs to no module of layers.toml (includes are written from src/ or include/)"]
        if "/" in include and not include.startswith(("sys/", "linux/", "bits/", "netinet/", "arpa/")):
            return [f"'{include}' belongs to no external library declared in layers.toml"]
        return []

    def judge_public_header(self, relative: str, include: str) -> list[str]:
        owner = self.owner_of_header.get(relative.removeprefix("include/"))
        if owner is None:
            return ["this public header belongs to no module of layers.toml (list it under `public`)"]
        if include.startswith("zeus/"):
            target = self.owner_of_header.get(include)
            if target is not None and self.layers.modules[owner].over_library:
                return []
            if target is None or target not in self.layers.allowed(owner) | {owner}:
                return [f"a public header of {owner} may not include it"]
            return []
        if "/" in include and not include.startswith("sys/") and relative not in FOR_PROGRAMS_THAT_USE_IT:
            return ["public headers show no type from outside: standard headers and <zeus/...> only"]
        return []

    def reason(self, who: str, target: str) -> str:
        other = self.layers.modules[target]
        module = self.layers.modules.get(who)
        if module is not None and other.floor >= module.floor:
            return f"{target} is on floor {other.floor}, not below {who}'s floor {module.floor}"
        return f"layers.toml does not list {target} among what {who} uses"

    def check_cycles(self) -> None:
        """No two folders include one another, not even inside one module."""
        edges: dict[str, dict[str, str]] = {}
        for path in source_files(self.root, CPP_SUFFIXES):
            relative = path.relative_to(self.root)
            if relative.parts[0] != "src" or is_test(relative):
                continue
            folder = relative.parent.relative_to("src").as_posix()
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                match = INCLUDE.match(line)
                if match and match[1] == '"':
                    other = pathlib.PurePosixPath(match[2]).parent.as_posix()
                    if other != folder and (self.root / "src" / other).is_dir():
                        edges.setdefault(folder, {}).setdefault(other, f"{relative.as_posix()}:{number}")
        for cycle in find_cycles(edges):
            first, second = cycle[0], cycle[1]
            self.report(edges[first][second], "folders include one another in a circle: " + " -> ".join(cycle))

    def run(self) -> list[str]:
        self.check_declaration()
        for path in source_files(self.root, CPP_SUFFIXES):
            self.check_file(path)
        self.check_cycles()
        return self.problems


def find_cycles(edges: dict[str, dict[str, str]]) -> list[list[str]]:
    """One closed walk for each back edge of a depth-first search."""
    done: set[str] = set()
    cycles = []

    def visit(node: str, path: list[str]) -> None:
        for other in edges.get(node, {}):
            if other in path:
                cycles.append(path[path.index(other) :] + [other])
            elif other not in done:
                visit(other, [*path, other])
        done.add(node)

    for start in list(edges):
        if start not in done:
            visit(start, [start])
    return cycles


def print_cmake(layers: Layers) -> None:
    def emit(name: str, values) -> None:
        print(f'set({name} "{";".join(values)}")')

    def links(names) -> list[str]:
        return [layers.external[name]["link"] for name in sorted(names)]

    def targets(names) -> list[str]:
        return [layers.modules[name].target for name in sorted(names)]

    ordered = sorted(layers.modules.values(), key=lambda module: (module.floor, module.name))
    emit("ZEUS_MODULES", [module.name for module in ordered])
    for module in ordered:
        prefix = "ZEUS_MODULE_" + module.name.replace("/", "_")
        allowed = layers.allowed(module.name)
        in_test = layers.allowed(module.name, in_test=True)
        emit(f"{prefix}_FOLDER", [module.folder])
        # libzeus.so first: its symbols are taken from there, and from no archive.
        emit(f"{prefix}_LINKS", (["zeus"] if module.over_library else []) + targets(allowed))
        emit(f"{prefix}_EXTERNAL", links(layers.allowed_external(module.name)))
        emit(f"{prefix}_TEST_LINKS", targets(in_test))
        emit(f"{prefix}_TEST_EXTERNAL", links(layers.allowed_external(module.name, in_test=True)))
    emit("ZEUS_PUBLIC_MODULES", [module.target for module in ordered if module.public and not module.over_library])
    emit("ZEUS_PROGRAMS", layers.programs)
    for program in layers.programs.values():
        prefix = f"ZEUS_PROGRAM_{program.name}"
        emit(f"{prefix}_SOURCE", [program.source])
        emit(f"{prefix}_LINKS", targets(layers.expand(program.uses, float("inf")) | {"base"}))
        emit(f"{prefix}_EXTERNAL", links(program.external))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--cmake", action="store_true", help="print layers.toml as CMake variables")
    options = parser.parse_args()
    if options.cmake:
        print_cmake(Layers.load(options.root))
        return 0
    problems = Checker(options.root).run()
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
