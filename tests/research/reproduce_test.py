"""docs/reproduce-nsdi23.md, followed literally: its commands run in a folder that has what the page asks for. The traces are the
published ones where they lie beside the checkout; the file of groups is made up, in the published columns.

  reproduce_test.py ZEUS
"""

import json
import lzma
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACES = ROOT.parent / "shared" / "traces"
PAGE = (ROOT / "docs" / "reproduce-nsdi23.md").read_text(encoding="utf-8")
GROUPS = "runtime_ratio,group,inst_num,dataset,start_time,end_time\n" + "".join(
    f"{0.5 + 0.1 * (i % 11)},group{i % 7},1,{('squad', 'imagenet', 'librispeech')[i % 7 % 3]},{5000 * i},{5000 * i + 60000}\n"
    for i in range(200))
zeus = ""


class Reproduced(unittest.TestCase):
    def test_the_page_leads_to_its_numbers(self):
        if not TRACES.is_dir():
            self.skipTest("published traces are not beside the checkout")
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "tests").symlink_to(ROOT / "tests")
            (folder / "trace").mkdir()
            for trace in TRACES.glob("*.csv"):
                (folder / "trace" / trace.name).symlink_to(trace)
            (folder / "trace" / "alibaba_groups.csv.xz").write_bytes(lzma.compress(GROUPS.encode()))
            blocks = [one for one in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL) if "trace/" in one]
            self.assertEqual(len(blocks), 2)
            said = [self.run_in(folder, block) for block in blocks]
            expected = re.search(r"prints with the traces of V100 and A40:\n\n((?:    .*\n)+)", PAGE)[1]
            self.assertEqual([line[4:] for line in expected.splitlines()], said[0].splitlines())
            self.assertIn("best configuration           batch size 48, 150 W", said[1])
            self.assertRegex(said[1], r"librispeech/\S+ +2 +\d+")
            page = json.loads((folder / "paper.json").read_text(encoding="utf-8"))
            self.assertTrue((folder / "paper.html").read_text(encoding="utf-8").startswith("<!doctype html>"))
            self.assertIn("Scorecard", (folder / "paper.html").read_text(encoding="utf-8"))
            self.assertEqual(len(page["scorecard"]), len(said[0].splitlines()))

    def run_in(self, folder: pathlib.Path, commands: str) -> str:
        done = subprocess.run(["bash", "-e", "-c", commands], cwd=folder, capture_output=True, text=True, check=False, timeout=280,
                              env={**os.environ, "PATH": f"{pathlib.Path(zeus).resolve().parent}:{os.environ['PATH']}"})
        self.assertEqual(done.returncode, 0, commands + done.stdout + done.stderr)
        return done.stdout


if __name__ == "__main__":
    zeus = sys.argv[1]
    unittest.main(argv=sys.argv[:1])
