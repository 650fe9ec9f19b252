#!/usr/bin/env python3
"""Finds references to what is gone: in documents and comments, the files, decisions and symbols that they name must exist.

  check_references.py [--root DIR]     exit 1 if anything is refused

Looked at are links and anchors of Markdown, and in `code` of Markdown and in comments of sources:
  paths and file names of this tree's kinds      src/base/clock.hpp, restore_test.py
  decisions                                      decision 0171, docs/decisions/0189
  symbols                                        zeus::Monitor, GpuMeter, settle(), LeaseTest.PutsBack*
What belongs to users or to other projects is in tools/named_elsewhere.txt, with why.
"""

import argparse
import fnmatch
import pathlib
import re
import sys

SKIPPED = {".git", "__pycache__", "node_modules", "golden", "corpus", "published"}
SOURCES = {".cpp", ".hpp", ".h", ".c", ".py", ".pyi"}
HASH_COMMENTS = {".py", ".pyi", ".cmake", ".toml", ".sh"}
CODE = SOURCES | {".cmake", ".toml", ".sh", ".in", ".service", ".json"}

LINK = re.compile(r"(?<!!)\[[^\]\[]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"(`+)([^`]+)\1")
CPP_TOKEN = re.compile(r'//[^\n]*(?:\n\s*//[^\n]*)*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'',
                       re.DOTALL)
HASH_TOKEN = re.compile(r'"""(.*?)"""|\'\'\'(.*?)\'\'\'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|#[^\n]*', re.DOTALL)
PATH = re.compile(r"(?<![\w/$~.<{*%-])((?:[\w.*-]+/)*[\w*-]+\.(?:hpp|cpp|h|c|py|pyi|md|cmake|toml|sh))(?![\w/])")
DECISION = re.compile(r"(?:decisions?[ /]|decisions/)(\d{4})\b")
QUALIFIED = re.compile(r"(?<![\w:.])((?:[A-Za-z_]\w*::)+~?[A-Za-z_]\w*)")
CAMEL = re.compile(r"(?<![\w./:$%*-])([A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+)(?![\w/-]|\.\w)")
CALL = re.compile(r"(?<![\w.:$>])([a-z]\w*_\w+)\(\)")
TEST = re.compile(r"(?<![\w./:-])([A-Z]\w+(?:Test|Promises|s)?)\.([A-Z]\w{5,}\*?)(?![\w/])")


def files_of(root: pathlib.Path) -> list[pathlib.Path]:
    found = []
    for path in sorted(root.iterdir()):
        if path.name in SKIPPED or path.name.startswith("build") or path.is_symlink():
            continue
        found += [path] if path.is_file() else files_of(path)
    return found


def split(path: pathlib.Path, text: str) -> tuple[list[tuple[int, str]], str]:
    """Comments with where they begin, and the code that is left without them."""
    comments, code, last = [], [], 0
    pattern = HASH_TOKEN if path.suffix in HASH_COMMENTS or path.name == "CMakeLists.txt" else CPP_TOKEN
    for token in pattern.finditer(text):
        if not token[0].startswith(("//", "/*", "#", '"""', "'''")):
            continue
        code.append(text[last:token.start()])
        last = token.end()
        comments.append((token.start(), token[0]))
    code.append(text[last:])
    return comments, "".join(code)


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as forges make them."""
    found: dict[str, int] = {}
    for heading in re.findall(r"^#{1,6} (.+?) *#*$", FENCE.sub("", text), re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()).replace(" ", "-")
        found[slug if slug not in found else f"{slug}-{found[slug]}"] = 0
        found[slug] += 1
    return set(found)


class Tree:
    def __init__(self, root: pathlib.Path) -> None:
        self.root = root
        self.text = {}
        self.everything = [path.relative_to(root).as_posix() for path in files_of(root)]
        self.everything += [path.relative_to(root).as_posix() for path in (root / "tests" / "golden").rglob("*")]
        self.comments: dict[str, list[tuple[int, str]]] = {}
        self.words: set[str] = set()
        for name in self.everything:
            path = root / name
            if path.suffix in CODE | {".md"} or path.name in {"CMakeLists.txt", "Makefile"}:
                self.read(name, path)
        self.paths = set(self.everything)
        self.paths |= {parent.as_posix() for name in self.everything for parent in pathlib.PurePath(name).parents}
        self.names = {pathlib.PurePath(name).name for name in self.paths}
        self.stems = {pathlib.PurePath(name).name.split(".")[0] for name in self.paths}
        self.decisions = {pathlib.PurePath(name).name[:4] for name in self.paths if name.startswith("docs/decisions/")}

    def read(self, name: str, path: pathlib.Path) -> None:
        text = path.read_text(encoding="utf-8", errors="replace")
        self.text[name] = text
        if path.suffix == ".md":
            return
        self.comments[name], code = split(path, text)
        self.words |= set(re.findall(r"\w+", code))

    def has_path(self, named: str, beside: pathlib.PurePath) -> bool:
        named = named.removeprefix("./")
        if "*" in named:
            return any(fnmatch.fnmatch(path, named) or fnmatch.fnmatch(path, f"*/{named}") for path in self.paths)
        if "/" not in named:
            return named in self.names
        inside = (beside.parent / named).as_posix()
        return named in self.paths or inside in self.paths or any(path.endswith(f"/{named}") for path in self.paths)


class Elsewhere:
    """Names of users' files and of other projects: one a line, then why after two spaces or more. `*` stands for anything."""

    def __init__(self, path: pathlib.Path) -> None:
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self.names = [line.split()[0] for line in lines if line.strip() and not line.startswith("#")]
        self.used: set[str] = set()

    def has(self, name: str) -> bool:
        for known in self.names:
            if fnmatch.fnmatchcase(name, known):
                self.used.add(known)
                return True
        return False


class Check:
    def __init__(self, root: pathlib.Path) -> None:
        self.tree = Tree(root)
        self.elsewhere = Elsewhere(root / "tools" / "named_elsewhere.txt")
        self.refused = 0

    def refuse(self, name: str, position: int, what: str) -> None:
        self.refused += 1
        line = self.tree.text[name].count("\n", 0, position) + 1
        print(f"{name}:{line}: {what}", file=sys.stderr)

    def links(self, name: str) -> None:
        text = self.tree.text[name]
        plain = FENCE.sub(lambda block: re.sub(r"[^\n]", " ", block[0]), text)
        for link in LINK.finditer(plain):
            target, _, anchor = (link[1] or link[2]).partition("#")
            if "://" in target or target.startswith("mailto:"):
                continue
            path = (self.tree.root / name).parent / target if target else self.tree.root / name
            if not path.exists():
                self.refuse(name, link.start(), f"the link leads to {target}, which is not there")
            elif anchor and path.suffix == ".md" and anchor not in anchors(path.read_text(encoding="utf-8")):
                self.refuse(name, link.start(), f"{target or name} has no heading #{anchor}")

    def named(self, name: str, position: int, said: str, in_comment: bool) -> None:
        tree, beside = self.tree, pathlib.PurePath(name)
        for found in PATH.finditer(said):
            if not tree.has_path(found[1], beside) and not self.elsewhere.has(found[1]):
                self.refuse(name, position + found.start(), f"there is no file {found[1]}")
        for found in QUALIFIED.finditer(said):
            last = found[1].split("::")[-1].lstrip("~")
            if last not in tree.words and not self.elsewhere.has(found[1]):
                self.refuse(name, position + found.start(), f"there is no {found[1]}")
        for found in TEST.finditer(said):
            for part in (found[1], found[2]):
                known = any(word.startswith(part[:-1]) for word in tree.words) if part.endswith("*") else part in tree.words
                if not known and not self.elsewhere.has(found[0]):
                    self.refuse(name, position + found.start(), f"there is no test {found[0]}")
                    break
        for pattern, shape in ((CAMEL, "{}"), (CALL, "{}()")):
            for found in pattern.finditer(said):
                if found[1] not in tree.words and not self.elsewhere.has(found[1]):
                    self.refuse(name, position + found.start(), f"there is no {shape.format(found[1])}")

    def decisions(self, name: str, position: int, said: str) -> None:
        for found in DECISION.finditer(said):
            if found[1] not in self.tree.decisions:
                self.refuse(name, position + found.start(), f"there is no decision {found[1]}")

    def all(self) -> bool:
        for name, text in self.tree.text.items():
            # A decision describes its day: what it names may be gone since. Its links are kept.
            history = name.startswith("docs/decisions/")
            if name.endswith(".md"):
                self.links(name)
                self.decisions(name, 0, text)
                for code in [] if history else INLINE.finditer(FENCE.sub(lambda block: re.sub(r"[^\n]", " ", block[0]), text)):
                    self.named(name, code.start(2), code[2], in_comment=False)
            for position, comment in self.tree.comments.get(name, ()):
                self.decisions(name, position, comment)
                self.named(name, position, comment, in_comment=True)
        for known in self.elsewhere.names:
            if known not in self.elsewhere.used:
                self.refused += 1
                print(f"tools/named_elsewhere.txt: nothing names {known} any more: take it out", file=sys.stderr)
        return self.refused == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    return 0 if Check(parser.parse_args().root.resolve()).all() else 1


if __name__ == "__main__":
    sys.exit(main())
