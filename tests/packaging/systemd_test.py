"""The shipped units of zeusd and `zeus serve`: systemd's rating of their hardening, alone and with the drop-ins, and that
systemd accepts them.

  systemd_test.py FOLDER

Without systemd-analyze this is skipped with one line.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

folder = pathlib.Path()
THRESHOLD = 22
WITH_DROP_INS = 28


@unittest.skipUnless(shutil.which("systemd-analyze"), "skipped: systemd-analyze is not installed")
class Units(unittest.TestCase):
    def setUp(self) -> None:
        self.made = tempfile.TemporaryDirectory()
        self.addCleanup(self.made.cleanup)
        self.units = pathlib.Path(self.made.name)

    def install(self, drop_ins: tuple[str, ...], program: str = "/usr/bin/zeusd") -> None:
        for name in ("zeusd.service", "zeusd.socket"):
            (self.units / name).write_text((folder / name).read_text().replace("/usr/bin/zeusd", program))
        beside = self.units / "zeusd.service.d"
        beside.mkdir(exist_ok=True)
        for name in drop_ins:
            shutil.copy(folder / name, beside)

    def analyze(self, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run(["systemd-analyze", *arguments], env={"SYSTEMD_UNIT_PATH": f"{self.units}:", "PATH": "/usr/bin:/bin"},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)

    def assert_exposed_at_most(self, threshold: int) -> None:
        done = self.analyze("security", "--offline=true", f"--threshold={threshold}", str(self.units / "zeusd.service"))
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_the_service_as_shipped_is_hardened(self) -> None:
        self.install(())
        self.assert_exposed_at_most(THRESHOLD)

    def test_it_stays_so_with_the_drop_ins(self) -> None:
        for drop_ins in (("zeusd-tcp.conf",), ("zeusd-amd.conf",), ("zeusd-amd.conf", "zeusd-tcp.conf")):
            with self.subTest(drop_ins):
                self.install(drop_ins)
                self.assert_exposed_at_most(WITH_DROP_INS)

    def test_the_server_of_jobs_is_hardened_and_can_be_read(self) -> None:
        unit = self.units / "zeus-server.service"
        unit.write_text((folder / unit.name).read_text().replace("/usr/bin/zeus", "/bin/true"))
        done = self.analyze("security", "--offline=true", f"--threshold={THRESHOLD}", str(unit))
        self.assertEqual(done.returncode, 0, done.stdout)
        said = self.analyze("verify", "--man=no", str(unit)).stdout
        self.assertEqual([line for line in said.splitlines() if "zeus-server" in line], [])

    def test_systemd_can_read_them(self) -> None:
        # The test does not check whether the program exists.
        self.install(("zeusd-tcp.conf", "zeusd-amd.conf"), program="/bin/true")
        done = self.analyze("verify", "--man=no", str(self.units / "zeusd.service"), str(self.units / "zeusd.socket"))
        said = [line for line in done.stdout.splitlines() if "zeusd" in line]
        self.assertEqual(said, [])


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv.pop(1))
    unittest.main(verbosity=2)  # which says why it was skipped
