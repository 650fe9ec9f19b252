#!/usr/bin/env python3
"""Checks whether the unit tests of the code that decides would notice if it decided otherwise.

Makes random mutants of the sources under src/optimize (an operator, a constant or a condition changed, a statement left
out), compiles each, links it into the unit tests of its own module and runs those. A mutant is killed if a test fails,
crashes or does not end, and survives if all pass. One that does not compile is replaced by another. Comments, strings and
preprocessor lines are not touched. All this happens in a copy of the tree below --work; the checkout is only read.

    tools/mutate.py                                        # 300 mutants of all of src/optimize
    tools/mutate.py --count 40 src/optimize/batch_size     # of one module, or of one source
    tools/mutate.py --again OUTPUT                         # the survivors of an earlier output, once more

Prints each survivor and a table by module (up to now, if it is interrupted); exits with 1 if fewer than --least per cent
were killed.
"""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import threading

from source_tree import why_no_history

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Not unit tests: a golden file says that a decision differs, not which one is right; the others simulate at length.
LEFT_OUT = ("AdaptivePlan.DecidesTheSameUnderEveryCompiler", "AdaptivePlan.ComesWithinOnePercentOfTheBestInFewSteps",
            "FrequencyChoice.Loses*")

OPERATORS = {"<": ("<=", ">"), "<=": ("<", ">"), ">": (">=", "<"), ">=": (">", "<"), "==": ("!=",), "!=": ("==",),
             "+": ("-",), "-": ("+",), "*": ("/",), "/": ("*",), "&&": ("||",), "||": ("&&",),
             "+=": ("-=",), "-=": ("+=",), "*=": ("/=",), "/=": ("*=",)}
# clang-format puts spaces around binary operators, and none around brackets of templates, references and pointers.
OPERATOR = re.compile(r"(?<= )(" + "|".join(map(re.escape, sorted(OPERATORS, key=len, reverse=True))) + r")(?=[ \n])")
STEP = re.compile(r"\+\+|--")
NUMBER = re.compile(r"(?<![\w.'])\d[\d']*(\.\d+)?(e[+-]?\d+)?(?![\w.'])")
BOOLEAN = re.compile(r"\b(true|false)\b")
CONDITION = re.compile(r"\b(if|while) \(")
STATEMENT = re.compile(r"^ +((?:continue|break|throw|[\w:.\->\[\]()*+]+)[^;{}]*;)$", re.MULTILINE)
NO_STATEMENT = re.compile(r"^(return|const|auto|using|static|constexpr|struct|class|enum|case|default|goto)\b")

Mutant = collections.namedtuple("Mutant", "path line start end before after")


def blanked(text):
    """The text with comments, strings and preprocessor lines as spaces, everything else in its place."""
    comment, raw, string = r"//[^\n]*|/\*.*?\*/", r"R\"\(.*?\)\"", r"\"(?:\\.|[^\"\\\n])*\""
    pattern = re.compile(rf"{comment}|{raw}|{string}|(?<!\d)'(?:\\.|[^'\\\n])'|^#[^\n]*", re.DOTALL | re.MULTILINE)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def closing(code, start):
    """The position of the bracket that closes the one before `start`."""
    depth = 1
    for place in range(start, len(code)):
        depth += {"(": 1, ")": -1}.get(code[place], 0)
        if depth == 0:
            return place
    return len(code)


def doubled(number):
    if re.fullmatch(r"[\d']+", number):
        return str(int(number.replace("'", "")) + 1)
    value = float(number.replace("'", ""))
    return repr(2.0 * value if value else 1.0)


def copy_tree(tree):
    """Copies the checkout as it is now; unchanged files keep their time, so that they are not built again."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                            capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        source, target = ROOT / name, tree / name
        if source.is_file() and not (target.exists() and target.read_bytes() == source.read_bytes()):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)


def mutants_of(tree, path):
    text = path.read_text(encoding="utf-8")
    code = blanked(text)
    changes = []
    for found in OPERATOR.finditer(code):
        changes += [(found.start(), found.end(), other) for other in OPERATORS[found.group()]]
    for found in STEP.finditer(code):
        changes.append((found.start(), found.end(), "--" if found.group() == "++" else "++"))
    for found in NUMBER.finditer(code):
        changes.append((found.start(), found.end(), doubled(found.group())))
    for found in BOOLEAN.finditer(code):
        changes.append((found.start(), found.end(), "false" if found.group() == "true" else "true"))
    for found in CONDITION.finditer(code):
        end = closing(code, found.end())
        start = code.rfind(";", found.end(), end) + 1 or found.end()
        changes.append((start, end, f"!({text[start:end].strip()})"))
    for found in STATEMENT.finditer(code):
        if not NO_STATEMENT.match(found.group(1)):
            changes.append((found.start(1), found.end(1), ";"))
    return [Mutant(path.relative_to(tree), text.count("\n", 0, start) + 1, start, end, text[start:end], after)
            for start, end, after in sorted(changes)]


def shown(mutant):
    return f"{mutant.path}:{mutant.line}: {' '.join(mutant.before.split())} -> {mutant.after} [{mutant.start}]"


class Module:
    """How a module's objects are compiled and its unit tests are linked."""

    def __init__(self, tree, build, name, commands):
        self.tree = tree
        self.program = f"{name.replace('/', '_')}_test"
        run = subprocess.run(["ninja", "-C", build, self.program], capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(f"{self.program} does not build:\n{run.stdout}")
        listed = subprocess.run(["ninja", "-C", build, "-t", "commands", self.program], capture_output=True, text=True,
                                check=True).stdout.splitlines()
        self.link = re.search(r"&& (\S*\+\+ .*?) && :$", listed[-1]).group(1)
        self.library = f"lib/libzeus_{name.replace('/', '_')}.a"
        self.build = build
        self.commands = commands
        self.filter = f"--gtest_filter=-{':'.join(LEFT_OUT)}"
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        if not self.passes(build / "tests" / self.program, 600):
            sys.exit(f"{self.program} fails as it is")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.seconds = int(10 + 10 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))

    def passes(self, program, seconds):
        # Processor time, not wall time: other programs may be busy.
        limits = f'ulimit -t {seconds} -v {8 << 20} -c 0 && exec "$@"'
        tests = [program, self.filter, "--gtest_brief=1", "--gtest_fail_fast"]
        try:
            run = subprocess.run(["bash", "-c", limits, "-", *tests], cwd=self.build, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, timeout=60 * seconds)
        except subprocess.TimeoutExpired:
            return False
        return run.returncode == 0

    def outcome(self, mutant, folder):
        """killed, survived, or nothing if the mutant does not compile."""
        folder.mkdir(parents=True, exist_ok=True)
        text = (self.tree / mutant.path).read_text(encoding="utf-8")
        source = folder / mutant.path.name
        source.write_text(text[:mutant.start] + mutant.after + text[mutant.end:], encoding="utf-8")
        target = folder / "mutant.o"
        command = shlex.split(self.commands[self.tree / mutant.path])
        command[command.index("-o") + 1] = str(target)
        command[command.index("-c") + 1] = str(source)
        command.append("-O0")  # compiled once and run once
        if subprocess.run(command, cwd=self.build, capture_output=True).returncode != 0:
            return None
        # Before the library, so that the linker leaves the sound object where it is.
        program = folder / self.program
        link = shlex.split(self.link.replace(f" {self.library}", f" {target} {self.library}", 1))
        link[link.index("-o") + 1] = str(program)
        if subprocess.run(link, cwd=self.build, capture_output=True).returncode != 0:
            return None
        return "survived" if self.passes(program, self.seconds) else "killed"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", default=["src/optimize"])
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--least", type=float, default=85.0, help="per cent that must be killed")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("/tmp/mutants"))
    parser.add_argument("--again", type=pathlib.Path, help="an earlier output")
    arguments = parser.parse_args()

    if reason := why_no_history(ROOT):
        sys.exit(f"{reason}, and the files to copy are those that git lists")
    tree = arguments.work.resolve() / "tree"
    build = arguments.work.resolve() / "build"
    copy_tree(tree)
    sources = sorted((tree / "src/optimize").rglob("*.cpp"))
    mutants = [mutant for source in sources if not source.name.endswith("_test.cpp")
               for mutant in mutants_of(tree, source)]
    random.Random(arguments.seed).shuffle(mutants)
    mutants = [mutant for mutant in mutants
               if any(mutant.path.is_relative_to(path) for path in arguments.paths)]
    if arguments.again:
        survivors = set(arguments.again.read_text(encoding="utf-8").splitlines())
        mutants = [mutant for mutant in mutants if shown(mutant) in survivors]

    # Each source alone, because a mutant replaces one.
    subprocess.run(["cmake", "-S", tree, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=None", "-DZEUS_PIECES=1",
                    "-DCMAKE_CXX_COMPILER=g++", "-DCMAKE_CXX_FLAGS=-O1 -w -D_GLIBCXX_ASSERTIONS"],
                   check=True, stdout=subprocess.DEVNULL)
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    commands = {pathlib.Path(entry["file"]): entry["command"] for entry in entries}
    modules = {}
    for mutant in mutants:
        name = str(mutant.path.parent.relative_to("src"))
        if name not in modules:
            modules[name] = Module(tree, build, name, commands)

    waiting = iter(mutants)
    counted = collections.defaultdict(collections.Counter)
    lock = threading.Lock()
    running = 0

    def stop(*_):
        arguments.count = 0

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)

    def work(worker):
        nonlocal running
        while True:
            with lock:
                if sum(map(sum, (c.values() for c in counted.values()))) + running >= arguments.count:
                    return
                mutant = next(waiting, None)
                if mutant is None:
                    return
                running += 1
            name = str(mutant.path.parent.relative_to("src"))
            outcome = modules[name].outcome(mutant, build.parent / f"worker_{worker}")
            with lock:
                running -= 1
                if outcome:
                    counted[name][outcome] += 1
                if outcome == "survived":
                    print(shown(mutant), flush=True)

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for done in [pool.submit(work, worker) for worker in range(arguments.jobs)]:
            done.result()

    total = collections.Counter()
    print(f"\n{'module':<24}{'killed':>8}{'survived':>10}")
    for name in sorted(counted):
        total += counted[name]
        print(f"{name:<24}{counted[name]['killed']:>8}{counted[name]['survived']:>10}")
    share = 100.0 * total["killed"] / max(total.total(), 1)
    print(f"{'all':<24}{total['killed']:>8}{total['survived']:>10}   {share:.1f} % killed")
    return 0 if share >= arguments.least else 1


if __name__ == "__main__":
    sys.exit(main())
