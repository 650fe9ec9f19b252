"""Results that cannot be written as usual: full disks, closed streams, devices, pipes, links and folders instead of files.
Existing files are never destroyed, and lost output is reported.

  output_test.py PROGRAM
"""

import contextlib
import os
import pathlib
import pty
import re
import select
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "daemon"))
import another_user  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROFILE = "stage,instruction,frequency,time,energy\n" + "".join(
    f"{stage},{name},{frequency},{1000 / frequency:.4f},{frequency / 10:.1f}\n"
    for stage in (0, 1) for name in ("forward", "backward") for frequency in (1000, 1400))
# Stands for the name of a file.
FILE = "<file>"
program = ""


class Output(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # beside a guardian that still settles its record
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)
        (self.folder / "state").mkdir(mode=0o700)
        self.environment = {**os.environ, "XDG_DATA_HOME": held.name, "XDG_RUNTIME_DIR": str(self.folder / "state"),
                            "ZEUS_STATE_DIR": str(self.folder / "state")}
        self.store = self.folder / "jobs.sqlite"
        shutil.copyfile(ROOT / "fixtures" / "jobs" / "store.sqlite", self.store)
        (self.folder / "profile.csv").write_text(PROFILE, encoding="utf-8")
        # Commands that print results, and commands that write them to a file, whose name replaces FILE.
        self.pipeline = ["pipeline", "--profile", "profile.csv", "--stages", "2", "--microbatches", "4"]
        export = ["jobs", "nightly", "export", "--store", str(self.store)]
        self.prints = [["--version"], ["--help"], ["run", "--help"], ["devices"], ["devices", "--json"], ["doctor"], ["restore"],
                       ["jobs", "--store", str(self.store)], ["jobs", "nightly", "--store", str(self.store), "--json"], export,
                       self.pipeline, [*self.pipeline, "--json", "-"], ["measure", "--json", "-", "--", "true"], ["run", "--json", "-", "--", "true"],
                       ["jobs", "nightly", "redefine", "--store", str(self.store), "--set", "eta = 0.25", "--json"]]
        paper = ["simulate", "paper", "--seeds", "1", "--quiet"]
        self.writes = [[*self.pipeline, "--json", FILE], [*self.pipeline, "--html", FILE], [*export, "--file", FILE],
                       ["jobs", "nightly", "--store", str(self.store), "--html", FILE],
                       ["measure", "--json", FILE, "--", "true"], ["run", "--json", FILE, "--", "true"]]
        # These take long: only their checks before the work are tested with each.
        self.writes_late = [[*paper, "--html", FILE], [*paper, "--report", FILE], [*paper, "--json", FILE],
                            ["demo", "--quiet", "--html", FILE], ["demo", "--quiet", "--report", FILE],
                            ["demo", "--quiet", "--json", FILE]]

    @staticmethod
    def to_file(arguments: list[str], name: str) -> list[str]:
        return [name if word is FILE else word for word in arguments]

    def zeus(self, *arguments: str, **options) -> subprocess.CompletedProcess:
        options.setdefault("stdout", subprocess.PIPE)
        return subprocess.run([program, *arguments], stderr=subprocess.PIPE, text=True, check=False, timeout=120,
                              cwd=self.folder, env=self.environment, **options)

    @staticmethod
    def own_failure(arguments: list[str]) -> int:
        return 125 if arguments[0] in ("measure", "run") else 1

    def in_shell(self, redirection: str, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run(["sh", "-c", f'"$@" {redirection}', "sh", program, *arguments], capture_output=True, text=True,
                              check=False, timeout=120, cwd=self.folder, env=self.environment)

    def test_what_a_full_disk_did_not_take_is_a_failure_and_a_line(self):
        for arguments in self.prints:
            with self.subTest(arguments), open("/dev/full", "w", encoding="utf-8") as full:
                done = self.zeus(*arguments, stdout=full)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertRegex(done.stderr, r"zeus: part of the output was lost: standard output did not accept it[^\n]*\n$")

    def test_a_closed_standard_output_is_a_failure_and_a_line(self):
        for arguments in self.prints:
            with self.subTest(arguments):
                done = self.in_shell(">&-", *arguments)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("part of the output was lost: standard output did not accept it", done.stderr)

    def test_the_export_of_a_job_to_a_full_disk_fails(self):
        if os.geteuid() != 0:
            self.skipTest("only root can mount a small disk")
        disk = self.folder / "disk"
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", disk], capture_output=True, check=False).returncode:
            self.skipTest("nothing can be mounted here")
        self.addCleanup(subprocess.run, ["umount", disk], check=False)
        done = self.in_shell("> disk/backup.jsonl", "jobs", "nightly", "export", "--store", str(self.store))
        self.assertEqual(done.returncode, 1)
        self.assertIn("part of the output was lost: standard output did not accept it", done.stderr)
        named = self.zeus("jobs", "nightly", "export", "--store", str(self.store), "--file", str(disk / "named.jsonl"))
        self.assertEqual(named.returncode, 1)
        self.assertFalse((disk / "named.jsonl").exists(), "a file that was to be whole or not at all is there in part")

    def test_a_disk_that_is_full_is_found_out_before_the_work_and_a_result_that_finds_no_room_is_printed(self):
        if os.geteuid() != 0:
            self.skipTest("only root can mount a small disk")
        disk = self.folder / "disk"
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True, check=False).returncode:
            self.skipTest("nothing can be mounted here")
        self.addCleanup(subprocess.run, ["umount", disk], check=False)
        fill = ["sh", "-c", "echo 'step 1'; cat /dev/zero > disk/fill 2> /dev/null; true"]
        measured = self.zeus("measure", "--json", "disk/x.json", "--", *fill)
        self.assertEqual(measured.returncode, 125)
        self.assertIn(f"cannot write {disk}/x.json: No space left on device", measured.stderr)
        self.assertRegex(measured.stderr, r"(?m)^ *time|^.* s\b")
        (disk / "fill").unlink()
        drafted = self.zeus("init", "--file", "disk/x.toml", "x", "--", *fill)
        self.assertEqual(drafted.returncode, 125)
        self.assertIn("command = [", drafted.stderr)
        full = self.zeus("measure", "--json", "disk/x.json", "--", "touch", "ran")
        self.assertEqual((full.returncode, full.stderr.count("\n")), (125, 1), full.stderr)
        self.assertIn("cannot write disk/x.json: No space left on device", full.stderr)
        self.assertFalse((self.folder / "ran").exists())

    def test_closed_streams_are_not_taken_by_files_that_are_opened(self):
        script = self.folder / "train.py"
        script.write_text("import time\nfor epoch in range(3):\n    time.sleep(0.1)\n    print('epoch', epoch, flush=True)\n",
                          encoding="utf-8")
        for closed in ("<&- >&-", "<&- >&- 2>&-"):
            with self.subTest(closed):
                done = self.in_shell(closed, "virtual", "1xV100", "--load", "constant:200W", "--", program, "run", "--power-limits",
                                     "150,250", "--", sys.executable, str(script))
                self.assertGreaterEqual(done.returncode, 0)
                for lock in (self.folder / "state").rglob("*.lock"):
                    with contextlib.suppress(FileNotFoundError):  # removed by the guardian since
                        self.assertEqual(lock.stat().st_size, 0, f"output went into {lock.name}")

    def test_a_device_stays_a_device(self):
        for arguments in self.writes:
            with self.subTest(arguments):
                self.assertEqual(self.zeus(*self.to_file(arguments, "/dev/null")).returncode, 0)
                full = self.zeus(*self.to_file(arguments, "/dev/full"))
                self.assertEqual(full.returncode, self.own_failure(arguments))
                self.assertIn("/dev/full", full.stderr)
                for device in ("/dev/null", "/dev/full"):
                    self.assertTrue(stat.S_ISCHR(os.stat(device).st_mode), device)

    def test_a_pipe_stays_a_pipe_and_gets_all(self):
        for arguments in self.writes:
            with self.subTest(arguments):
                pipe = self.folder / "pipe"
                os.mkfifo(pipe)
                with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as reader:
                    self.assertEqual(self.zeus(*self.to_file(arguments, str(pipe))).returncode, 0)
                    read = reader.communicate(timeout=60)[0]
                self.assertEqual(self.zeus(*self.to_file(arguments, "plain")).returncode, 0)
                plain = (self.folder / "plain").read_text(encoding="utf-8")
                self.assertEqual(len(read) > 100, len(plain) > 100)
                self.assertTrue(stat.S_ISFIFO(os.stat(pipe).st_mode))
                pipe.unlink()

    def test_a_link_stays_a_link(self):
        for number, arguments in enumerate(self.writes):
            with self.subTest(arguments):
                real, link = self.folder / f"real{number}", self.folder / f"link{number}"
                real.write_text("old", encoding="utf-8")
                link.symlink_to(real.name)
                self.assertEqual(self.zeus(*self.to_file(arguments, str(link))).returncode, 0)
                self.assertTrue(link.is_symlink())
                self.assertGreater(len(real.read_text(encoding="utf-8")), 100)

    def test_a_file_of_standard_output_is_not_replaced_under_it(self):
        target = self.folder / "both"
        with open(target, "w", encoding="utf-8") as out:
            done = self.zeus(*self.pipeline, "--json", "/dev/stdout", stdout=out)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"frontier"', target.read_text(encoding="utf-8"))

    def test_what_cannot_be_written_is_found_out_before_the_work(self):
        for name in (".", "state", "profile.csv/below", "/proc/none/report.html"):
            for arguments in self.writes + self.writes_late:
                with self.subTest((arguments, name)):
                    done = self.zeus(*self.to_file(arguments, name))
                    self.assertIn(done.returncode, (self.own_failure(arguments), 2), done.stderr)
                    self.assertEqual((done.stdout, done.stderr.count("\n")), ("", 1), done.stderr)
        for command in ("measure", "run"):
            done = self.zeus(command, "--json", str(self.folder), "--", "touch", str(self.folder / "ran"))
            self.assertNotEqual(done.returncode, 0)
            self.assertFalse((self.folder / "ran").exists())

    @unittest.skipUnless(os.geteuid() == 0, "root alone can become a user who may not write a folder")
    def test_a_file_in_a_folder_that_takes_no_new_one_is_named_as_its_user_did(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            folder.chmod(0o755)
            (folder / "out.json").touch()
            (folder / "out.json").chmod(0o666)
            words = another_user.words(program, "measure", "--json", str(folder / "out.json"), "--", "true",
                                       readable=[pathlib.Path(program).parents[1]])
            done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120, cwd=folder)
            self.assertEqual((done.returncode, done.stderr), (
                125, f"zeus: cannot write {folder}/out.json: its folder takes no new file: "
                "Permission denied; check the owner and mode of the path, or run as a user who may\n"))

    def test_a_command_that_fails_leaves_the_former_file_and_nothing_beside_it(self):
        (self.folder / "plan.json").write_text("former", encoding="utf-8")
        before = sorted(path.name for path in self.folder.iterdir())
        done = self.zeus("pipeline", "--profile", "missing.csv", "--stages", "2", "--microbatches", "4", "--json", "plan.json")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual((self.folder / "plan.json").read_text(encoding="utf-8"), "former")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), before)

    def test_a_recording_is_added_to_its_file_or_to_the_output(self):
        monitor = ["monitor", "--interval", "0.05", "--duration", "0.06"]
        recording = self.folder / "rec.csv"
        for _ in range(2):
            self.assertEqual(self.zeus(*monitor, "--csv", "rec.csv", "--json").returncode, 0)
            with recording.open("a", encoding="utf-8") as cut:
                cut.write("cut short")
        text = recording.read_text(encoding="utf-8")
        self.assertEqual((text.count("time,device"), text.count("cut short\n")), (1, 1), text)
        (self.folder / "log").write_text("former\n", encoding="utf-8")
        for name in ("/dev/stdout", "log"):
            done = self.in_shell(">> log", *monitor, "--csv", name, "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
        log = (self.folder / "log").read_text(encoding="utf-8")
        self.assertTrue(log.startswith("former\ntime,device,"), log)
        self.assertEqual((log.count("time,device,"), log.count('"elapsed_s"') >= 2), (2, True), log)
        alone = self.zeus(*monitor, "--csv", "-")
        self.assertTrue(alone.stdout.startswith("time,device,"), alone.stdout)
        self.assertFalse((self.folder / "-").exists())
        self.assertEqual(self.zeus(*monitor, "--csv", "-", "--json").returncode, 2)
        kept = self.zeus(*monitor, "--csv", "profile.csv")
        self.assertEqual((kept.returncode, (self.folder / "profile.csv").read_text(encoding="utf-8")), (1, PROFILE), kept.stderr)

    def test_a_demo_that_is_refused_leaves_no_folder(self):
        self.environment["TMPDIR"] = str(self.folder)
        self.assertEqual(self.zeus("demo", "--quiet", "--default-batch-size", "7").returncode, 2)
        self.assertEqual(list(self.folder.glob("zeus-demo-*")), [])

    def test_true_energies_are_printed_once(self):
        done = self.zeus("virtual", "1xV100", "--truth", "-", "--", "true")
        self.assertEqual(done.stdout.count('"gpus"'), 1, done.stdout)


class OnATerminal(unittest.TestCase):
    """Long work shows its progress, on terminals only."""

    JOB = [*"simulate job --workload cifar100 --gpu V100 --json".split()]

    def start(self, term: str, *arguments: str) -> tuple[subprocess.Popen, int]:
        """With standard error on a terminal whose other end the test reads."""
        leader, follower = pty.openpty()
        process = subprocess.Popen([program, *self.JOB, *arguments], stdout=subprocess.PIPE, stderr=follower,
                                   env={**os.environ, "TERM": term})
        os.close(follower)
        self.addCleanup(os.close, leader)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process, leader

    @staticmethod
    def written(leader: int, patience: float) -> str:
        return os.read(leader, 65536).decode() if select.select([leader], [], [], patience)[0] else ""

    def test_a_line_says_after_two_seconds_what_is_worked_on(self):
        # Started first, so that it has worked for at least as long when the other one prints.
        dumb, dumb_end = self.start("dumb", "--seeds", "10000000")
        began = time.monotonic()
        _, end = self.start("xterm", "--seeds", "10000000")
        self.assertRegex(self.written(end, 60), r"^\r\x1b\[Kzeus: seed \d+ of 10000000 \(\d+ s\)")
        self.assertGreater(time.monotonic() - began, 1.9)
        self.assertIsNone(dumb.poll())
        self.assertEqual(self.written(dumb_end, 0), "")

    def test_colours_are_for_people_and_change_no_word(self):
        with tempfile.TemporaryDirectory() as folder:
            store = pathlib.Path(folder) / "jobs.sqlite"
            shutil.copyfile(ROOT / "fixtures" / "jobs" / "store.sqlite", store)
            for words, part in ((["devices"], "\x1b[1mGPUs\x1b[0m\n"), (["jobs", "--store", store], "\x1b[1mrecurrences\x1b[0m"),
                                (["jobs", "nightly", "--store", store], "\n\x1b[1msaved against the default\x1b[0m\n"),
                                (["run", "--", "true"], "\x1b[31mzeus:\x1b[0m no GPU can be seen")):
                with self.subTest(words):
                    texts = {}
                    for when in ("always", "never", "auto"):
                        done = subprocess.run([program, words[0], "--color", when, *words[1:]], capture_output=True, text=True,
                                              check=False, timeout=60)
                        texts[when] = done.stdout + done.stderr
                    self.assertIn(part, texts["always"])
                    self.assertEqual(re.sub(r"\x1b\[\d*m", "", texts["always"]), texts["never"])
                    self.assertEqual(texts["auto"], texts["never"])

    def test_what_ends_sooner_says_nothing(self):
        for _ in range(5):
            began = time.monotonic()
            process, end = self.start("xterm", "--recurrences", "1")
            self.assertIn(b'"policy"', process.communicate(timeout=60)[0])
            if time.monotonic() - began < 1.9:  # a busy machine may take longer, and then something is said
                break
        with contextlib.suppress(OSError):  # the end of a terminal whose writer has gone
            self.assertEqual(self.written(end, 1), "")


if __name__ == "__main__":
    program = os.path.abspath(sys.argv.pop(1))
    unittest.main()
