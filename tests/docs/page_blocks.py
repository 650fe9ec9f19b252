"""The fenced blocks of the pages for beginners, and how each is run.

A block of `sh`, `cpp`, `c` or `python` runs; `toml` is parsed; `text` is some program's output. The `sh` blocks of a page
are one session, in a separate folder with links to examples/ and build/. Parts of a snippet left to the reader are in
tests/docs/pages/prelude.*. A block that needs more than this machine has is preceded by

    <!-- shown by: NAME -->      the test of `ctest` that runs the same
"""

import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRELUDES = pathlib.Path(__file__).resolve().parent / "pages"
BLOCK = re.compile(r"^(?:<!-- shown by: (?P<shown>[\w.]+) -->\n)?```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
LANGUAGES = {"sh", "cpp", "c", "python", "toml", "text"}


@dataclasses.dataclass(frozen=True)
class Block:
    page: str
    line: int
    language: str
    text: str
    shown_by: str | None

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


def pages() -> list[pathlib.Path]:
    """Pages with fenced blocks. The others have indented blocks, which docs.commands checks."""
    return [ROOT / "README.md", *sorted((ROOT / "docs" / "start").glob("*.md")), *sorted((ROOT / "skills").glob("*/SKILL.md")),
            *(ROOT / "docs" / f"{name}.md" for name in ("comparison", "concepts", "install", "privileges", "troubleshooting"))]


def blocks_in(text: str, page: str) -> list[Block]:
    found = []
    for match in BLOCK.finditer(text):
        found.append(Block(page, text.count("\n", 0, match.start("language")) + 1, match["language"], match["text"], match["shown"]))
    return found


def blocks() -> list[Block]:
    return [block for page in pages()
            for block in blocks_in(page.read_text(encoding="utf-8"), page.relative_to(ROOT).as_posix())]


def program(block: Block) -> str:
    """A snippet of C++ or C as a whole program; one with a main() stays unchanged."""
    if "int main(" in block.text:
        return block.text
    prelude = (PRELUDES / f"prelude.{block.language}").read_text(encoding="utf-8")
    includes = "".join(line + "\n" for line in block.text.splitlines() if line.startswith("#include"))
    rest = "".join(f"  {line}\n" for line in block.text.splitlines() if not line.startswith("#include"))
    return f"{includes}{prelude}\nint main() {{\n  PRELUDE\n{rest}  return 0;\n}}\n"


def session(blocks: list[Block]) -> str:
    """The blocks as the input of one `bash -e -s`, which says on standard error where each begins. A command that opens a shell
    reads what follows as its input, as it would for the person who types it; that shell stops at the first failure, too."""
    text = "".join(f"echo '@@ {block.place}' >&2\n{block.text}" for block in blocks)
    return re.sub(r"-- bash(?=\s)", "-- bash -e", text)


def place_of_failure(blocks: list[Block], errors: str) -> str:
    """Where a session was, by its standard error."""
    places = re.findall(r"^@@ (.*)$", errors, re.MULTILINE)
    return places[-1] if places else blocks[0].place
