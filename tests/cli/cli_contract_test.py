"""Compares docs/cli.md with `--help`: each command's help is golden, each documented flag exists, each flag is documented,
and commands documented as to come do not exist yet.

  cli_contract_test.py PROGRAM          ZEUS_UPDATE_GOLDEN=1 writes the golden files again
"""

import difflib
import os
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = {"zeus": ROOT / "tests" / "golden" / "cli", "zeusd": ROOT / "tests" / "golden" / "zeusd"}
FLAG = re.compile(r"--[a-z][a-z0-9-]*")
SUBCOMMAND = re.compile(r"^  ([a-z]+) {2,}", re.MULTILINE)
program = ""
called = ""  # the program's name


def help_of(*command: str) -> str:
    done = subprocess.run([program, *command, "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def subcommands(text: str) -> list[str]:
    _, _, listed = text.partition("\nCommands:")
    return SUBCOMMAND.findall(listed)


def all_commands(prefix: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Every command and subcommand of the program, itself first."""
    found = [prefix]
    for name in subcommands(help_of(*prefix)):
        found += all_commands((*prefix, name))
    return found


def documented_sections() -> dict[str, str]:
    """Heading (without the program's name and with `*(to come)*` kept) to text, for each of its commands in docs/cli.md."""
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    headed = [section.partition("\n") for section in sections]
    return {heading.removeprefix(called).strip(): body for heading, _, body in headed if heading.startswith(called + " ")}


class CliContract(unittest.TestCase):
    maxDiff = None

    def test_help_is_golden(self):
        for command in all_commands():
            path = GOLDEN[called] / ("_".join(("help", *command)) + ".txt")
            actual = help_of(*command)
            if os.environ.get("ZEUS_UPDATE_GOLDEN"):
                path.write_text(actual, encoding="utf-8")
                continue
            with self.subTest(command=" ".join(command)):
                self.assertTrue(path.exists(), f"{path.relative_to(ROOT)} does not exist; run `make golden`")
                difference = difflib.unified_diff(path.read_text(encoding="utf-8").splitlines(), actual.splitlines(),
                                                  "golden", "actual", lineterm="")
                self.assertEqual("\n".join(difference), "", "if the change is meant, run `make golden`")

    def test_each_help_has_an_example(self):
        for command in all_commands():
            with self.subTest(command=" ".join(command)):
                self.assertRegex(help_of(*command), rf"\nExamples:\n  .*{called} .*\n      \S")

    def test_the_documentation_lists_the_flags_that_are_there_and_no_others(self):
        sections = documented_sections()
        for name in subcommands(help_of()):
            with self.subTest(command=name):
                self.assertTrue(name in sections, f"docs/cli.md has no section `## zeus {name}` (or calls it to come)")
                shared = re.findall(rf"takes the options of `{called} ([a-z]+)`", sections[name])
                documented = set(FLAG.findall(" ".join([sections[name], *(sections[other] for other in shared)])))
                helps = "".join(help_of(*command) for command in all_commands() if command[:1] == (name,))
                existing = set(FLAG.findall(helps))
                self.assertEqual(documented - existing, set(), "documented, but missing")
                self.assertEqual(existing - documented - {"--help"}, set(), "there, but not documented")

    def test_what_is_to_come_is_not_there(self):
        for heading in documented_sections():
            name, mark, _ = heading.partition(" *(to come)*")
            if mark:
                with self.subTest(command=name):
                    done = subprocess.run([program, name], capture_output=True, text=True, check=False)
                    self.assertEqual(done.returncode, 2)
                    self.assertIn(f"there is no command '{name}'", done.stderr)


if __name__ == "__main__":
    program = sys.argv.pop(1)
    called = pathlib.Path(program).name
    unittest.main()
