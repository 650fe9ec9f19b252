"""Two CPU packages that take 40 W each, and their memory 5 W, as the kernel shows such: for scripts that name some, on a machine that
has none.

  processors.py COMMAND...     runs it with them; needs the right to mount, and what it mounts is seen by the command alone
"""

import pathlib
import subprocess
import sys
import threading
import time

FOLDER = pathlib.Path("/sys/class/powercap/intel-rapl")


def before() -> list:
    """What to put before a command; nothing where this cannot be done."""
    words = ["unshare", "--mount", sys.executable, __file__]
    return words if subprocess.run([*words, "true"], check=False, capture_output=True).returncode == 0 else []


def main() -> int:
    subprocess.run(["mount", "-t", "tmpfs", "none", "/sys/class"], check=True)
    powers = {}
    for number in range(2):
        package = FOLDER / f"intel-rapl:{number}"
        for zone, name, watts in ((package, f"package-{number}", 40.0), (package / f"intel-rapl:{number}:0", "dram", 5.0)):
            zone.mkdir(parents=True)
            (zone / "name").write_text(f"{name}\n")
            (zone / "max_energy_range_uj").write_text("262143328850\n")
            (zone / "energy_uj").write_text("0\n")
            powers[zone] = watts

    def go_on() -> None:
        began = time.monotonic()
        while True:
            for zone, watts in powers.items():
                (zone / "following").write_text(f"{int((time.monotonic() - began) * watts * 1e6)}\n")
                (zone / "following").rename(zone / "energy_uj")
            time.sleep(0.02)

    threading.Thread(target=go_on, daemon=True).start()
    return subprocess.run(sys.argv[1:], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
