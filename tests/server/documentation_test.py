"""The commands of docs/server.md work: each section's are run in one shell, in a separate folder, with other ports."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import server_session as session

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from postgres_server import PostgresServer

ZEUS = pathlib.Path(sys.argv.pop(1)).absolute()


def sections() -> dict[str, list[str]]:
    """The blocks of commands below each heading, without the proxy's configuration."""
    found: dict[str, list[str]] = {}
    for part in re.split(r"^## ", (ROOT / "docs" / "server.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        title, text = part.split("\n", 1)
        blocks = re.findall(r"(?:^    .*\n)+", text, flags=re.MULTILINE)
        found[title] = [block for block in blocks if not block.lstrip().startswith("# nginx")]
    return found


class Documentation(unittest.TestCase):
    def test_commands_do_what_the_page_promises(self) -> None:
        commands = sections()
        ran = 0
        postgres = PostgresServer()
        self.addCleanup(postgres.remove)
        with tempfile.TemporaryDirectory() as text:
            folder = pathlib.Path(text)
            (folder / "zeus").symlink_to(ZEUS)
            (folder / "job.json").write_text(session.json.dumps(session.definition()), encoding="utf-8")
            (folder / "nightly.toml").write_text("", encoding="utf-8")
            (folder / "freqs_pipeline_00042.py").write_text("[[('forward', 1410), ('backward', 1200)]]\n", encoding="utf-8")
            lines = ["set -e -m", "trap 'kill $(jobs -p) 2> /dev/null; wait' EXIT"]
            for title, blocks in commands.items():
                for block in blocks:
                    # Administrative operations need an administrator's token.
                    if "TOKEN2" in block:
                        lines.append("TOKEN2=$(zeus token issue --signing-key-path key --user eve --scope jobs-write --expires 1h)")
                    for line in block.splitlines():
                        if title == "One node" and "zeus serve &" in line:
                            line = line.replace("zeus serve &", "zeus serve --listen 127.0.0.1:8470 &")
                        lines.append(line.strip())
                        ran += 1
            script = "\n".join(lines) + "\n"
            named = sorted(set(re.findall(r"847\d", script)))
            ports = dict(zip(named, session.free_ports(len(named))))
            script = re.sub(r"847\d", lambda port: str(ports[port[0]]), script)
            environment = session.environment() | {
                "PATH": f"{folder}:{os.environ['PATH']}", "HOME": str(folder), "DATABASE": postgres.create_database("jobs")}
            done = subprocess.run(["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True,
                                  check=False, timeout=120)
            self.assertEqual(done.returncode, 0, f"{script}\n{done.stdout}\n{done.stderr[-6000:]}")
            self.assertIn('"jobs":[', done.stdout)
            self.assertIn("nightly: ", done.stdout)
            self.assertRegex(done.stdout, r"\n +1 +1 +64 .* reached ", "what a team's first user has learned")
        print(f"{ran} commands of {len([one for one in commands.values() if one])} sections")
        self.assertGreater(ran, 15)

    def test_a_path_of_nothing_leads_to_all_that_there_is(self) -> None:
        with tempfile.TemporaryDirectory() as text, session.Server(str(ZEUS), pathlib.Path(text)) as server:
            for path in ("/", "/docs"):
                answer = server.ask("GET", path)
                self.assertEqual(answer.status, 404)
                named = re.fullmatch(r"(/\S+) lists all paths", answer.json()["advice"])[1]
                self.assertIn("/api/v1/jobs", server.get(named)["paths"])


if __name__ == "__main__":
    unittest.main()
