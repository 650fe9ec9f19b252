"""Every command that a document or a public header names exists: `zeus` and `zeusd` with their commands and flags, targets
of `make`, tests of `ctest -R`. docs.pages and the pages' own tests check what they do. Indented blocks of Python and TOML can
be parsed. A planted wrong one of each kind is refused.

  commands_test.py BUILD_FOLDER
"""

import ast
import pathlib
import re
import subprocess
import sys
import textwrap
import tomllib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = {"zeus": ROOT / "tests" / "golden" / "cli", "zeusd": ROOT / "tests" / "golden" / "zeusd"}
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
COMMAND = re.compile(r"(?:^|(?<!from)[\s|(]|(?<!\.py )build/bin/)(zeusd?) (?=[a-z@-])(.*)")
MAKE = re.compile(r"(?:^|[\s(])make ([a-z]+)(?=$|[\s;,])")
CTEST = re.compile(r"ctest (?:[^`\n]*? )?-R '?([^'`\s]+)")
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?<=\n\n)(?:    .*\n|\n(?=    ))+")
INLINE = re.compile(r"(`+)((?:(?!\n\n).)+?)\1", re.DOTALL)
PYTHON_OR_TOML = re.compile(r"(?:from|import) \w|[\w.]+ = |\[")  # how such a block begins
SWALLOWED = re.compile(r"^[^#\n]*#[^`\"'\n]*?(\b\w+ = \S+)", re.MULTILINE)  # a line that has become part of a comment
MESSAGE = re.compile(r"^\| `[^`]+`", re.MULTILINE)  # of the page on troubleshooting
ENDS = re.compile(r"\s+#\s|\s*(?:\||&&|;|>|<\()\s*")
# Files that describe the command line of another project, or an old one.
LEFT_OUT = ("docs/decisions/", "docs/reference/")


def helps() -> dict[tuple[str, ...], set[str]]:
    """The flags of each command of each program."""
    found = {}
    for program, folder in GOLDEN.items():
        for path in folder.glob("help*.txt"):
            found[(program, *path.stem.split("_")[1:])] = set(FLAG.findall(path.read_text(encoding="utf-8"))) | {"--help"}
    return found


def documents() -> list[tuple[str, str]]:
    """(name, pieces of code, one per line)."""
    found = []
    for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md"), *ROOT.glob("skills/**/*.md")]):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(LEFT_OUT):
            found.append((name, code_of(MESSAGE.sub("", path.read_text(encoding="utf-8")))))
    for path in sorted((ROOT / "include" / "zeus").iterdir()):
        text = path.read_text(encoding="utf-8")
        found.append((path.relative_to(ROOT).as_posix(), "\n".join(re.findall(r"(?://|\*).*?`([^`]+)`", text))))
    return found


def code_of(text: str) -> str:
    found = [block[2] for block in FENCED.finditer(text) if block[1] == "sh"]
    text = FENCED.sub("", text)
    found += [block[0] for block in INDENTED.finditer(text)]
    return "\n".join(found + [code[2].replace("\n", " ") for code in INLINE.finditer(INDENTED.sub("", text))])


def broken_block(block: str) -> str | None:
    """What is wrong with an indented block of Python or TOML."""
    text = textwrap.dedent(block)
    if not PYTHON_OR_TOML.match(text):
        return None
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        try:
            ast.parse(text)
        except SyntaxError as no_python:
            return f"it is neither TOML nor Python ({no_python}):\n{text}"
    swallowed = SWALLOWED.search(text)
    return f"a comment holds '{swallowed[1]}':\n{text}" if swallowed else None


class Known:
    def __init__(self, tests: list[str]) -> None:
        self.helps = helps()
        self.targets = set(re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)[1].split())
        self.tests = tests

    def wrong_command(self, program: str, rest: str) -> str | None:
        own, _, inner = ENDS.split(rest, maxsplit=1)[0].partition(" -- ")
        words = own.replace("[", " ").replace("]", " ").replace("|", " ").split()
        command = (program,)
        while words and (*command, words[0]) in self.helps:
            command = (*command, words.pop(0))
        if words and words[0] == "help" or (command == (program,) and words and words[0].startswith("@")):
            return None
        if command == (program,) and words and re.fullmatch(r"[a-z]+", words[0]):
            return f"there is no command `{program} {words[0]}`"
        known = set().union(*(self.helps[command[:length]] for length in range(1, len(command) + 1)))
        for name, flags in self.helps.items():  # `zeus simulate` also stands for its subcommands
            known |= flags if name[:len(command)] == command and len(command) > 1 else set()
        shared = {"restore": ("zeusd", "serve")} if program == "zeusd" else {}
        known |= self.helps[shared[command[1]]] if len(command) > 1 and command[1] in shared else set()
        for flag in FLAG.findall(" ".join(words)):
            if flag not in known:
                return f"`{' '.join(command)}` has no flag {flag}"
        found = COMMAND.search(" " + inner)
        return self.wrong_command(*found.groups()) if found else None

    def wrong(self, code: str) -> list[str]:
        said = []
        for line in code.splitlines():
            found = COMMAND.search(line)
            if found and (problem := self.wrong_command(*found.groups())):
                said.append(f"{problem}: {line.strip()}")
            for target in MAKE.findall(line):
                if target not in self.targets:
                    said.append(f"the Makefile has no target {target}: {line.strip()}")
            for pattern in CTEST.findall(line):
                if not any(re.search(pattern, test) for test in self.tests):
                    said.append(f"no test is called {pattern}: {line.strip()}")
        return said


class Commands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        listed = subprocess.run(["ctest", "--test-dir", build, "-N", "-C", "Nightly"], capture_output=True, text=True, check=True)
        cls.known = Known(re.findall(r"Test +#\d+: (\S+)", listed.stdout))

    def test_each_is_one_that_there_is(self):
        looked_at = 0
        for name, code in documents():
            looked_at += len([line for line in code.splitlines() if COMMAND.search(line)])
            with self.subTest(name):
                self.assertEqual(self.known.wrong(code), [])
        self.assertGreater(looked_at, 200)

    def test_indented_python_and_toml_can_be_parsed(self):
        looked_at = 0
        for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")]):
            for block in INDENTED.finditer(FENCED.sub("", path.read_text(encoding="utf-8"))):
                looked_at += PYTHON_OR_TOML.match(textwrap.dedent(block[0])) is not None
                with self.subTest(path.relative_to(ROOT).as_posix()):
                    self.assertIsNone(said := broken_block(block[0]), said)
        self.assertGreater(looked_at, 8)

    def test_a_planted_broken_block_is_refused(self):
        for text, expected in (("    import zeus\n    for x in y: for z in x: ...\n", "neither TOML nor Python"),
                               ("    [a]   # of it b = 1\n    c = {d = 1}\n", "a comment holds 'b = 1'")):
            with self.subTest(text):
                self.assertIn(expected, broken_block(text) or "")

    def test_a_planted_wrong_one_of_each_kind_is_refused(self):
        for text, expected in (
                ("`zeus mesure -- true`", "there is no command `zeus mesure`"),
                ("    zeus measure --runss 2 -- true\n", "`zeus measure` has no flag --runss"),
                ("```sh\nsudo zeusd policy explain --who ann\n```", "`zeusd policy explain` has no flag --who"),
                ("`zeus virtual 1xV100 -- zeus run --limits off -- true`", "`zeus run` has no flag --limits"),
                ("`make tests`", "the Makefile has no target tests"),
                ("`ctest -R no.such_test`", "no test is called no.such_test")):
            with self.subTest(text):
                self.assertIn(expected, "\n".join(self.known.wrong(code_of("\n\n" + text + "\n"))))
        for text in ("`zeus run @nightly --eta 1 -- train.py --unknown`", "`zeus help run`", "`make check`", "`zeus_thing`"):
            self.assertEqual(self.known.wrong(code_of(text + "\n")), [])


if __name__ == "__main__":
    build = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
