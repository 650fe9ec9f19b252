"""What linked programs rely on (docs/abi.md): the exported symbols of libzeus, and what its headers compile into programs:
the sizes and fields of types and the values of enumerations.

  abi_test.py INCLUDE_FOLDER LIBRARY...

Compared with tests/golden/library/; ZEUS_UPDATE_GOLDEN=1 writes these files again.
"""

import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden" / "library"
MEANT = """
tests/golden/library/{} differs: lines with - are what programs rely on that were linked before, lines with + are new.
docs/abi.md says what may change. If this change is meant: ZEUS_UPDATE_GOLDEN=1 ctest --preset release -R library.abi
"""
headers = pathlib.Path()
libraries: list[pathlib.Path] = []


def run(*command) -> str:
    return subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True, check=True).stdout


def header_files() -> list[pathlib.Path]:
    """All installed headers except torch.hpp, which needs PyTorch and is compiled into the program completely."""
    ours = sorted(header for header in (headers / "zeus").glob("*.h*") if header.name != "torch.hpp")
    return [*ours, ROOT / "drivers/session/zeus_virtual.h"]


def types_in(dump: str) -> list[str]:
    """Names of our types that are not templates, from GCC's dump of classes."""
    names = set(re.findall(r"^Class (zeus(?:::|_)[\w:]+)$", dump, re.MULTILINE))
    return sorted(name for name in names if not name.startswith("zeus::field::"))


def virtual_functions(dump: str) -> dict[str, list[str]]:
    """For each type with virtual functions, its table of them in order; an abstract type's destructors are 0 in it."""
    names = {"__cxa_pure_virtual": "abstract", "0": "destructor"}
    tables = re.findall(r"^Vtable for (zeus[\w:]+)\n.*\n((?:\d+ .*\n)+)", dump, re.MULTILINE)
    last_words = {name: [re.split(r"[ )]", line)[-1] for line in table.splitlines()[2:]] for name, table in tables}
    return {name: [names.get(word, word) for word in words] for name, words in last_words.items()}


def fields(dump: str) -> dict[str, list[str]]:
    """For each type, its size and its own fields with their offsets, from Clang's dump of layouts."""
    found = {}
    for layout in dump.split("*** Dumping AST Record Layout\n")[1:]:
        name = re.match(r" +0 \| (?:class|struct) (zeus\S+)(?: \(empty\))?\n", layout)
        if not name:
            continue
        size = re.search(r"\[sizeof=(\d+), .*?align=(\d+)", layout)
        own = re.findall(r"^ +([\d:-]+) \|   (\S.*)$", layout, re.MULTILINE)
        found[name[1]] = [f"{size[1]} bytes, aligned to {size[2]}"] + [f"{offset}: {field}" for offset, field in own]
    return found


def enumerations() -> list[str]:
    lines = []
    for header in header_files():
        text = re.sub(r"//.*|/\*.*?\*/", "", header.read_text(encoding="utf-8"), flags=re.DOTALL if header.suffix == ".h" else 0)
        for kind, values in re.findall(r"\benum\b([^{};]*)\{([^}]*)\}", text):
            lines.append(" ".join(f"enum {kind} {{ {values} }}".split()).replace(", }", " }"))
    return sorted(lines)


def layout() -> str:
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "types.cpp"
        included = "".join(f'#include "{header}"\n' for header in header_files())
        source.write_text(included, encoding="utf-8")
        dumped = pathlib.Path(folder) / "dumped"
        options = ["-std=c++20", f"-I{headers}", "-fsyntax-only", source]
        run("g++", *options, f"-fdump-lang-class={dumped}")
        classes = dumped.read_text(encoding="utf-8")
        names = types_in(classes)
        # Clang only shows types that are used.
        source.write_text(included + "".join(f"static_assert(sizeof({name}) > 0);\n" for name in names), encoding="utf-8")
        shown = fields(run("clang++-16", *options, "-Xclang", "-fdump-record-layouts"))
    tables = virtual_functions(classes)
    lines = []
    for name in names:
        lines += [name] + [f"  {line}" for line in shown[name] + [f"virtual: {function}" for function in tables.get(name, [])]]
    return "\n".join(lines + enumerations()) + "\n"


def names_of(library: pathlib.Path) -> list[str]:
    return sorted({line.split(maxsplit=2)[2] for line in run("nm", "-DC", "--defined-only", library).splitlines()})


class Abi(unittest.TestCase):
    maxDiff = None

    def hold(self, name: str, actual: str) -> None:
        golden = GOLDEN / name
        if "ZEUS_UPDATE_GOLDEN" in os.environ:
            golden.parent.mkdir(parents=True, exist_ok=True)
            golden.write_text(actual, encoding="utf-8")
        expected = golden.read_text(encoding="utf-8") if golden.exists() else ""
        difference = "\n".join(difflib.unified_diff(expected.splitlines(), actual.splitlines(), "golden", "actual", lineterm="", n=1))
        if difference:
            self.fail(f"{MEANT.format(name)}{difference}")

    def test_the_names_that_a_library_shows(self):
        for library in libraries:
            with self.subTest(library.name):
                self.hold(f"{library.name.split('.')[0]}.symbols", "\n".join(names_of(library)) + "\n")

    def test_the_library_shows_only_what_is_its_own(self):
        for library in libraries:
            with self.subTest(library.name):
                ours = re.compile(r"zeus_\w+|(?:(?:typeinfo|typeinfo name|vtable) for )?zeus::(?:operator<<|[^<(]+)(?:\(.*)?")
                self.assertEqual([name for name in names_of(library) if not ours.fullmatch(name)], [])

    def test_what_headers_compile_into_programs(self):
        self.hold("layout", layout())


if __name__ == "__main__":
    headers = pathlib.Path(sys.argv[1]).resolve()
    libraries = [pathlib.Path(word) for word in sys.argv[2:]]
    del sys.argv[1:]
    unittest.main()
