"""Our interface compared with that of the existing package, each walked in a separate interpreter (interface_walk.py).

  interface_test.py BUILD_FOLDER

Everything in theirs must exist in ours, and take the same calls; additional names, parameters with defaults and bases are
allowed. Differences are listed in docs/python.md: whole modules in the table "not there", at most ten names in "Names that
differ"; a listed name that does not differ is refused as well.
"""

import collections
import dataclasses
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import existing_servers  # noqa: E402
import python_environment  # noqa: E402

DOCUMENT = ROOT / "docs" / "python.md"
WALK = pathlib.Path(__file__).with_name("interface_walk.py")
MOST_EXCEPTIONS = 10
build = pathlib.Path()


def table(first_heading: str) -> list:
    """For each row of the document's table with this first heading, the names in its first column; one that begins with a
    full stop belongs to the same module as the one before it."""
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(f"| {first_heading} |")) + 2
    rows = []
    for line in itertools.takewhile(lambda line: line.startswith("|"), lines[start:]):
        names: list = []
        for name in re.findall(r"`([^`]*)`", line.split("|")[1]):
            names.append(names[-1].rpartition(".")[0] + name if name.startswith(".") else name)
        rows.append(names)
    return rows


def covers(documented: str, name: str) -> bool:
    """A module or class stands for everything in it."""
    return f".{documented}." in f".{name}."


def walk(python, environment: dict, *left_out: str) -> dict:
    done = subprocess.run([str(python), str(WALK), *left_out], env=environment, capture_output=True, text=True, check=False,
                          timeout=200)
    if done.returncode:
        raise RuntimeError(f"the walk has failed: {done.stderr}")
    return json.loads(done.stdout)


def is_plain(value: object) -> bool:
    """Whether the walk has the value itself."""
    return '{"kind": "other"}' not in json.dumps(value)


def refused_calls(theirs, ours) -> str:
    """The reason why ours refuses a call that theirs takes, or gives it another meaning; empty if there is none."""
    if theirs is None:
        return ""
    if ours is None:
        return "nothing is known of its parameters"
    named = {each[0]: each for each in ours}
    kinds = {each[1] for each in ours}
    positional = [each for each in ours if each[1].startswith("POSITIONAL")]
    for place, parameter in enumerate(theirs):
        name, kind = parameter[:2]
        if kind.startswith("VAR_"):
            if kind not in kinds:
                return f"no {name} of any number"
        elif kind == "POSITIONAL_ONLY":
            if place >= len(positional):
                return f"no {name} at place {place}"
        elif name not in named:
            return f"no parameter {name}"
        else:
            if kind == "POSITIONAL_OR_KEYWORD" and (place >= len(positional) or positional[place] != named[name]):
                return f"{name} is not at place {place}"
            if named[name][1] == "POSITIONAL_ONLY":
                return f"{name} cannot be given by name"
            if parameter[2:] and len(named[name]) == 2:
                return f"{name} must be given"
            if parameter[2:] and is_plain(parameter[2]) and parameter[2] != named[name][2]:
                return f"{name} is {named[name][2]!r} unless given, not {parameter[2]!r}"
    known = {each[0] for each in theirs}
    demanded = [each[0] for each in ours if each[0] not in known and len(each) == 2 and not each[1].startswith("VAR_")]
    return f"{', '.join(demanded)} must be given" if demanded else ""


@dataclasses.dataclass
class Comparison:
    counts: dict = dataclasses.field(default_factory=lambda: collections.defaultdict(collections.Counter))
    found: dict = dataclasses.field(default_factory=dict)

    def note(self, kind: str, name: str, difference: str = "", missing: bool = False) -> None:
        verdict = "missing" if missing else "differ" if difference else "matched"
        self.counts[kind][verdict] += 1
        if verdict != "matched":
            self.found.setdefault(name, difference or "missing")

    def modules(self, theirs: dict, ours: dict) -> None:
        for name, names in theirs.items():
            self.note("modules", name, missing=name not in ours)
            for each, facts in names.items():
                if facts["own"]:
                    self.name(f"{name}.{each}", facts, ours.get(name, {}).get(each))

    def name(self, name: str, theirs: dict, ours) -> None:
        if ours is None:
            self.note("names", name, missing=True)
        elif name == "zeus.__version__":
            # The part after the plus sign says whose it is.
            said = ours["value"].partition("+")[0]
            self.note("names", name, "" if said == theirs["value"] else f"is {ours['value']}, not {theirs['value']}")
        elif theirs["is"] == "value" and is_plain(theirs["value"]) and theirs["value"] != ours.get("value"):
            self.note("names", name, f"is {ours.get('value')}, not {theirs['value']}")
        elif theirs["is"] == "class" and ours["is"] != "class":
            self.note("names", name, "is no class")
        else:
            self.note("names", name)
        if theirs["home"] is not None:
            return
        if theirs["is"] == "class":
            self.class_(name, theirs, ours if ours is not None and ours["is"] == "class" else None)
        elif theirs["is"] == "callable":
            self.signature(name, theirs, ours)

    def signature(self, name: str, theirs: dict, ours) -> None:
        refused = "" if ours is None else refused_calls(theirs["parameters"], ours.get("parameters"))
        self.note("signatures", name, refused, missing=ours is None)

    def class_(self, name: str, theirs: dict, ours) -> None:
        lacking = [] if ours is None else [base for base in theirs["bases"] if base not in ours["bases"]]
        self.note("exceptions" if theirs["exception"] else "bases", name, f"is no {', '.join(lacking)}" if lacking else "",
                  missing=ours is None)
        self.signature(name, theirs, ours)
        answers = {} if ours is None else {**{each: {"is": "value"} for each in ours["answers"]},
                                           **{each: {"is": "value"} for each in ours["attributes"]}, **ours["members"]}
        for each in theirs["attributes"]:
            self.note("attributes", f"{name}.{each}", missing=each not in answers)
        for each, facts in theirs["members"].items():
            member, found = f"{name}.{each}", answers.get(each)
            if found is not None and facts["is"] == "value" and is_plain(facts["value"]) and facts["value"] != found.get("value"):
                self.note("members", member, f"is {found.get('value')!r}, not {facts['value']!r}")
            elif found is not None and facts["is"] == "property" and found["is"] == "callable":
                self.note("members", member, "must be called")
            else:
                self.note("members", member, missing=found is None)
            if facts["is"] == "callable":
                self.signature(member, facts, found)


class Interface(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.not_there, cls.exceptions = table("not there"), table("name")
        python = python_environment.interpreter(build, "existing")
        plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        cls.theirs = walk(python, plain, *itertools.chain(*cls.not_there))
        cls.ours = walk(sys.executable, dict(os.environ))
        cls.comparison = Comparison()
        cls.comparison.modules(cls.theirs["modules"], cls.ours["modules"])

    def test_what_the_existing_package_has_is_here_but_for_what_the_document_names(self):
        self.assertEqual(self.theirs["failures"], {})
        for kind, counts in self.comparison.counts.items():
            print(f"{kind:<11}{counts['matched']:5} matched{counts['differ']:5} differ{counts['missing']:5} missing")
        documented = [*itertools.chain(*self.not_there, *self.exceptions)]
        unknown = {name: what for name, what in self.comparison.found.items() if not any(covers(each, name) for each in documented)}
        print(f"{len(self.comparison.found) - len(unknown)} of these in {len(self.exceptions)} exceptions that the document names")
        self.assertEqual("", "".join(f"\n{name}: {what}" for name, what in unknown.items()))

    def test_the_document_names_few_exceptions_and_none_that_is_not_one(self):
        self.assertLessEqual(len(self.exceptions), MOST_EXCEPTIONS)
        stale = [each for each in itertools.chain(*self.exceptions)
                 if not any(covers(each, name) for name in self.comparison.found)]
        self.assertEqual(stale, [])
        self.assertEqual([each for each in itertools.chain(*self.not_there) if each in self.ours["modules"]], [])

    def test_importing_what_the_document_says_is_not_there_says_what_to_use_meanwhile(self):
        modules = [each for each in itertools.chain(*self.not_there) if each.startswith("zeus.")]
        attempt = ("import importlib, sys\nfor name in sys.argv[1:]:\n    try: importlib.import_module(name); print('found')\n"
                   "    except ModuleNotFoundError as error: print(error)")
        done = subprocess.run([sys.executable, "-c", attempt, *modules], capture_output=True, text=True, check=False, timeout=60)
        said = dict(zip(modules, done.stdout.splitlines()))
        self.assertEqual([name for name in modules if f"{name} is not part of zeus-cpp: " not in said.get(name, "")], [],
                         done.stderr)


if __name__ == "__main__":
    build = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
