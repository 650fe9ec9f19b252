"""Every example in a public header compiles against libzeus.so, and runs on virtual GPUs.

  headers_test.py ZEUS BUILD_FOLDER CXX_COMPILER C_COMPILER
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import header_examples

zeus, build = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
cxx, cc = sys.argv[3:5]
ROOT = header_examples.ROOT
EVERY_NAME = pathlib.Path(__file__).resolve().parent / "every_name.cpp"
CLANG = "clang++-16"
# Built and run with libtorch by examples/torch/torch_test.py.
ELSEWHERE = {"torch.hpp"}
FLAGS = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-variable", f"-I{ROOT / 'include'}"]
LIBRARIES = [f"-L{build}/lib", f"-Wl,-rpath,{build}/lib", "-lzeus-jobs", "-lzeus"]


def compiled(source: pathlib.Path) -> subprocess.CompletedProcess:
    compiler = [cc, "-std=c11"] if source.suffix == ".c" else [cxx, "-std=c++20"]
    return subprocess.run([*compiler, *FLAGS, source, "-o", source.with_suffix(""), *LIBRARIES], capture_output=True,
                          text=True, check=False)


# Kinds of declarations whose names must be used.
DECLARATIONS = {"CXXRecordDecl", "EnumDecl", "EnumConstantDecl", "FunctionDecl", "CXXMethodDecl", "FieldDecl", "VarDecl",
                "TypeAliasDecl", "ConceptDecl"}
# Namespaces that users do not know; names found by argument-dependent lookup are used without them.
INSIDE = {"detail", "control", "job_library", "measure", "pacing", "train"}


def declared_names() -> list[str]:
    """Every public name of namespace zeus that zeus/zeus.hpp declares, as Clang sees it."""
    done = subprocess.run([CLANG, "-std=c++20", *FLAGS, "-fsyntax-only", "-Xclang", "-ast-dump=json", "-Xclang",
                           "-ast-dump-filter=zeus", "-x", "c++", "-"], input="#include <zeus/zeus.hpp>\n",
                          capture_output=True, text=True, check=True)
    names, position, decoder = set(), done.stdout.find("{"), json.JSONDecoder()
    while position >= 0:
        declaration, end = decoder.raw_decode(done.stdout, position)
        collect(declaration, [], names)
        position = done.stdout.find("{", end)
    return sorted(names)


def collect(declaration: dict, scope: list[str], names: set[str]) -> None:
    kind, name = declaration.get("kind", ""), declaration.get("name", "")
    if declaration.get("isImplicit") or (kind == "NamespaceDecl" and name in INSIDE):
        return
    if kind in DECLARATIONS and re.fullmatch(r"\w+", name) and name != "operator":
        names.add("::".join([*scope, name]))
    access = "private" if declaration.get("tagUsed") == "class" else "public"
    inner = declaration.get("inner", []) if kind.endswith("RecordDecl") or kind in {
        "NamespaceDecl", "EnumDecl", "ClassTemplateDecl", "FunctionTemplateDecl", "TypeAliasTemplateDecl", "LinkageSpecDecl"} else []
    for each in inner:
        if each.get("kind") == "AccessSpecDecl":
            access = each["access"]
        elif access == "public" or kind == "ClassTemplateDecl":
            collect(each, [*scope, name] if kind.endswith("RecordDecl") or kind == "EnumDecl" else scope, names)


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)

    def source(self, header: str, example: str) -> pathlib.Path:
        path = pathlib.Path(self.folder.name) / header_examples.setting_of(header).name
        path.write_text(header_examples.program(header, example), encoding="utf-8")
        return path

    def run_on_virtual_gpus(self, source: pathlib.Path) -> subprocess.CompletedProcess:
        return subprocess.run([zeus, "virtual", "2xV100", "--load", "constant:150W", "--", source.with_suffix("")],
                              cwd=self.folder.name, env={**os.environ, "XDG_DATA_HOME": self.folder.name},
                              capture_output=True, text=True, check=False, timeout=60)

    def test_each_compiles_and_runs(self):
        found = header_examples.examples()
        self.assertTrue({"device.hpp", "measure.hpp", "pipeline.hpp", "train.hpp"} <= found.keys())
        for header, example in found.items():
            if header in ELSEWHERE:
                continue
            with self.subTest(header):
                source = self.source(header, example)
                done = compiled(source)
                self.assertEqual(done.returncode, 0, f"the example of {header} does not compile:\n{done.stderr}")
                done = self.run_on_virtual_gpus(source)
                self.assertEqual(done.returncode, 0, f"the example of {header} does not run:\n{done.stderr}")

    def test_every_name_does_what_it_promises(self):
        source = pathlib.Path(self.folder.name) / "every_name.cpp"
        source.write_text(EVERY_NAME.read_text(encoding="utf-8"), encoding="utf-8")
        done = compiled(source)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.run_on_virtual_gpus(source)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_every_name_is_used_from_outside(self):
        used = set()
        for path in [EVERY_NAME, *(ROOT / "examples").rglob("*.[ch]pp")]:
            used |= set(re.findall(r"\w+", path.read_text(encoding="utf-8")))
        for example in header_examples.examples().values():
            used |= set(re.findall(r"\w+", example))
        unused = [name for name in declared_names() if name.split("::")[-1] not in used]
        self.assertEqual(unused, [], "names of zeus/zeus.hpp that no example and no test uses from outside")

    def test_a_planted_wrong_one_is_refused(self):
        wrong = header_examples.examples()["device.hpp"].replace("sample->power", "sample->watts")
        done = compiled(self.source("device.hpp", wrong))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("watts", done.stderr)

    def test_no_setting_is_left_without_its_example(self):
        settings = {path.name for path in header_examples.SETTINGS.iterdir()}
        self.assertEqual(settings, {header_examples.setting_of(header).name for header in header_examples.examples()})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
