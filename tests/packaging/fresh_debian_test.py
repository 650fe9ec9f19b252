"""The Debian packages in a fresh Debian: installed as docs/install.md says and tried as README.md says, word for word; installed by apt,
used, purged without a trace, and built against.

  fresh_debian_test.py FOLDER [RELEASE]     where `make packages` has put them, and for which Debian: by default this machine's

It needs root, debootstrap and Debian's registry, with this machine's apt settings; without them it is skipped with one line.
"""

import os
import pathlib
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "docs"))
import page_blocks  # noqa: E402

CONSUMERS = ROOT / "tests" / "consumer"
# Files that apt, dpkg, ldconfig and the creation of a group leave.
BOOKS = re.compile(r"(etc/ld\.so\.cache|var/(cache|log|lib/(apt|dpkg))/.*|etc/\.pwd\.lock|etc/g(roup|shadow)-)")
debs = pathlib.Path()
# Of this machine.
OWN = platform.freedesktop_os_release().get("VERSION_CODENAME", "bookworm")
release = OWN

USE = """
set -e
zeus --version
zeus measure -- true
zeus virtual 2xV100 -- zeus measure -- sleep 0.2
zeus virtual 1xV100 -- zeus run -- true
zeus virtual 2xV100 -- python3 -c '
from zeus.monitor import ZeusMonitor
import zeus.device
monitor = ZeusMonitor()
monitor.begin_window("x")
assert len(monitor.end_window("x").gpu_energy) == 2
zeus.device.get_gpus().set_power_management_limit(0, 150_000)  # which starts the guardian
'
python3 -c '
import importlib.metadata
assert importlib.metadata.version("zeus-cpp") == importlib.metadata.version("zeus_cpp")
'
"""
BUILD = """
set -e
cd /consumers
g++ -std=c++20 cpp/consumer.cpp $(pkg-config --cflags --libs zeus) -o /tmp/cpp
gcc -std=c11 c/consumer.c $(pkg-config --cflags --libs zeus) -o /tmp/c
for language in cpp c; do
  cmake -S $language -B /tmp/$language-by-cmake >/dev/null
  cmake --build /tmp/$language-by-cmake >/dev/null
done
for program in /tmp/cpp /tmp/cpp-by-cmake/consumer /tmp/c /tmp/c-by-cmake/consumer; do
  zeus virtual 1xV100 -- $program
done
"""


def run(*command, given: str = "") -> str:
    done = subprocess.run([str(part) for part in command], input=given, capture_output=True, text=True, check=False,
                          env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/root",
                               "DEBIAN_FRONTEND": "noninteractive"})
    if done.returncode:
        raise AssertionError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def in_a_root(root: pathlib.Path, *command, given: str = "", shown: pathlib.Path | None = None) -> str:
    """Runs a command in a root with its own mounts, which vanish with the command; the folder `shown` is at /mnt."""
    mounts = 'mount -t proc proc "$0/proc" && mount --bind /dev "$0/dev" && mount -t tmpfs shm "$0/dev/shm"'
    if shown:
        mounts += f' && mount --bind {shlex.quote(str(shown))} "$0/mnt"'
    return run("unshare", "--mount", "--pid", "--fork", "sh", "-c", f'{mounts} && exec chroot "$0" "$@"', root, *command, given=given)


def make_root(root: pathlib.Path, release: str, include: str = "ca-certificates") -> None:
    """A minimal Debian, for this machine's own release with its apt settings; if that is impossible, the test is skipped."""
    if os.geteuid() != 0:
        raise unittest.SkipTest("skipped: only root can make a Debian root")
    if not shutil.which("debootstrap"):
        raise unittest.SkipTest("skipped: debootstrap is not installed")
    try:
        sources = run("apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME)", "Created-By: Packages").splitlines()
        mirror = next((line.split()[0] for line in sources if line.endswith(f" {OWN}")), None)
        if mirror is None:
            raise unittest.SkipTest(f"skipped: apt knows no source of {OWN} here")
        run("debootstrap", "--variant=minbase", f"--include={include}", release, root, mirror)
        if release != OWN:
            return
        shutil.rmtree(root / "etc/apt")
        shutil.copytree("/etc/apt", root / "etc/apt", symlinks=True)
        in_a_root(root, "apt-get", "update")
    except AssertionError as refusal:
        raise unittest.SkipTest(f"skipped: no Debian root can be made: {str(refusal).splitlines()[-1]}") from refusal


class FreshDebian(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not list(debs.glob("*.deb")):
            raise unittest.SkipTest(f"skipped: there are no packages in {debs}; `make packages` makes them")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name) / "root"
        make_root(cls.root, release)
        shutil.copytree(CONSUMERS, cls.root / "consumers")
        # The top of a clone, in which `make packages` was run.
        cls.clone = cls.root / "root" / "zeus in a clone"
        shutil.copytree(ROOT, cls.clone, symlinks=True, ignore=shutil.ignore_patterns("build*", ".git", "__pycache__"))
        packages = cls.clone / "build-packages" / "packages"
        packages.mkdir(parents=True)
        for deb in debs.glob("*.deb"):
            shutil.copy(deb, packages)
            shutil.copy(deb, cls.root)

    def install(self, *more: str) -> None:
        in_a_root(self.root, "sh", "-c", f"apt-get install --yes --no-install-recommends /*.deb {' '.join(more)}")

    def purge(self) -> None:
        installed = in_a_root(self.root, "dpkg-query", "--show", "--showformat", "${Package}\n", "*zeus*").split()
        in_a_root(self.root, "apt-get", "purge", "--yes", "--auto-remove", *installed)

    def files(self) -> set[str]:
        walked = (pathlib.Path(folder) / name for folder, folders, files in os.walk(self.root) for name in folders + files)
        paths = (str(path.relative_to(self.root)) for path in walked)
        return {path for path in paths if not BOOKS.fullmatch(path)}

    def test_as_the_pages_say_it_is_installed_and_the_quick_start_runs(self):
        installing = [line for block in page_blocks.blocks() if (block.page, block.shown_by) == ("docs/install.md", "packaging.fresh_debian")
                      for line in block.text.splitlines() if line.startswith("sudo apt install")]
        self.assertTrue(installing)
        readme = [block for block in page_blocks.blocks() if block.page == "README.md" and block.language == "sh"]
        quick_start = [block for block in readme if block.shown_by is None]
        for block in readme:
            if block.shown_by:
                print(f"{block.place} is not run here; {block.shown_by} does")
        # What README.md asks for beside the packages; each shell is one that a user types into.
        in_a_root(self.root, "apt-get", "install", "--yes", "--no-install-recommends", "sudo", "python3")
        for line in installing:
            in_a_root(self.root, "bash", "-ec", f"cd ~/zeus*\n{line}", given="y\n")
        used = in_a_root(self.root, "bash", "-e", "-s", given=f"cd ~/zeus*\n{page_blocks.session(quick_start)}")
        self.assertRegex(used, r"\d J")
        self.assertIn("</html>", (self.clone / "examples" / "script" / "nightly.html").read_text(encoding="utf-8"))
        self.purge()
        shutil.rmtree(self.clone)

    def test_installed_used_purged_and_built_against(self):
        before = self.files()
        self.install()
        used = in_a_root(self.root, "sh", "-c", USE)
        self.assertRegex(used, r"(?s)^zeus \d.*\d J")
        self.assertNotIn("guardian", used)

        self.purge()
        self.assertEqual((sorted(self.files() - before), sorted(before - self.files())), ([], []))
        self.assertEqual(in_a_root(self.root, "sh", "-c", "dpkg-query --show '*zeus*' 2>/dev/null || true"), "")

        self.install("g++", "cmake", "make", "pkg-config")
        built = in_a_root(self.root, "sh", "-c", BUILD)
        self.assertEqual(built.count("caught by it too"), 2, built)
        self.assertEqual(built.count("1 GPUs measured from C"), 2, built)


if __name__ == "__main__":
    debs = pathlib.Path(sys.argv.pop(1)).resolve()
    named = sys.argv[1:] and not sys.argv[1].startswith("-")
    release = sys.argv.pop(1) if named else OWN
    unittest.main(verbosity=2)  # which says why it was skipped
