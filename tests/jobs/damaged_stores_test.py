"""Stores with a few flipped bits, or cut short: `zeus jobs` gives an answer that has every entry, or a refusal that names the
file, within seconds; and `zeus run` trains."""

import argparse
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

PATIENCE = 5.0
ROOT = pathlib.Path(__file__).resolve().parents[2]
FIXTURE = ROOT / "fixtures" / "jobs" / "store.sqlite"
# Bytes that make the index of the fixture's entries disagree with its table: the one counts what the other does not have.
DISAGREEING = {18: 2, 19: 2, 27: 21, 95: 21, 6839: 128, 13181: 8, 13756: 2, 27307: 32, 28689: 95, 32344: 129, 39514: 4, 44189: 4,
               62620: 60, 70362: 50, 76816: 70, 83194: 176, 94919: 56, 95176: 115, 97277: 103, 106826: 133, 109558: 50, 110738: 16,
               112581: 79, 114244: 48}


def zeus(*words: str, patience: float = 60.0) -> subprocess.CompletedProcess[str]:
    return subprocess.run([ARGUMENTS.zeus, *words], capture_output=True, text=True, errors="replace", check=False, timeout=patience)


def exported(store: pathlib.Path, job: str) -> subprocess.CompletedProcess[str]:
    return zeus("jobs", job, "export", "--store", str(store), patience=PATIENCE * ARGUMENTS.slowness)


def damage(store: pathlib.Path, draws: random.Random) -> str:
    content = bytearray(store.read_bytes())
    if draws.random() < 0.15:
        length = draws.randrange(len(content))
        store.write_bytes(content[:length])
        return f"cut to {length} bytes"
    places = [draws.randrange(len(content) * 8) for _ in range(draws.randint(1, 3))]
    for place in places:
        content[place // 8] ^= 1 << place % 8
    store.write_bytes(content)
    return f"flipped bits {places}"


class DamagedStores(unittest.TestCase):
    def setUp(self) -> None:
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)

    def stores(self) -> list[pathlib.Path]:
        """As an older Zeus has written it, and as this one does."""
        older, newer = self.folder / "older.sqlite", self.folder / "newer.sqlite"
        for file in (older, newer):
            shutil.copy(FIXTURE, file)
            file.chmod(0o600)
        for job in json.loads(zeus("jobs", "--json", "--store", str(newer)).stdout)["jobs"]:
            done = zeus("jobs", job["name"], "leave-out", "--recurrence", "1", "--yes", "--store", str(newer))
            self.assertIn(done.returncode, (0, 1), done.stderr)
        return [older, newer]

    def test_each_entry_is_there_or_the_file_is_refused(self) -> None:
        draws = random.Random(ARGUMENTS.seed)
        wholes = self.stores()
        jobs = [job["name"] for job in json.loads(zeus("jobs", "--json", "--store", str(wholes[0])).stdout)["jobs"]]
        entries = {(file, job): exported(file, job).stdout.count("\n") for file in wholes for job in jobs}
        refused = answered = 0
        lost = []
        for number in range(ARGUMENTS.count):
            whole = draws.choice(wholes)
            store = self.folder / f"damaged{number}.sqlite"
            shutil.copy(whole, store)
            how = f"{number}, {whole.name}: {damage(store, draws)}"
            asked = [zeus("jobs", "--json", "--store", str(store), patience=PATIENCE * ARGUMENTS.slowness)]
            asked += [exported(store, job) for job in draws.sample(jobs, 2)]
            for done, job in zip(asked, ["", *(one.args[2] for one in asked[1:])], strict=True):
                self.assertGreaterEqual(done.returncode, 0, (how, done.args, done.stderr))
                self.assertNotIn("defect", done.stderr, (how, done.args))
                if done.returncode != 0:
                    refused += 1
                    self.assertIn(store.name if "there is no job" not in done.stderr else "", done.stderr, (how, done.args))
                    if "there is no job" in done.stderr and len(json.loads(asked[0].stdout)["jobs"]) < len(jobs) and not asked[0].stderr:
                        lost.append(f"{how}: {done.args[2]} is gone")
                    continue
                answered += 1
                if job and done.stdout.count("\n") != entries[whole, job]:
                    lost.append(f"{how}: {job} has {done.stdout.count(chr(10))} lines of {entries[whole, job]}")
            for file in self.folder.glob(f"{store.name}*"):
                file.unlink()
        print(f"{ARGUMENTS.count} damaged stores: {refused} refusals, {answered} answers, {len(lost)} losses")
        self.assertEqual(lost, [])

    def train(self, store: pathlib.Path) -> subprocess.CompletedProcess[str]:
        return zeus("virtual", "1xV100", "--", ARGUMENTS.zeus, "run", "--job", "nightly", "--store", str(store), "--batch-sizes",
                    "8,32,128", "--default-batch-size", "32", "--target-metric", "0.9", "--max-epochs", "40", "--seed", "7",
                    "--metric-regex", "acc ([0-9.]+)", "--", "sh", "-c", "echo trained; echo acc 0.95 {batch_size}")

    def test_a_store_that_was_never_completed_is_called_so(self) -> None:
        store = self.folder / "begun.sqlite"
        store.touch()
        done = zeus("jobs", "--store", str(store))
        self.assertEqual((done.returncode, done.stderr), (1, f"zeus: {store} has no jobs, and is not a store of Zeus yet; run a job "
                         "with it, which completes it, or name another store\n"))

    def test_a_training_runs_all_the_same(self) -> None:
        draws = random.Random(ARGUMENTS.seed)
        wholes = self.stores()
        for number in range(ARGUMENTS.trainings):
            store = self.folder / f"trained{number}.sqlite"
            shutil.copy(draws.choice(wholes), store)
            how = damage(store, draws)
            done = self.train(store)
            self.assertIn("trained", done.stdout, (how, done.stderr))
            self.assertEqual(done.returncode, 0, (how, done.stderr))

    def test_an_index_that_disagrees_with_its_table_is_refused(self) -> None:
        store = self.folder / "disagrees.sqlite"
        content = bytearray(FIXTURE.read_bytes())
        for place, byte in DISAGREEING.items():
            content[place] = byte
        store.write_bytes(content)
        done = self.train(store)
        self.assertIn("trained", done.stdout, done.stderr)
        self.assertIn(str(store), done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("zeus")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--trainings", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--slowness", type=float, default=12.0, help="how many times slower than a quiet machine this one may be")
    ARGUMENTS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
