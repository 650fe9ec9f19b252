"""A person's first ten minutes with the wheel, in fresh roots of Debian 11, 12 and 13 that have Python alone: installed, used,
uninstalled, with the seconds of each step. That of Debian 12 is shown this machine's PyTorch for examples/pytorch, and then runs
packaging/Containerfile's commands.

  wheel_in_debians_test.py BUILD_FOLDER [RELEASE...]     where `make wheels` has put it: in wheels/

It needs root, debootstrap and Debian's registry, with this machine's apt settings; without them it is skipped with one line.
"""

import pathlib
import re
import shutil
import sys
import tempfile
import unittest

import fresh_debian_test
from fresh_debian_test import ROOT, in_a_root

sys.path.insert(0, str(ROOT / "tests" / "support"))
import python_environment  # noqa: E402

# Release, glibc, Python.
RELEASES = {"bullseye": ("2.31", "3.9"), "bookworm": ("2.36", "3.11"), "trixie": ("2.41", "3.13")}
build = pathlib.Path()
wheel = pathlib.Path()

MINUTES = r"""
set -e
cd /root
step() { awk -v now="$(date +%s.%N)" -v then="$then" -v what="$1" 'BEGIN { printf "@@ %s: %.1f s\n", what, now - then }'; then=$(date +%s.%N); }
gpu() { zeus virtual 1xV100 --load follow:work:1,1,0.85 -- "$@"; }
then=$(date +%s.%N)
echo "glibc $(ldd --version | head -1 | grep -o '[0-9.]*$'), $(python3 --version)"
python3 -m venv env
find env | sort > before
. env/bin/activate
pip install --no-index --no-compile --quiet /*.whl
step install
zeus measure -- true
gpu zeus measure -- python3 train.py --epochs 2
step measure
gpu zeus run --max-slowdown 1.05 --profile-seconds 0.3 -- python3 train.py --epochs 100
step run
if [ -d /mnt/torch ]; then
    PYTHONPATH=/mnt gpu zeus run --max-slowdown 1.05 --profile-seconds 0.6 -- python3 pytorch/train.py
    step "run, on the pytorch example"
fi
gpu python3 -B -c '
import time
from zeus.monitor import ZeusMonitor
from zeus.optimizer.power_limit import Energy, GlobalPowerLimitOptimizer
plo = GlobalPowerLimitOptimizer(ZeusMonitor(), Energy(), warmup_steps=1, profile_steps=20, pl_step=50)
for epoch in range(3):
    plo.on_epoch_begin()
    for step in range(60):
        plo.on_step_begin()
        time.sleep(0.01)
        plo.on_step_end()
    plo.on_epoch_end()
print("callback:", plo.state)
'
step callback
zeus virtual 1xA100 -- zeus devices
gpu zeus doctor
gpu zeus init nightly --accept -- python3 train.py --epochs 2 --batch-size 64
gpu zeus run @nightly --profile-seconds 0.2 --stop-at-target
zeus jobs nightly
pip uninstall --quiet --yes zeus-cpp
find env -name __pycache__ -prune -o -print | sort > after
sed -i /__pycache__/d before
diff before after && echo "nothing is left"
step "the rest"
"""


def packages_with_torch() -> pathlib.Path | None:
    """Those of the tests' environment with PyTorch, if it fits Debian 12's Python."""
    try:
        python = python_environment.interpreter(build, "trainers")
    except unittest.SkipTest as reason:
        print(f"without PyTorch: {reason}")
        return None
    packages = python_environment.packages_of(python)
    return packages if packages.parent.name == "python3.11" else None


class Debians(unittest.TestCase):
    def test_the_first_ten_minutes(self):
        for release, (glibc, python) in RELEASES.items():
            with self.subTest(release), tempfile.TemporaryDirectory() as folder:
                root = pathlib.Path(folder) / "root"
                fresh_debian_test.make_root(root, release, "python3,python3-venv")
                shutil.copy(wheel, root)
                shutil.copy(ROOT / "examples" / "script" / "train.py", root / "root")
                shutil.copytree(ROOT / "examples" / "pytorch", root / "root" / "pytorch")
                said = in_a_root(root, "bash", "-s", given=MINUTES, shown=packages_with_torch() if release == "bookworm" else None)
                print(release, *re.findall(r"^(?:@@ .*|glibc .*|callback: .*|zeus: .*J in .*)$", said, re.MULTILINE), sep="\n  ",
                      flush=True)
                self.assertIn(f"glibc {glibc}, Python {python}.", said)
                self.assertRegex(said, r"\d ± [\d.]+ J +gpu 0")
                self.assertRegex(said, r"zeus: [\d.]+ k?J in ")
                self.assertRegex(said, r"callback: optimal_power_limit=\d")
                self.assertIn("nothing is left", said)
                if release == "bookworm":
                    self.try_the_containerfile(root)

    def try_the_containerfile(self, root: pathlib.Path) -> None:
        """What the file would run, in a root instead of an image."""
        lines = (ROOT / "packaging" / "Containerfile").read_text(encoding="utf-8").splitlines()
        shutil.copy(wheel, root / "tmp")
        path = "export PATH=/usr/sbin:/usr/bin:/sbin:/bin\n"
        for line in lines:
            if line.startswith("RUN "):
                in_a_root(root, "sh", "-ec", path + line[len("RUN "):])
        (path,) = [line.split("=", 1)[1] for line in lines if line.startswith("ENV PATH=")]
        self.assertIn("zeus 0.", in_a_root(root, "env", f"PATH={path}", "zeus", "--version"))


if __name__ == "__main__":
    build = pathlib.Path(sys.argv[1]).resolve()
    found = sorted((build / "wheels").glob("zeus_cpp-*.whl"))
    if not found:
        print(f"skipped: there is no wheel in {build / 'wheels'}; `make wheels` makes it")
        sys.exit(0)
    wheel = found[-1]
    RELEASES = {name: RELEASES[name] for name in sys.argv[2:] or RELEASES}
    unittest.main(argv=sys.argv[:1], verbosity=2)  # which says why it was skipped
