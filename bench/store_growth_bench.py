"""What a store answers at once, with a hundred jobs and with ten thousand, in turns; and the import of 100 000 entries.

  store_growth_bench.py BUILD
"""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

TURNS = 3
FEW, MANY = 100, 10_000
ASKED = {
    "page_ms": "first page of 100, by name",
    "by_change_ms": "first page of 100, by last change",
    "running_ms": "those that run",
    "lacking_ms": "those that lack a summary",
    "savings_ms": "savings over all jobs, 30 days",
    "lengths_ms": "lengths of all histories",
}


def main() -> int:
    program = pathlib.Path(sys.argv[1]) / "bench" / "store_growth"
    seen: dict[int, list[dict]] = {FEW: [], MANY: []}
    memory = pathlib.Path("/dev/shm")  # the many jobs are made one by one, each flushed
    with tempfile.TemporaryDirectory(prefix="zeus_store_", dir=memory if memory.is_dir() else None) as folder:
        for turn in range(TURNS):
            for jobs, measured in seen.items():
                done = subprocess.run([program, f"{folder}/{turn}_{jobs}.sqlite", str(jobs), "100000"], capture_output=True, text=True,
                                      check=False)
                if done.returncode:
                    print(done.stderr, file=sys.stderr)
                    return 1
                measured.append(json.loads(done.stdout))
    print(f"  {'ms':<46}{f'{MANY} jobs':>10}{f'{FEW} jobs':>10}{'ratio':>9}")
    for key, name in ASKED.items():
        many, few = (statistics.median(one[key] for one in seen[jobs]) for jobs in (MANY, FEW))
        print(f"  {name:<46}{many:>10.3g}{few:>10.3g}{many / few:>9.3g}")
    imported = statistics.median(one["import_s"] for one in seen[MANY])
    print(f"  {'import of 100 000 entries, s':<46}{imported:>10.3g}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
