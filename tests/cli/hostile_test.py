"""Senseless command lines, generated from what `--help` allows: no crash, no hang, a documented exit code, and a message of
our own.

  hostile_test.py PROGRAM COUNT [SEED]     without SEED, different ones each time; the seed is printed
"""

import concurrent.futures
import dataclasses
import os
import pathlib
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATIENCE_S = 120  # twelve times the promised time, for busy machines
FLAG = re.compile(r"^  (--[a-z-]+)(?:, --[a-z-]+)?((?:\[=| )\S+)?", re.MULTILINE)
PROFILE = "stage,instruction,frequency,time,energy\n" + "".join(
    f"{stage},{name},{frequency},{1000 / frequency:.4f},{frequency / 10:.1f}\n"
    for stage in (0, 1) for name in ("forward", "backward") for frequency in (1000, 1400))
NOT_OURS = ("a defect in zeus", "filesystem error", "std::", "basic_string", "terminate called", "Sanitizer", "what():", "vector::",
            "stoi", "bad_alloc", "Could not convert", "not expected")
WORDS = ["", " ", "x", "-", "--", "-x", "--nothing", "=", "--=", "help", "0", "1", "-1", "-0", "1.5", "1e3", "1e308", "1e999", "-1e999",
         "nan", "-nan", "inf", "-inf", "0x10", "+1", "1,2", ",", "1,,2", "1,", "٣", "18446744073709551615", "18446744073709551616",
         "-9223372036854775809", "99999999999999999999999", "1" * 3000, "a" * 3000, "\x1b[2J\x1b]0;x\x07", "a\nb\r\tc", "\udcff\udcfe",
         "{batch_size}", "{", "%s%n%d", "$(reboot)", "'; drop table jobs; --", "(" * 500, "[0-9", "a{1000000}", "auto", "off", "128:0.1",
         "constant:1e999W", "square:80-300W,0s", "follow:cifar100", "999999999xA100", "1xA100@gain=nan", "at=1,tilt=nan", "1:A100",
         "jobs=1,days=nan", "eta = nan", "GPU-nothing", "../../../nothing", "0.5s", "-5s", "1e300h"]
FILES = ["folder", "pipe", "device", "full", "binary", "nothing", "nul", "empty", "line", "unreadable", "link", "circle", "missing/x",
         "folder/", "n" * 300, "profile.csv", "store.sqlite", "-", "/dev/stdin", "/proc/self/mem", "/dev/zero"]
# The arguments that each command needs, before and after. If its work would take long, they keep it from working.
COMMANDS = [
    (["devices"], [], []),
    (["doctor"], [], []),
    (["restore"], [], []),
    (["completions"], ["zsh"], []),
    (["measure"], [], ["--", "true"]),
    (["monitor"], ["--interval", "0.05"], ["--duration", "0.06"]),
    (["virtual"], ["1xA100"], ["--", "true"]),
    (["run"], [], ["--", "true"]),
    (["run"], ["--job", "x", "--batch-sizes", "8,16", "--default-batch-size", "8"], ["--", "true"]),
    (["run"], ["@nothing"], []),
    (["init"], ["made"], ["--", "true"]),
    (["jobs"], [], []),
    (["jobs"], ["nightly", "export", "--store", "store.sqlite"], []),
    (["jobs"], ["nightly", "redefine", "--store", "store.sqlite"], []),
    (["jobs"], ["x", "import", "--store", "new.sqlite", "--file", "nothing"], []),
    (["jobs"], ["nightly", "forget", "--yes", "--store", "store.sqlite"], []),
    (["pipeline"], ["--profile", "profile.csv", "--stages", "2", "--microbatches", "4"], []),
    (["pipeline"], ["--dag", "profile.csv"], []),
    (["simulate", "job"], ["--workload", "cifar100", "--gpu", "V100", "--recurrences", "2"], []),
    (["simulate", "job"], ["--train-trace", "profile.csv", "--power-trace", "profile.csv"], []),
    (["simulate", "cluster"], ["--train-trace", "profile.csv", "--power-trace", "profile.csv"], []),
    (["simulate", "paper"], ["--report", "page.html"], ["--seeds", "0"]),
    (["demo"], ["--quick"], ["--seed", "-1"]),
]
program = ""
count = 0
seed = 0


@dataclasses.dataclass
class Line:
    words: list[str]
    code: int
    out: bytes
    err: bytes

    def why_not(self) -> str | None:
        """What is wrong with the answer."""
        codes = {0, 1, 2}
        if self.words[:1] and self.words[0] in ("measure", "virtual", "run", "init"):
            codes |= {125, 126, 127}
        if self.code not in codes:
            return "exit code"
        lines = self.err.decode(errors="replace").splitlines()
        if self.code == 2 and len(lines) != 1:
            return "not one line"
        if self.code != 0 and not lines:
            return "no line"
        if self.code != 0 and not any(line.startswith(("zeus: ", "zeus jobs: ")) for line in lines):
            return "not a line of ours"
        if any(byte < 0x20 and byte != 0x0A for byte in self.err):
            return "control characters"
        if self.code != 0 and max(map(len, lines)) > 600:
            return "more than a line is quoted"
        return next((f"says {text}" for text in NOT_OURS if text.encode() in self.err), None)


def make_files(folder: pathlib.Path) -> None:
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    (folder / "device").symlink_to("/dev/null")
    (folder / "full").symlink_to("/dev/full")
    (folder / "binary").write_bytes(bytes(range(256)) * 40)
    (folder / "nul").write_bytes(b"\0" * 1000)
    (folder / "empty").touch()
    (folder / "line").symlink_to(folder.parent / "line")
    (folder / "unreadable").touch(mode=0o000)
    (folder / "link").symlink_to("elsewhere")
    (folder / "circle").symlink_to("circle")
    (folder / "profile.csv").write_text(PROFILE, encoding="utf-8")
    (folder / "state").mkdir(mode=0o700)
    shutil.copyfile(ROOT / "fixtures" / "jobs" / "store.sqlite", folder / "store.sqlite")


def flags_of(command: list[str]) -> list[tuple[str, str]]:
    """Each flag, and its value's name in the help."""
    text = subprocess.run([program, *command, "--help"], capture_output=True, text=True, check=True).stdout
    return [("--help", "")] + [(flag, value) for flag, value in FLAG.findall(text)]


def made_up(draws: random.Random, flags: dict[tuple[str, ...], list[tuple[str, str]]]) -> list[str]:
    command, needed, last = draws.choice(COMMANDS)
    words = list(needed)
    for _ in range(draws.randint(0, 2)):  # a wrong or missing word
        if words and draws.random() < 0.4:
            place = draws.randrange(len(words))
            words[place:place + 1] = [draws.choice(WORDS + FILES)] if draws.random() < 0.7 else []
    for _ in range(draws.choice((0, 1, 1, 1, 2, 3))):
        flag, title = draws.choice(flags[tuple(command)])
        if flag == "--duration":
            continue  # an allowed one may be long
        value = draws.choice(FILES if "FILE" in title and draws.random() < 0.8 else WORDS + FILES)
        if draws.random() < 0.2:
            words.append(f"{flag}={value}")
        else:
            words += [flag, value] if title or draws.random() < 0.1 else [flag]
    if draws.random() < 0.1:
        words.insert(draws.randint(0, len(words)), draws.choice(WORDS))
    if last[:1] == ["--"]:
        words = [word for word in words if word != "--"]
    return [*command, *words, *last]


class Hostile(unittest.TestCase):
    def test_absurd_command_lines_are_answered_in_one_line(self):
        draws = random.Random(seed)
        flags = {tuple(command): flags_of(command) for command, _, _ in COMMANDS}
        lines = [made_up(draws, flags) for _ in range(count)]
        with tempfile.TemporaryDirectory() as held:
            (pathlib.Path(held) / "line").write_bytes(b"1" * 100_000_000)

            def run(number: int) -> Line:
                folder = pathlib.Path(held) / str(number)
                folder.mkdir()
                make_files(folder)
                environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "TMPDIR": str(folder), "LC_ALL": "C.UTF-8",
                               "ZEUS_STATE_DIR": str(folder / "state"), "XDG_RUNTIME_DIR": str(folder / "state")}
                words = [word.encode("utf-8", "surrogateescape") for word in lines[number]]
                try:
                    done = subprocess.run([program, *words], stdin=subprocess.DEVNULL, capture_output=True, check=False,
                                          timeout=PATIENCE_S, cwd=folder, env=environment)
                except subprocess.TimeoutExpired as late:
                    return Line(lines[number], 999, late.stdout or b"", late.stderr or b"")
                shutil.rmtree(folder)
                return Line(lines[number], done.returncode, done.stdout, done.stderr)

            with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as at_once:
                for line in at_once.map(run, range(count)):
                    with self.subTest(shlex.join(word if len(word) < 99 else word[:9] + "..." for word in line.words)):
                        self.assertIsNone(line.why_not(), (line.code, line.err[-1500:]))


if __name__ == "__main__":
    program = sys.argv.pop(1)
    count = int(sys.argv.pop(1))
    seed = int(sys.argv.pop(1)) if len(sys.argv) > 1 else random.randrange(1_000_000)
    print(f"seed {seed}")
    unittest.main()
